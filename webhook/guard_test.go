package webhook

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

const twoPolicies = `# METADATA
# title: a job asks for at most 4 pods
# description: For the tests.
# custom: {remedy: Ask for fewer.}
package signalbox.most_pods

deny contains {"path": "spec", "msg": sprintf("asks for %d pods; 4 are allowed", [input.job.pods])} if input.job.pods > 4
`

const onFindings = `# METADATA
# title: what a check finds is forbidden
# description: For the tests.
# custom: {remedy: Mend it.FAILURE}
package signalbox.no_findings

deny contains {"path": f.path, "msg": f.message} if some f in input.findings
`

// guarded is a handler over real policies, in a namespace that enforces, whose one check does as it
// is told.
func guarded(t *testing.T, w world, run func(*check.Pass), texts ...string) *Handler {
	t.Helper()
	fsys := fstest.MapFS{}
	for i, text := range texts {
		fsys[string(rune('a'+i))+".rego"] = &fstest.MapFile{Data: []byte(text)}
	}
	engine, err := policies.Load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	set, err := check.NewSet(&check.Check{
		Name: "slow", Title: "it takes its time", Doc: "It waits.", Remedy: "Do nothing.", Since: "0.1", Severity: finding.Note, Run: run,
	})
	if err != nil {
		t.Fatal(err)
	}
	if w.labels == nil {
		w.labels = map[string]map[string]string{"ml": {"signalbox.dev/mode": "enforce"}}
	}
	return over(Stages(&preflight.Reviewer{Checks: set, Policies: engine}), w)
}

func pods(n string) string { return strings.Replace(train, `"replicas":1`, `"replicas":`+n, 1) }

// Whoever makes the checks slow does not get around the policies: those that do not read the checks
// have spoken before, and the others are named.
func TestSlowChecksDoNotSilencePolicies(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	wait := func(*check.Pass) { <-stuck }
	const late = "the review took longer than 50ms"
	cases := map[string]struct {
		object, findings string
		want             spoken
	}{
		"a policy that reads the job denies": {
			pods("6"), onFindings,
			spoken{
				Message:  "[most-pods] spec: asks for 6 pods; 4 are allowed. Ask for fewer.",
				Warnings: []string{"[signalbox] not checked: " + late + "; policy no-findings: " + late},
				Audit:    map[string]string{"decision": "denied", "findings": "most-pods", "not-checked": late + "; policy no-findings: " + late},
			},
		},
		"one that reads findings is named as undecided": {
			pods("2"), onFindings,
			spoken{
				Allowed:  true,
				Warnings: []string{"[signalbox] not checked: " + late + "; policy no-findings: " + late},
				Audit:    map[string]string{"decision": "allowed", "not-checked": late + "; policy no-findings: " + late},
			},
		},
		"and denies where it is closed on failure": {
			pods("2"), strings.Replace(onFindings, "FAILURE", ", failure: closed", 1),
			spoken{
				Message:  "[no-findings] could not be evaluated, and is closed on failure: " + late + ". Submit again; if it stays, tell whoever keeps the policy.",
				Warnings: []string{"[signalbox] not checked: " + late + "; policy no-findings: " + late},
				Audit:    map[string]string{"decision": "denied", "findings": "no-findings", "not-checked": late + "; policy no-findings: " + late},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := guarded(t, world{}, wait, twoPolicies, strings.Replace(tc.findings, "FAILURE", "", 1))
			got := ask(t, h, request(func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(tc.object) }))
			got.AuditAnnotations["policy-revision"] = ""
			delete(got.AuditAnnotations, "policy-revision")
			if diff := cmp.Diff(tc.want, spoken{got.Allowed, strings.ReplaceAll(got.Result.Message, "..", "."), got.Warnings, got.AuditAnnotations}); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// Where nothing of a job can be read, the policies that might deny it are named; those that are
// closed on failure deny.
func TestWhatCannotBeReadIsUndecided(t *testing.T) {
	broken := func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(`{"spec":{}}`) }
	quick := func(*check.Pass) {}
	got := ask(t, guarded(t, world{}, quick, twoPolicies), request(broken))
	if why := got.AuditAnnotations["not-checked"]; !got.Allowed || !strings.Contains(why, "policy most-pods: the object cannot be decoded") {
		t.Errorf("allowed %v, not checked %q; want the policy to be named", got.Allowed, why)
	}
	got = ask(t, guarded(t, world{}, quick, strings.Replace(twoPolicies, "fewer.}", "fewer., failure: closed}", 1)), request(broken))
	if got.Allowed || !strings.HasPrefix(got.Result.Message, "[most-pods] could not be evaluated, and is closed on failure: the object cannot be decoded") {
		t.Errorf("allowed %v: %q; want a denial that says why", got.Allowed, got.Result.Message)
	}
}

// However much else a job holds, what policies ask about is read.
func TestPaddingDoesNotSilencePolicies(t *testing.T) {
	notes, env := make([]string, 50_010), make([]string, 25_000)
	for i := range notes {
		notes[i] = fmt.Sprintf("%q:\"\"", fmt.Sprintf("n%d", i))
	}
	for i := range env {
		env[i] = fmt.Sprintf(`{"name":"E%d","value":"x"}`, i)
	}
	cases := map[string]string{
		"annotations":    strings.Replace(pods("6"), `"name":"train"`, `"name":"train","annotations":{`+strings.Join(notes, ",")+`}`, 1),
		"an environment": strings.Replace(pods("6"), `"image":"train:1"`, `"image":"train:1","env":[`+strings.Join(env, ",")+`]`, 1),
	}
	for name, object := range cases {
		t.Run(name, func(t *testing.T) {
			h := guarded(t, world{}, func(*check.Pass) {}, twoPolicies)
			h.o.PolicyDeadline, h.o.Deadline = time.Minute, time.Minute
			got := askUnhurried(t, h, request(func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(object) }))
			if want := "[most-pods] spec: asks for 6 pods; 4 are allowed. Ask for fewer."; got.Allowed || got.Result.Message != want {
				t.Errorf("allowed %v: %q %q; want %q", got.Allowed, got.Result.Message, got.Warnings, want)
			}
		})
	}
}

// slowly reads jobs as slowly as on a machine that has no time.
type slowly struct {
	Reviewer
	reads time.Duration
}

func (s slowly) Begin(ctx context.Context, req preflight.Request) (Review, error) {
	time.Sleep(s.reads) //nolint:forbidigo // the clock is the test's
	return s.Reviewer.Begin(ctx, req)
}

// Whoever makes his job large has it read for longer, and is not admitted past the policies for that.
func TestALargeJobIsReadForLonger(t *testing.T) {
	padded := strings.Replace(pods("6"), `"image":"train:1"`, `"image":"train:1","args":["`+strings.Repeat("x", 1_000_000)+`"]`, 1)
	for name, tc := range map[string]struct {
		object  string
		reads   time.Duration
		allowed bool
	}{
		"a large one":                   {padded, 1200 * time.Millisecond, false},
		"a small one":                   {pods("6"), 1200 * time.Millisecond, true},
		"one that nobody can wait for":  {padded, 3 * time.Second, true},
		"a small one that is soon read": {pods("6"), 300 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := guarded(t, world{}, func(*check.Pass) {}, twoPolicies)
			o := h.o
			o.Reviewer, o.Deadline, o.PolicyDeadline = slowly{o.Reviewer, tc.reads}, 0, 0
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				got := NewHandler(o).Handle(t.Context(), admission.Request{AdmissionRequest: *request(func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(tc.object) })})
				if took := time.Since(begun); got.Allowed != tc.allowed || took > patience || tc.allowed && got.AuditAnnotations["not-checked"] == "" {
					t.Errorf("allowed %v after %s: %v", got.Allowed, took, got.AuditAnnotations)
				}
				comeToRest(tc.reads)
			})
		})
	}
}

// What an author can make long, lists of roles and of rules in each, costs no more than the time that a review has: what
// went on after it would take the processors from everybody else's.
func TestChecksEndWithTheReview(t *testing.T) {
	rules := strings.Repeat(`{"maxSkew":1,"topologyKey":"kubernetes.io/hostname","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"a":"b"}}},`, 6)
	groups := make([]string, 300)
	for i := range groups {
		groups[i] = fmt.Sprintf(`{"name":"g%d","replicas":%d,"template":{"spec":{"parallelism":3,"template":{"spec":{"restartPolicy":"Never",`+
			`"topologySpreadConstraints":[%s],"containers":[{"name":"c","image":"train:1","resources":{"limits":{"nvidia.com/gpu":1}}}]}}}}}`, i, 2+i%9, strings.TrimSuffix(rules, ","))
	}
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		t.Fatal(err)
	}
	h := NewHandler(HandlerOptions{Reviewer: Stages(&preflight.Reviewer{Checks: set}), View: benchHandler(t, 5000).o.View, Concurrent: 2})
	before := spent()
	got := h.Handle(t.Context(), admission.Request{AdmissionRequest: *request(func(r *admissionv1.AdmissionRequest) {
		r.Kind = metav1.GroupVersionKind{Group: "jobset.x-k8s.io", Version: "v1alpha2", Kind: "JobSet"}
		r.Object.Raw = []byte(`{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"train","namespace":"ml"},"spec":{"replicatedJobs":[` + strings.Join(groups, ",") + `]}}`)
	})})
	if why := got.AuditAnnotations["not-checked"]; !strings.Contains(why, "deadline passed") && !strings.Contains(why, "took longer") {
		t.Errorf("allowed %v, not checked %q", got.Allowed, why)
	}
	leave, why := h.working.acquire(t.Context(), "ada", "ml", time.Now(), time.Minute) // his one place is free when the checks have come to their end
	if leave == nil {
		t.Fatal(why)
	}
	leave()
	if used := spent() - before; used > 700*time.Millisecond*raceFactor {
		t.Errorf("%s of processor time for a review of 200 ms", used)
	}
}

// kubectl scale changes the number of pods without an update of the job.
func TestScaleIsReviewed(t *testing.T) {
	quick := func(*check.Pass) {}
	stored := strings.Replace(train, `"name":"train"`, `"name":"train","uid":"9","resourceVersion":"5"`, 1)
	from := func(was, version, n, name string) change {
		return func(r *admissionv1.AdmissionRequest) {
			r.Kind = metav1.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}
			r.Resource = metav1.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}
			r.SubResource, r.Operation, r.Name = "scale", admissionv1.Update, name
			r.Object.Raw = []byte(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"` + name + `","namespace":"ml"},"spec":{"replicas":` + n + `}}`)
			r.OldObject.Raw = []byte(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"` + name + `","namespace":"ml","resourceVersion":"` + version + `"},"spec":{"replicas":` + was + `}}`)
		}
	}
	to := func(n, name string) change { return from("1", "5", n, name) }
	const unseen = "PyTorchJob train, which is scaled to 4, has changed and has not been seen so yet"
	const elsewhere = "it is not known which number is scaled: it was 0, and spec.pytorchReplicaSpecs.Worker.replicas is 1"
	h := guarded(t, world{jobs: map[string]string{"PyTorchJob/train": stored}}, quick, twoPolicies)
	cases := map[string]struct {
		change  change
		allowed bool
		said    string
	}{
		"to more than a policy allows":                                    {to("60", "train"), false, "[most-pods] spec: asks for 60 pods; 4 are allowed. Ask for fewer."},
		"to as many as it allows":                                         {to("4", "train"), true, ""},
		"to as many as it has":                                            {to("1", "train"), true, ""},
		"of a job that has changed since it was seen":                     {from("1", "6", "4", "train"), true, "[signalbox] not checked: " + unseen + "; policy most-pods: " + unseen},
		"of one that has changed, to more than a policy allows":           {from("1", "6", "60", "train"), false, "[most-pods] spec: asks for 60 pods; 4 are allowed. Ask for fewer."},
		"of one that was seen with that number and has had another since": {from("9", "6", "1", "train"), true, strings.ReplaceAll("[signalbox] not checked: "+unseen+"; policy most-pods: "+unseen, "scaled to 4", "scaled to 1")},
		"of another number than a reader knows of, where the CRD says so": {from("0", "5", "60", "train"), true, "[signalbox] not checked: " + elsewhere + "; policy most-pods: " + elsewhere},
		"of a job that nobody has seen":                                   {to("60", "new"), true, "[signalbox] not checked: PyTorchJob new, which is scaled to 60, has not been seen yet; policy most-pods: PyTorchJob new, which is scaled to 60, has not been seen yet"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(t, h, request(tc.change))
			if said := strings.Join(append(got.Warnings, got.Result.Message), ""); got.Allowed != tc.allowed || said != tc.said {
				t.Errorf("allowed %v: %q\nwant    %v: %q", got.Allowed, said, tc.allowed, tc.said)
			}
		})
	}
}

// A place that is given in the same moment in which its request waits no more goes to the next.
func TestPlaces(t *testing.T) {
	p := newSemaphore(4)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var leave []func()
	const bot = serviceAccount + "ci:bot-"
	for _, who := range []struct{ user, namespace, why string }{
		{"ada", "ada", ""},
		{"ada", "ada", ""},
		{"ada", "x", "2 reviews for user ada are running already, which is the limit for one"},
		{bot + "1", "ml", ""},
		{bot + "2", "x", "3 of 4 reviews are running already, and one more may only be of a user who has none"},
		{"eve", "ml", ""},
		{"x", "ml", "2 reviews for namespace ml are running already, which is the limit for one"},
		{"carl", "carl", "4 reviews are running already, which is the limit"},
	} {
		ctx := gone
		if who.why == "" {
			ctx = t.Context()
		}
		l, why := p.acquire(ctx, who.user, who.namespace, time.Now(), time.Minute)
		if why != who.why {
			t.Errorf("%s in %s: %q; want %q", who.user, who.namespace, why, who.why)
		}
		if l != nil {
			leave = append(leave, l)
		}
	}
	for _, l := range leave {
		l()
		l() // twice is once
	}
	if p.taken != 0 || len(p.by) != 0 || len(p.waiting) != 0 {
		t.Errorf("%d taken, %v, %d waiting; want none", p.taken, p.by, len(p.waiting))
	}
}

// TestAStatusHidesNoChange: whoever may write the status of a job ends it, changes what it asks for, and takes the status
// back. Of the first and the last step no webhook hears.
func TestAStatusHidesNoChange(t *testing.T) {
	h := guarded(t, world{}, func(*check.Pass) {}, twoPolicies)
	for name, status := range map[string]string{
		"succeeded": `{"type":"Succeeded","status":"True"}`,
		"failed":    `{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}`,
	} {
		over := func(job string) string {
			return strings.Replace(job, `"spec":`, `"status":{"conditions":[`+status+`]},"spec":`, 1)
		}
		if got := ask(t, h, request(updated(over(train), over(pods("9"))))); got.Allowed || !strings.Contains(got.Result.Message, "asks for 9 pods") {
			t.Errorf("%s: allowed %v %q; want it denied for its 9 pods", name, got.Allowed, got.Result.Message)
		}
		if got := ask(t, h, request(updated(over(train), train))); !got.Allowed {
			t.Errorf("%s: its status alone: %q", name, got.Result.Message)
		}
	}
}
