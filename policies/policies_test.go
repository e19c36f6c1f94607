package policies_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

const metadata = `# METADATA
# title: a rule
# description: Why it is there.
# custom:
#   remedy: Do it otherwise.
`

// files makes a file system of name, text, name, text …
func files(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

func policy(name, rules string) string {
	return metadata + "package signalbox." + name + "\n\n" + rules
}

func TestLoadHoldsPoliciesToTheirForm(t *testing.T) {
	good := `deny contains {"path": "spec", "msg": "no"} if input.job.pods > 8`
	cases := map[string]struct {
		files fstest.MapFS
		want  string // in the error; empty: it loads
	}{
		"a good one":             {files("a.rego", policy("a", good)), ""},
		"nothing at all":         {files(), ""},
		"tests are left out":     {files("a.rego", policy("a", good), "a_test.rego", "package other"), ""},
		"fixtures are left out":  {files("a.rego", policy("a", good), "testdata/a/allow-x.yaml", "- a list"), ""},
		"no METADATA":            {files("a.rego", "package signalbox.a\n"+good), "load policy a.rego: no # METADATA above the package"},
		"no remedy":              {files("a.rego", strings.Replace(policy("a", good), "#   remedy: Do it otherwise.", "#   other: x", 1)), "load policy a.rego: METADATA without custom.remedy"},
		"another package":        {files("a.rego", metadata+"package kubernetes.admission\n"+good), "load policy a.rego: the package is kubernetes.admission; want signalbox.<name>"},
		"a capital in the name":  {files("a.rego", metadata+"package signalbox.Mine\n"+good), "want signalbox.<name> with a name of lower-case words"},
		"only allow":             {files("a.rego", policy("a", "allow if input.job.pods < 8")), "it has neither deny nor warn, so it decides nothing (it has only allow)"},
		"deny without contains":  {files("a.rego", policy("a", "deny if input.job.pods > 8")), "deny is not a set, so it would decide nothing; write: deny contains"},
		"deny with a default":    {files("a.rego", policy("a", "default deny := false\n"+"deny if input.job.pods > 8")), "deny is not a set"},
		"deny of texts":          {files("a.rego", policy("a", `deny contains "no" if input.job.pods > 8`)), `the element is "no"; want {"path": …, "msg": …}`},
		"deny without a path":    {files("a.rego", policy("a", `deny contains {"msg": "no"} if input.job.pods > 8`)), `has no "path"`},
		"a misspelt field":       {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if input.job.podz > 8`)), "undefined ref: input.job.podz"},
		"an unknown mode":        {files("a.rego", strings.Replace(policy("a", good), "remedy: Do", "mode: allways\n#   remedy: Do", 1)), "METADATA custom.mode is allways; want always or nothing"},
		"the network":            {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if http.send({"url": "http://x", "method": "get"}).status_code == 200`)), "undefined function http.send"},
		"the environment":        {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if opa.runtime().env.HOME`)), "undefined function opa.runtime"},
		"the clock":              {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if time.now_ns() > 0`)), "undefined function time.now_ns"},
		"name resolution":        {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if net.lookup_ip_addr("x")`)), "undefined function net.lookup_ip_addr"},
		"no Rego":                {files("a.rego", policy("a", "deny contains")), "load policy a.rego: a.rego:8:"},
		"two of one name":        {files("a.rego", policy("a", good), "b.rego", policy("a", good)), "load policy b.rego: package signalbox.a is in a.rego already"},
		"every broken file":      {files("a.rego", "package x", "b.rego", "package y"), "load policy b.rego"},
		"data in two files":      {files("a.rego", policy("a", good), "x.yaml", "signalbox: {limit: 1}", "y.json", `{"signalbox": {"most": 2}}`), ""},
		"data that contradicts":  {files("x.yaml", "signalbox: {limit: 1}", "y.json", `{"signalbox": {"limit": 2}}`), "load data y.json: data.signalbox.limit is in x.yaml already, with another value"},
		"data over a policy":     {files("a.rego", policy("a", good), "x.yaml", "signalbox: {a: 1}"), "data.signalbox.a is the place of the policy in a.rego"},
		"data that is no object": {files("x.yaml", "- 1"), "load data x.yaml: want an object at the top"},
		"a key twice":            {files("x.yaml", "a: 1\na: 2"), "load data x.yaml: "},
		"a shared library":       {files("l.rego", "package signalbox.lib.x\nbig if input.job.pods > 8", "a.rego", policy("a", "import data.signalbox.lib.x\ndeny contains {\"path\": \"spec\", \"msg\": \"no\"} if x.big")), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := policies.Load(tc.files)
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("Load: %v", err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("Load: have %v\nwant %s", err, tc.want)
			}
		})
	}
}

func input(mode string) preflight.Input {
	return preflight.Input{
		Job: preflight.JobView{
			Kind: "PyTorchJob", APIVersion: "kubeflow.org/v1", Namespace: "ml", Name: "train", Pods: 9, GPUs: 72,
			Labels: map[string]string{"team": "x"},
			Roles:  []preflight.RoleView{{Name: "Worker", Path: "spec.w", Max: 9, GPUsPerPod: 8, Requests: map[string]int64{"cpu": 8000}, Images: []string{"a"}}},
		},
		Findings: []finding.Finding{{Check: "shm-missing", Severity: finding.Warning, Path: "spec.w", Message: "m", Facts: []finding.Fact{{Name: "gpus", Value: int64(8)}}}},
		Request:  preflight.RequestFacts{Mode: mode, Groups: []string{"g"}, NamespaceLabels: map[string]string{"tier": "x"}},
	}
}

func load(t testing.TB, fsys ...fstest.MapFS) *policies.OPA {
	t.Helper()
	o := &policies.OPA{}
	for _, f := range fsys {
		if err := o.Swap(f); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func decide(t testing.TB, o *policies.OPA, in preflight.Input) preflight.Ruled {
	t.Helper()
	got, err := o.Decide(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

const big = `deny contains {"path": role.path, "msg": msg} if {
	some role in input.job.roles
	role.max > 8
	msg := sprintf("%s has %d pods; 8 are allowed", [role.name, role.max])
}
`

func TestDecide(t *testing.T) {
	denied := preflight.Ruling{Policy: "big-job", Effect: preflight.Deny, Message: "Worker has 9 pods; 8 are allowed", Path: "spec.w", Remedy: "Do it otherwise."}
	warned := denied
	warned.Effect = preflight.Warn
	cases := map[string]struct {
		rules string
		mode  string
		want  preflight.Ruled
	}{
		"an enforcing namespace denies":  {policy("big_job", big), "enforce", preflight.Ruled{Rulings: []preflight.Ruling{denied}}},
		"others only warn":               {policy("big_job", big), "warn", preflight.Ruled{Rulings: []preflight.Ruling{warned}}},
		"a switched-off one is left out": {policy("big_job", big), "off", preflight.Ruled{}},
		"a policy may always deny":       {strings.Replace(policy("big_job", big), "remedy:", "mode: always\n#   remedy:", 1), "warn", preflight.Ruled{Rulings: []preflight.Ruling{denied}}},
		"warn never denies":              {policy("big_job", strings.Replace(big, "deny", "warn", 1)), "enforce", preflight.Ruled{Rulings: []preflight.Ruling{warned}}},
		"a policy rests on findings": {
			policy("shm", `deny contains {"path": f.path, "msg": sprintf("%d", [f.facts[0].value])} if { some f in input.findings; f.check == "shm-missing"; f.severity == "warning" }`),
			"enforce",
			preflight.Ruled{Rulings: []preflight.Ruling{{Policy: "shm", Effect: preflight.Deny, Message: "8", Path: "spec.w", Remedy: "Do it otherwise."}}},
		},
		"an element without a text": {
			policy("odd", `deny contains {"path": "spec", "msg": 3}`), "enforce",
			preflight.Ruled{Undecided: []string{"odd: deny: holds an element whose msg is 3; want a text"}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := decide(t, load(t, files("p.rego", tc.rules)), input(tc.mode))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Decide (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAFailingPolicyLeavesTheOthersTheirSay(t *testing.T) {
	o := load(t, files(
		"a.rego", policy("a_broken", `deny contains {"path": "spec", "msg": "x"} if to_number(input.job.name) > 3`),
		"b.rego", policy("big_job", big),
	))
	got := decide(t, o, input("enforce"))
	if len(got.Rulings) != 1 || got.Rulings[0].Policy != "big-job" {
		t.Errorf("rulings: %v; want those of big-job", got.Rulings)
	}
	if len(got.Undecided) != 1 || !strings.HasPrefix(got.Undecided[0], "a-broken: ") || !strings.Contains(got.Undecided[0], "to_number") {
		t.Errorf("undecided: %q; want a-broken and why", got.Undecided)
	}
}

func TestAPassedDeadlineIsUndecided(t *testing.T) {
	endless := policy("endless", `deny contains {"path": "spec", "msg": "x"} if {
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	a * b == -1
}`)
	o := load(t, files("a.rego", endless, "b.rego", policy("later", `deny contains {"path": "spec", "msg": "x"}`)))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	got, err := o.Decide(ctx, input("enforce"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Rulings) != 0 || len(got.Undecided) != 2 {
		t.Fatalf("%+v; want two undecided", got)
	}
	if want := "later: deadline passed before it was asked"; got.Undecided[1] != want {
		t.Errorf("undecided: %q; want %q", got.Undecided[1], want)
	}
}

func TestSwapIsAllOrNothing(t *testing.T) {
	o := load(t, files("a.rego", policy("big_job", big)))
	before := o.Revision()
	err := o.Swap(files("a.rego", policy("big_job", big), "b.rego", "package x"))
	if err == nil {
		t.Fatal("a broken policy was taken")
	}
	if o.Revision() != before || len(decide(t, o, input("enforce")).Rulings) != 1 {
		t.Errorf("the last good set is gone: revision %s, want %s", o.Revision(), before)
	}
	if err := o.Swap(files()); err != nil {
		t.Fatal(err)
	}
	if o.Revision() != "" || len(decide(t, o, input("enforce")).Rulings) != 0 {
		t.Error("an empty set still decides")
	}
}

func TestSwapWhileDeciding(t *testing.T) {
	one, two := files("a.rego", policy("big_job", big)), files("a.rego", policy("big_job", big), "b.rego", policy("other", big))
	o := load(t, one)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			if err := o.Swap([]fstest.MapFS{one, two}[i%2]); err != nil {
				t.Error(err)
			}
		}
	}()
	for range 200 {
		if n := len(decide(t, o, input("enforce")).Rulings); n != 1 && n != 2 {
			t.Errorf("%d rulings; want those of one whole set", n)
		}
	}
	<-done
}

func TestRevisionFollowsTheTexts(t *testing.T) {
	a := load(t, files("a.rego", policy("big_job", big))).Revision()
	if b := load(t, files("a.rego", policy("big_job", big))).Revision(); a != b {
		t.Errorf("one text, two revisions: %s, %s", a, b)
	}
	if b := load(t, files("a.rego", policy("big_job", big), "d.yaml", "x: 1")).Revision(); a == b {
		t.Error("data changes nothing of the revision")
	}
}

func TestLibraryIsSilentWithoutData(t *testing.T) {
	o, err := policies.Load(policies.Library())
	if err != nil {
		t.Fatal(err)
	}
	in := input("enforce")
	in.Job.Runtime = &preflight.RuntimeView{Kind: "ClusterTrainingRuntime", Name: "x", Path: "spec.runtimeRef.name"}
	if got := decide(t, o, in); len(got.Rulings)+len(got.Undecided) > 0 {
		t.Errorf("the library speaks unasked: %+v", got)
	}
	for _, d := range o.Docs() {
		if d.Title == "" || d.Description == "" || d.Remedy == "" || !d.Denies && !d.Warns {
			t.Errorf("%s is not described: %+v", d.Name, d)
		}
	}
}

// FuzzPolicyInput: whatever the job is called and asks for, the library decides without a
// panic, and says nothing but texts.
func FuzzPolicyInput(f *testing.F) {
	o, err := policies.Load(policies.Library(), files("data.yaml", `
signalbox:
  runtimes: {default: [a]}
  whole_node: {namespaces: ["*"]}
  registries: {default: [registry.example.com]}
  gpu_limit: {default: 8}
`))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("ml", "train", "registry.example.com/a:1", "torch", int64(8), 4)
	f.Add("", "", "", "", int64(0), 0)
	f.Add("\x00", "%s", "a/b/c@", "../..", int64(-1), -5)
	f.Fuzz(func(t *testing.T, namespace, name, image, runtime string, gpus int64, pods int) {
		in := input("enforce")
		in.Job.Namespace, in.Job.Name, in.Job.GPUs, in.Job.Pods = namespace, name, gpus, pods
		in.Job.Runtime = &preflight.RuntimeView{Kind: "ClusterTrainingRuntime", Name: runtime, Path: "spec.runtimeRef.name"}
		in.Job.Roles[0].Images, in.Job.Roles[0].GPUsPerPod = []string{image}, gpus
		in.Cluster = preflight.ClusterFacts{Known: true, GPUsPerNode: 8}
		got := decide(t, o, in)
		if len(got.Undecided) > 0 {
			t.Errorf("undecided: %q", got.Undecided)
		}
		if diff := cmp.Diff(got, decide(t, o, in)); diff != "" {
			t.Errorf("two answers to one question:\n%s", diff)
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	o, err := policies.Load(policies.Library(), files("data.yaml", "signalbox: {gpu_limit: {default: 8}, registries: {default: [x]}, whole_node: {namespaces: [\"*\"]}}"))
	if err != nil {
		b.Fatal(err)
	}
	in := input("enforce")
	for b.Loop() {
		if _, err := o.Decide(b.Context(), in); err != nil {
			b.Fatal(err)
		}
	}
}
