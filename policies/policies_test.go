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
	"github.com/signalbox-dev/signalbox/preflight/job"
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
		"a good one":                   {files("a.rego", policy("a", good)), ""},
		"nothing at all":               {files(), ""},
		"tests are left out":           {files("a.rego", policy("a", good), "a_test.rego", "package other"), ""},
		"fixtures are left out":        {files("a.rego", policy("a", good), "testdata/a/allow-x.yaml", "- a list"), ""},
		"no METADATA":                  {files("a.rego", "package signalbox.a\n"+good), "load policy a.rego: line 1: no # METADATA above the package"},
		"no remedy":                    {files("a.rego", strings.Replace(policy("a", good), "#   remedy: Do it otherwise.", "#   other: x", 1)), "load policy a.rego: line 1: METADATA without custom.remedy; want title, description and custom.remedy"},
		"another package":              {files("a.rego", metadata+"package kubernetes.admission\n"+good), "load policy a.rego: the package is kubernetes.admission; want signalbox.<name>"},
		"a capital in the name":        {files("a.rego", metadata+"package signalbox.Mine\n"+good), "want signalbox.<name> with a name of lower-case words"},
		"only allow":                   {files("a.rego", policy("a", "allow if input.job.pods < 8")), "it has neither deny nor warn, so it decides nothing (it has only allow)"},
		"deny without contains":        {files("a.rego", policy("a", "deny if input.job.pods > 8")), "deny is not a set, so it would decide nothing; write: deny contains"},
		"deny with a default":          {files("a.rego", policy("a", "default deny := false\n"+"deny if input.job.pods > 8")), "deny is not a set"},
		"deny of texts":                {files("a.rego", policy("a", `deny contains "no" if input.job.pods > 8`)), ""},
		"deny of numbers":              {files("a.rego", policy("a", `deny contains 3 if input.job.pods > 8`)), `the element is 3; want {"path": …, "msg": …}`},
		"exempt alone":                 {files("a.rego", policy("a", `exempt contains "why" if input.job.pods > 8`)), "it has neither deny nor warn, so it decides nothing (it has only exempt)"},
		"exempt without a reason":      {files("a.rego", policy("a", good+"\nexempt contains {\"path\": \"spec\"}")), `exempt: the element {"path": "spec"} has no "msg"`},
		"a fraction in settings":       {files("x.yaml", "config: {a: [{b: 1.5}]}"), "load data x.yaml: data.config.a[0].b is 1.5; want a whole number or a text"},
		"settings in both places":      {files("x.yaml", "config: {a: 1}\nsignalbox: {a: 2}"), "load data x.yaml: data.config.a is in data.signalbox already, with another value"},
		"the same in two files":        {files("x.yaml", "config: {a: 1}", "y.yaml", "signalbox: {a: 2}"), "load data y.yaml: data.config.a is in x.yaml already, with another value"},
		"settings named like a policy": {files("a.rego", policy("a", good), "x.yaml", "config: {a: 1}"), ""},
		"deny without a path":          {files("a.rego", policy("a", `deny contains {"msg": "no"} if input.job.pods > 8`)), `has no "path"`},
		"a misspelt field":             {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if input.job.podz > 8`)), "undefined ref: input.job.podz"},
		"an unknown mode":              {files("a.rego", strings.Replace(policy("a", good), "remedy: Do", "mode: allways\n#   remedy: Do", 1)), "METADATA custom.mode is allways; want always"},
		"an unknown failure":           {files("a.rego", strings.Replace(policy("a", good), "remedy: Do", "failure: shut\n#   remedy: Do", 1)), "METADATA custom.failure is shut; want open or closed"},
		"a misspelt failure":           {files("a.rego", strings.Replace(policy("a", good), "remedy: Do", "failur: closed\n#   remedy: Do", 1)), `METADATA custom.failur is none of the fields of a policy; did you mean "failure"?`},
		"a misspelt mode":              {files("a.rego", strings.Replace(policy("a", good), "remedy: Do", "modes: always\n#   remedy: Do", 1)), `METADATA custom.modes is none of the fields of a policy; did you mean "mode"?`},
		"a field of the author's":      {files("a.rego", strings.Replace(policy("a", good), "remedy: Do", "code: A-17\n#   model: open\n#   remedy: Do", 1)), ""},
		"failure beside custom":        {files("a.rego", strings.Replace(policy("a", good), "# custom", "# failure: closed\n# custom", 1)), "line 1: METADATA failure stands beside custom; want custom: {failure: …}"},
		"failure above a rule":         {files("a.rego", policy("a", "# METADATA\n# custom: {failure: closed}\n"+good)), "line 8: METADATA custom.failure is that of a rule; a policy has one, above its package"},
		"failure of package main":      {files("a.rego", "# METADATA\n# custom: {failure: shut}\npackage main\n\ndeny contains \"a\" if input.kind == \"b\""), "METADATA custom.failure is shut; want open or closed"},
		"the network":                  {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if http.send({"url": "http://x", "method": "get"}).status_code == 200`)), "undefined function http.send"},
		"the environment":              {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if opa.runtime().env.HOME`)), "undefined function opa.runtime"},
		"the clock":                    {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if time.now_ns() > 0`)), "undefined function time.now_ns"},
		"name resolution":              {files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if net.lookup_ip_addr("x")`)), "undefined function net.lookup_ip_addr"},
		"no Rego":                      {files("a.rego", policy("a", "deny contains")), "load policy a.rego:8:"},
		"two of one name":              {files("a.rego", policy("a", good), "b.rego", policy("a", good)), "load policy b.rego: package signalbox.a is in a.rego already"},
		"every broken file":            {files("a.rego", "package x", "b.rego", "package y"), "load policy b.rego"},
		"data in two files":            {files("a.rego", policy("a", good), "x.yaml", "signalbox: {limit: 1}", "y.json", `{"signalbox": {"most": 2}}`), ""},
		"data that contradicts":        {files("x.yaml", "signalbox: {limit: 1}", "y.json", `{"signalbox": {"limit": 2}}`), "load data y.json: data.signalbox.limit is in x.yaml already, with another value"},
		"data over a policy":           {files("a.rego", policy("a", good), "x.yaml", "signalbox: {a: 1}"), "data.signalbox.a is the place of the policy in a.rego; write settings below config"},
		"data that is no object":       {files("x.yaml", "- 1"), "load data x.yaml: want an object at the top"},
		"a key twice":                  {files("x.yaml", "a: 1\na: 2"), "load data x.yaml: "},
		"a shared library":             {files("l.rego", "package signalbox.lib.x\nbig if input.job.pods > 8", "a.rego", policy("a", "import data.signalbox.lib.x\ndeny contains {\"path\": \"spec\", \"msg\": \"no\"} if x.big")), ""},
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

// TestLoadNamesEveryFaultOfAFile holds one file with faults of all sorts to saying each of them, with its name.
func TestLoadNamesEveryFaultOfAFile(t *testing.T) {
	_, err := policies.Load(files("a.rego", `# METADATA
# failure: closed
# custom:
#   mode: allways
#   failur: closed
package signalbox.a

# METADATA
# custom: {failure: closed}
deny if input.job.pods > 8
`, "b.rego", "package signalbox.b\n\nallow if true\n"))
	if err == nil {
		t.Fatal("Load: no error")
	}
	want := `load policy a.rego: line 10: deny is not a set, so it would decide nothing; write: deny contains {"path": …, "msg": …} if { … }
load policy a.rego: line 1: METADATA failure stands beside custom; want custom: {failure: …}
load policy a.rego: line 1: METADATA custom.failur is none of the fields of a policy; did you mean "failure"?
load policy a.rego: line 1: METADATA custom.mode is allways; want always
load policy a.rego: line 8: METADATA custom.failure is that of a rule; a policy has one, above its package
load policy a.rego: line 1: METADATA without title, description, custom.remedy; want title, description and custom.remedy
load policy b.rego: it has neither deny nor warn, so it decides nothing (it has only allow); write: deny contains {"path": …, "msg": …} if { … }
load policy b.rego: line 1: no # METADATA above the package; want title, description and custom.remedy`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("Load (-want +have):\n%s", diff)
	}
}

func input(mode string) preflight.Input {
	return preflight.Input{
		Job: preflight.JobView{
			Kind: "PyTorchJob", APIVersion: "kubeflow.org/v1", Namespace: "ml", Name: "train", Pods: 9, GPUs: 72,
			Labels: map[string]string{"team": "x"},
			Roles:  []preflight.RoleView{{Name: "Worker", Path: "spec.w", Max: 9, GPUsPerPod: 8, Requests: job.Resources{"cpu": 8000}, Images: []string{"a"}}},
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
	return decideIn(t, t.Context(), o, in)
}

// decideIn asks all rules of both stages.
func decideIn(t testing.TB, ctx context.Context, o *policies.OPA, in preflight.Input, lacks ...preflight.Lack) (out preflight.Ruled) {
	t.Helper()
	for _, stage := range []preflight.Stage{preflight.OnTheJob, preflight.OnTheReview} {
		got, err := o.InForce().Decide(ctx, in, preflight.Question{Stage: stage, Lacks: lacks})
		if err != nil {
			t.Fatal(err)
		}
		out.Rulings, out.Undecided = append(out.Rulings, got.Rulings...), append(out.Undecided, got.Undecided...)
		out.Exempted = append(out.Exempted, got.Exempted...)
	}
	return out
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

const endless = `deny contains {"path": "spec", "msg": "x"} if {
	many := numbers.range(1, 100000)
	some a in many
	some b in many
	a * b == input.job.gpus * -1000000
}`

// A rule that does not end costs the others nothing, wherever it stands in the alphabet.
func TestASlowPolicyDoesNotStarveTheOthers(t *testing.T) {
	o := load(t, files("a.rego", policy("endless", endless), "b.rego", policy("later", `deny contains {"path": "spec", "msg": "x"} if input.job.gpus > 8`)))
	ctx, cancel := context.WithTimeout(t.Context(), 600*time.Millisecond)
	defer cancel()
	got := decideIn(t, ctx, o, input("enforce"))
	want := preflight.Ruled{
		Rulings:   []preflight.Ruling{{Policy: "later", Effect: preflight.Deny, Message: "x", Path: "spec", Remedy: "Do it otherwise."}},
		Undecided: []string{"endless: it did not end in the time that policies have"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Decide (-want +got):\n%s", diff)
	}
}

func closed(rules string) string {
	return strings.Replace(policy("limit", rules), "remedy:", "failure: closed\n#   remedy:", 1)
}

// What a policy that is closed on failure could not say is a denial where its denials hold, and
// only there.
func TestClosedOnFailure(t *testing.T) {
	fails := `deny contains {"path": "spec", "msg": "x"} if to_number(input.job.name) > 3`
	silent := `deny contains {"path": "spec", "msg": "x"} if input.job.gpus > data.config.nothing.limit`
	sound := `deny contains {"path": "spec", "msg": "x"} if input.job.gpus > 100`
	ruling := func(why string) preflight.Ruling {
		return preflight.Ruling{
			Policy: "limit", Effect: preflight.Deny, Message: "could not be evaluated, and is closed on failure: " + why,
			Remedy: "Submit again; if it stays, tell whoever keeps the policy.",
		}
	}
	unread := preflight.Lack{Part: "job", Why: "spec.a could not be read"}
	blind := "it reads job, which is not whole: spec.a could not be read"
	cases := map[string]struct {
		rules, mode string
		lacks       []preflight.Lack
		denied      string // why; empty: it is not
	}{
		"it is asked and has nothing to say":    {closed(sound), "enforce", nil, ""},
		"it fails where it only warns":          {closed(fails), "warn", nil, ""},
		"it reads what was not read":            {closed(sound), "enforce", []preflight.Lack{unread}, blind},
		"the same where failures are open":      {policy("limit", sound), "enforce", []preflight.Lack{unread}, ""},
		"what was not read does not concern it": {closed(sound), "enforce", []preflight.Lack{{Part: "cluster", Why: "no"}}, ""},
		"the data does not configure it":        {closed(silent), "enforce", []preflight.Lack{unread}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := decideIn(t, t.Context(), load(t, files("a.rego", tc.rules)), input(tc.mode), tc.lacks...)
			var want []preflight.Ruling
			if tc.denied != "" {
				want = []preflight.Ruling{ruling(tc.denied)}
			}
			if diff := cmp.Diff(want, got.Rulings); diff != "" {
				t.Errorf("rulings (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("it fails", func(t *testing.T) {
		got := decide(t, load(t, files("a.rego", closed(fails))), input("enforce"))
		if len(got.Rulings) != 1 || !strings.Contains(got.Rulings[0].Message, "closed on failure: a.rego:9: eval_builtin_error") {
			t.Errorf("%+v; want one denial that says why", got.Rulings)
		}
	})
	t.Run("nobody could ask it", func(t *testing.T) {
		o := load(t, files("a.rego", closed(sound), "b.rego", policy("open", sound)))
		got := o.InForce().Unasked("enforce", preflight.OnTheJob, "the job could not be read")
		want := preflight.Ruled{
			Rulings:   []preflight.Ruling{ruling("the job could not be read")},
			Undecided: []string{"limit: the job could not be read", "open: the job could not be read"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Unasked (-want +got):\n%s", diff)
		}
		if other := o.InForce().Unasked("enforce", preflight.OnTheReview, "x"); len(other.Undecided) > 0 {
			t.Errorf("in the other stage: %q", other.Undecided)
		}
	})
}

// What a rule reads decides when it is asked: also through what it calls, and where it cannot be
// told, last.
func TestStages(t *testing.T) {
	deny := func(condition string) string { return `deny contains {"path": "spec", "msg": "x"} if ` + condition }
	cases := map[string]struct {
		rules string
		early bool
	}{
		"the job":                       {deny(`input.job.gpus > 8`), true},
		"another fact of the cluster":   {deny(`input.cluster.gpus_per_node == 8`), true},
		"the fit":                       {deny(`input.cluster.fit != "fits"`), false},
		"findings":                      {deny(`count(input.findings) > 0`), false},
		"the fit by a call":             {deny("bad\n") + "bad if input.cluster.fit == \"full\"", false},
		"the cluster as a value":        {deny("{\n\tc := input.cluster\n\tc.nodes > 1\n}"), false},
		"a field that is not written":   {deny("{\n\tsome field in [\"fit\"]\n\tinput.cluster[field] == \"full\"\n}"), false},
		"the input as a value":          {deny(`object.get(input, ["job", "gpus"], 0) > 8`), false},
		"a field of the job by another": {deny(`input.job.labels[input.request.user] == "x"`), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := load(t, files("a.rego", policy("a", tc.rules)))
			early := o.InForce().Unasked("enforce", preflight.OnTheJob, "x").Undecided
			late := o.InForce().Unasked("enforce", preflight.OnTheReview, "x").Undecided
			if len(early)+len(late) != 1 || len(early) == 1 != tc.early {
				t.Errorf("before the checks %q, after them %q; want before: %v", early, late, tc.early)
			}
		})
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
	var lacks []preflight.Lack // what a policy without data does not see does not concern it
	for _, part := range []string{"job", "cluster", "cluster.fit", "findings", "request.date", "object"} {
		lacks = append(lacks, preflight.Lack{Part: part, Why: "no"})
	}
	if got := decideIn(t, t.Context(), o, in, lacks...); len(got.Rulings)+len(got.Undecided) > 0 {
		t.Errorf("the library speaks unasked: %+v", got)
	}
	for _, d := range o.Docs() {
		if d.Title == "" || d.Description == "" || d.Remedy == "" || !d.Denies && !d.Warns && !d.Mutes {
			t.Errorf("%s is not described: %+v", d.Name, d)
		}
	}
}

// FuzzPolicyInput: whatever the job is called and asks for, the library decides without a
// panic, and says nothing but texts.
func FuzzPolicyInput(f *testing.F) {
	o, err := policies.Load(policies.Library(), files("data.yaml", `
config:
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
		in.Cluster = preflight.ClusterFacts{Known: true, GPUsPerNode: new(int64(8))}
		got := decide(t, o, in)
		if len(got.Undecided) > 0 {
			t.Errorf("undecided: %q", got.Undecided)
		}
		if diff := cmp.Diff(got, decide(t, o, in)); diff != "" {
			t.Errorf("two answers to one question:\n%s", diff)
		}
	})
}

// FuzzPolicyText: whatever a policy and its data are, loading them ends in an error or in a set that
// answers: no panic, the same twice, and no message or path of any other form than a text.
func FuzzPolicyText(f *testing.F) {
	f.Add(`deny contains "no" if input.job.gpus > 8`, "config: {a: 1}")
	f.Add("deny contains {\"path\": p, \"msg\": m} if { some r in input.job.roles; p := r.path; m := r.name }", "")
	f.Add("warn contains sprintf(\"%v\", [input]) if data.config.a > 1\n\nexempt contains \"x\" if input.request.user == \"\"", "config: {a: 2}")
	f.Add("deny contains {\"msg\": 3, \"path\": []}", "a: [")
	f.Add("deny contains x if { x := numbers.range(1, 100000)[_] }", "{}")
	f.Add("deny[msg] { msg := \"v0\" }", "config: {b: 1.5}")
	f.Add("a := a\n\ndeny contains a", "config: null")
	f.Fuzz(func(t *testing.T, rules, data string) {
		o := &policies.OPA{}
		if err := o.Swap(files("a.rego", policy("a", rules), "data.yaml", data)); err != nil {
			_ = policies.Places(err)
			return
		}
		ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer stop()
		in := input("enforce")
		for _, stage := range []preflight.Stage{preflight.OnTheJob, preflight.OnTheReview} {
			got, err := o.InForce().Decide(ctx, in, preflight.Question{Stage: stage})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range got.Rulings {
				if r.Policy != "a" || strings.TrimSpace(r.Message) == "" || len([]rune(r.Message)) > 1000 {
					t.Errorf("%+v", r)
				}
			}
			again, err := o.InForce().Decide(t.Context(), in, preflight.Question{Stage: stage})
			if err == nil && len(got.Undecided)+len(again.Undecided) == 0 {
				if diff := cmp.Diff(got, again); diff != "" {
					t.Errorf("two answers to one question:\n%s", diff)
				}
			}
		}
	})
}

func BenchmarkDecide(b *testing.B) {
	o, err := policies.Load(policies.Library(), files("data.yaml", "config: {gpu_limit: {default: 8}, registries: {default: [x]}, whole_node: {namespaces: [\"*\"]}}"))
	if err != nil {
		b.Fatal(err)
	}
	in := input("enforce")
	for b.Loop() {
		if _, err := o.InForce().Decide(b.Context(), in, preflight.Question{}); err != nil {
			b.Fatal(err)
		}
	}
}
