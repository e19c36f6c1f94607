package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// reviewFunc is a review that does all it does in the stage of the checks.
type reviewFunc func(context.Context, preflight.Request) (preflight.Report, error)

func (f reviewFunc) Begin(_ context.Context, req preflight.Request) (Review, error) {
	return oneStage{do: f, req: req}, nil
}

func (f reviewFunc) Unasked(preflight.Request, string) preflight.Report { return preflight.Report{} }

type oneStage struct {
	do     reviewFunc
	req    preflight.Request
	report preflight.Report
}

func (s oneStage) Check(ctx context.Context) Review {
	var err error
	if s.report, err = s.do(ctx, s.req); err != nil {
		panic(err) //nolint:forbidigo // what is tested
	}
	return s
}

func (s oneStage) Conclude(context.Context) Review { return s }

func (s oneStage) Cut(string) preflight.Report { return s.report }

func (s oneStage) Report() preflight.Report { return s.report }

// world is a cluster view that holds namespaces by name.
type world struct {
	incomplete string
	labels     map[string]map[string]string
	jobs       map[string]string // by kind/name, of namespace ml
}

func (w world) Job(kind schema.GroupKind, namespace, name string) *unstructured.Unstructured {
	text, ok := w.jobs[kind.Kind+"/"+name]
	if !ok || namespace != "ml" {
		return nil
	}
	u, err := decode([]byte(text))
	if err != nil {
		panic(err) //nolint:forbidigo // the test is wrong
	}
	return u
}

func (w world) UID(kind schema.GroupKind, namespace, name string) types.UID {
	if u := w.Job(kind, namespace, name); u != nil {
		return u.GetUID()
	}
	return ""
}

func (w world) Snapshot() *cluster.Snapshot {
	var b cluster.Builder
	b.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	b.Incomplete(w.incomplete)
	return b.Snapshot(time.Time{})
}

// unseen is a namespace of which nothing is known yet; of any other it is known that it has no label.
const unseen = "new"

func (w world) Namespace(name string) map[string]string {
	if labels := w.labels[name]; labels != nil || name == unseen {
		return labels
	}
	return map[string]string{}
}

const train = `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"train","namespace":"ml"},"spec":{"nprocPerNode":"1","pytorchReplicaSpecs":{"Worker":{"replicas":1,"template":{"spec":{"containers":[{"name":"pytorch","image":"train:1"}]}}}}}}`

type change func(*admissionv1.AdmissionRequest)

func request(changes ...change) *admissionv1.AdmissionRequest {
	r := &admissionv1.AdmissionRequest{
		UID: "7f1c", Kind: metav1.GroupVersionKind{Group: "kubeflow.org", Version: "v1", Kind: "PyTorchJob"},
		Namespace: "ml", Name: "train", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(train)},
	}
	r.UserInfo.Username = "ada"
	for _, c := range changes {
		c(r)
	}
	return r
}

func updated(old, object string) change {
	return func(r *admissionv1.AdmissionRequest) {
		r.Operation, r.OldObject.Raw, r.Object.Raw = admissionv1.Update, []byte(old), []byte(object)
	}
}

// ask sends the request as the API server does and returns what it would read.
func ask(t *testing.T, h *Handler, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	return askAt(t, &admission.Webhook{Handler: h}, req)
}

// askUnhurried is ask, and a slow machine has a minute more for the answer.
func askUnhurried(t *testing.T, h *Handler, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	later := func(ctx context.Context, _ *http.Request) context.Context {
		return context.WithValue(ctx, flightKey{}, &flight{arrived: time.Now().Add(time.Minute), end: func() {}})
	}
	return askAt(t, &admission.Webhook{Handler: h, WithContextFunc: later}, req)
}

func askAt(t *testing.T, hook *admission.Webhook, req *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	t.Helper()
	server := httptest.NewServer(hook)
	defer server.Close()
	review := admissionv1.AdmissionReview{Request: req}
	review.SetGroupVersionKind(admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"))
	body, err := json.Marshal(review)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(server.URL, "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if answer.Response == nil || answer.Response.UID != req.UID {
		t.Fatalf("response %v does not answer request %s", answer.Response, req.UID)
	}
	return answer.Response
}

func handler(r reviewFunc, w world) *Handler { return over(r, w) }

func over(r Reviewer, w world) *Handler {
	return NewHandler(HandlerOptions{
		Reviewer: r, View: w, Stored: w, Operators: []string{operator}, Deadline: 50 * time.Millisecond, Concurrent: 4, Log: logr.Discard(),
	})
}

// A denial is a line of the log, with who was denied by what; what is admitted is none.
func TestADenialIsALineOfTheLog(t *testing.T) {
	deny := preflight.Ruling{Policy: "whole-node", Effect: preflight.Deny, Message: "no"}
	for _, tc := range []struct {
		report preflight.Report
		want   []string
	}{
		{preflight.Report{Decision: preflight.Denied, Rulings: []preflight.Ruling{deny, deny}}, []string{`"level"=0 "msg"="denied a job" "kind"="PyTorchJob" "namespace"="ml" "name"="train" "policies"=["whole-node"] "dryRun"=false`}},
		{preflight.Report{Decision: preflight.Warned, Findings: []finding.Finding{shortOfNodes}}, nil},
	} {
		var lines []string
		h := handler(finds(tc.report), world{})
		h.o.Log = funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		ask(t, h, request())
		if diff := cmp.Diff(tc.want, lines); diff != "" {
			t.Errorf("the log (-want +got):\n%s", diff)
		}
	}
}

// TestALineOfTheLogIsBounded: whoever reaches the port may call a job as he likes.
func TestALineOfTheLogIsBounded(t *testing.T) {
	var lines []string
	h := handler(finds(preflight.Report{Decision: preflight.Denied, Rulings: []preflight.Ruling{{Policy: "p", Effect: preflight.Deny, Message: "no"}}}), world{})
	h.o.Log = funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
	long := strings.Repeat("x", 1<<20)
	ask(t, h, request(func(r *admissionv1.AdmissionRequest) { r.Name, r.Namespace = long, long }))
	if len(lines) != 1 || len(lines[0]) > 1000 {
		t.Errorf("%d lines; want one, of less than 1,000 characters", len(lines))
	}
}

const operator = "system:serviceaccount:kubeflow-system:trainer"

func finds(report preflight.Report) reviewFunc {
	return func(context.Context, preflight.Request) (preflight.Report, error) { return report, nil }
}

var shortOfNodes = finding.Finding{
	Check: "gang-does-not-fit", Severity: finding.Warning, Path: "spec.pytorchReplicaSpecs.Worker",
	Message: "asks for 6 pods; 4 fit", Remedy: "Ask for 3 workers.",
}

// spoken is what the user and the audit log get.
type spoken struct {
	Allowed  bool
	Message  string
	Warnings []string
	Audit    map[string]string
}

func TestWhatIsSaid(t *testing.T) {
	queue := preflight.Ruling{Policy: "whole-node-needs-queue", Effect: preflight.Deny, Path: "spec", Message: "takes 8 GPUs: a whole node", Remedy: "Submit through a queue."}
	asWarning := queue
	asWarning.Effect = preflight.Warn
	cases := map[string]struct {
		report preflight.Report
		view   world
		want   spoken
	}{
		"nothing to say": {
			report: preflight.Report{Decision: preflight.Allowed},
			want:   spoken{Allowed: true, Audit: map[string]string{"decision": "allowed"}},
		},
		"a finding warns": {
			report: preflight.Report{Decision: preflight.Warned, Findings: []finding.Finding{shortOfNodes}, Revision: "sha256:1"},
			want: spoken{
				Allowed:  true,
				Warnings: []string{"[gang-does-not-fit] spec.pytorchReplicaSpecs.Worker: asks for 6 pods; 4 fit. Ask for 3 workers."},
				Audit:    map[string]string{"decision": "warned", "policy-revision": "sha256:1", "findings": "gang-does-not-fit"},
			},
		},
		"a policy denies, and every reason is in the message": {
			report: preflight.Report{Decision: preflight.Denied, Findings: []finding.Finding{shortOfNodes}, Rulings: []preflight.Ruling{queue, {Policy: "z", Effect: preflight.Deny, Message: "no"}}},
			want: spoken{
				Message:  "[whole-node-needs-queue] spec: takes 8 GPUs: a whole node. Submit through a queue.\n[z] no",
				Warnings: []string{"[gang-does-not-fit] spec.pytorchReplicaSpecs.Worker: asks for 6 pods; 4 fit. Ask for 3 workers."},
				Audit:    map[string]string{"decision": "denied", "findings": "gang-does-not-fit,whole-node-needs-queue,z"},
			},
		},
		"the same policy warns where the namespace does not enforce": {
			report: preflight.Report{Decision: preflight.Warned, Rulings: []preflight.Ruling{asWarning}},
			want: spoken{
				Allowed:  true,
				Warnings: []string{"[whole-node-needs-queue] spec: takes 8 GPUs: a whole node. Submit through a queue."},
				Audit:    map[string]string{"decision": "warned", "findings": "whole-node-needs-queue"},
			},
		},
		"a check that panicked is named, the others count": {
			report: preflight.Report{Decision: preflight.Warned, Findings: []finding.Finding{shortOfNodes}, Skipped: []preflight.Skip{
				{Check: "a", Reason: "run check a: panic: boom", Failed: true}, {Check: "b", Reason: "needs the labels of the namespace; unknown"},
			}},
			want: spoken{
				Allowed: true,
				Warnings: []string{
					"[gang-does-not-fit] spec.pytorchReplicaSpecs.Worker: asks for 6 pods; 4 fit. Ask for 3 workers.",
					"[signalbox] not checked: a: run check a: panic: boom",
				},
				Audit: map[string]string{"decision": "warned", "findings": "gang-does-not-fit", "not-checked": "a: run check a: panic: boom"},
			},
		},
		"what rests on fields that could not be read is said in one line": {
			report: preflight.Report{Decision: preflight.Warned, Findings: []finding.Finding{shortOfNodes}, Unread: []job.Path{"spec.a", "spec.b"}},
			want: spoken{
				Allowed: true,
				Warnings: []string{
					"[gang-does-not-fit] spec.pytorchReplicaSpecs.Worker: asks for 6 pods; 4 fit. Ask for 3 workers.",
					"[signalbox] not checked: what rests on 2 fields that could not be read: spec.a, spec.b",
				},
				Audit: map[string]string{"decision": "warned", "findings": "gang-does-not-fit", "not-checked": "what rests on 2 fields that could not be read: spec.a, spec.b"},
			},
		},
		"a policy that fails is named": {
			report: preflight.Report{Decision: preflight.Allowed, Undecided: []string{"z: answers a number; want a set"}},
			want: spoken{
				Allowed:  true,
				Warnings: []string{"[signalbox] not checked: policy z: answers a number; want a set"},
				Audit:    map[string]string{"decision": "allowed", "not-checked": "policy z: answers a number; want a set"},
			},
		},
		"a view that is not whole is said once, however many checks wanted it": {
			report: preflight.Report{Decision: preflight.Allowed, Skipped: []preflight.Skip{
				{Check: "a", Reason: "needs a cluster view: nodes are being listed", Why: check.ViewUntrusted, Failed: true},
				{Check: "b", Reason: "needs a cluster view: nodes are being listed", Why: check.ViewUntrusted, Failed: true},
			}},
			view: world{incomplete: "nodes are being listed"},
			want: spoken{
				Allowed:  true,
				Warnings: []string{"[signalbox] not checked: the view of the cluster is not whole: nodes are being listed"},
				Audit:    map[string]string{"decision": "allowed", "not-checked": "the view of the cluster is not whole: nodes are being listed"},
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ask(t, handler(finds(tc.report), tc.view), request())
			said := spoken{got.Allowed, got.Result.Message, got.Warnings, got.AuditAnnotations}
			if diff := cmp.Diff(tc.want, said); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			if !got.Allowed && (got.Result.Code != 403 || got.Result.Reason != metav1.StatusReasonForbidden) {
				t.Errorf("a denial has code %d and reason %s; want 403 Forbidden", got.Result.Code, got.Result.Reason)
			}
		})
	}
}

// Whatever goes wrong on our side, the job is admitted, and one warning and an audit
// annotation say what was not checked.
func TestNoFaultOfOursRefusesAJob(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	cases := map[string]struct {
		review reviewFunc
		change change
		want   string
	}{
		"the review panics": {
			review: func(context.Context, preflight.Request) (preflight.Report, error) {
				var missing *preflight.Report
				return *missing, nil
			},
			want: "the review panicked: runtime error: invalid memory address or nil pointer dereference",
		},
		"the review never ends": {
			review: func(context.Context, preflight.Request) (preflight.Report, error) {
				<-stuck
				return preflight.Report{Decision: preflight.Denied}, nil
			},
			want: "the review took longer than 50ms",
		},
		"the object is no Kubernetes object": {
			review: finds(preflight.Report{}),
			change: func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(`{"spec":{}}`) },
			want:   "the object cannot be decoded: Object 'Kind' is missing in '{\"spec\":{}}'",
		},
		"the object is missing": {
			review: finds(preflight.Report{}),
			change: func(r *admissionv1.AdmissionRequest) { r.Object.Raw = nil },
			want:   "the object cannot be decoded: unexpected end of JSON input",
		},
		"the old object is missing": {
			review: finds(preflight.Report{}),
			change: func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Update },
			want:   "the object before the update cannot be decoded: unexpected end of JSON input",
		},
		"a kind without a reader is sent": {
			review: finds(preflight.Report{}),
			change: func(r *admissionv1.AdmissionRequest) { r.Kind.Version = "v9" },
			want:   "no reader for kubeflow.org/v9 PyTorchJob",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := request()
			if tc.change != nil {
				tc.change(req)
			}
			got := ask(t, handler(tc.review, world{}), req)
			want := spoken{Allowed: true, Warnings: []string{"[signalbox] not checked: " + tc.want}, Audit: map[string]string{"decision": "allowed", "not-checked": tc.want}}
			if diff := cmp.Diff(want, spoken{got.Allowed, got.Result.Message, got.Warnings, got.AuditAnnotations}); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLateReviewsDoNotPileUp(t *testing.T) {
	stuck := make(chan struct{})
	running := make(chan struct{}, 100)
	h := handler(func(context.Context, preflight.Request) (preflight.Report, error) {
		running <- struct{}{}
		<-stuck
		return preflight.Report{}, nil
	}, world{})
	for range 2 {
		ask(t, h, request())
	}
	got := ask(t, h, request())
	want := []string{"[signalbox] not checked: 2 reviews for user ada are running already, which is the limit for one"}
	if diff := cmp.Diff(want, got.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if n := len(running); n != 2 {
		t.Errorf("%d reviews were started; want 2", n)
	}
	close(stuck)
	for range 2 { // both places become free again
		if leave, why := h.working.acquire(t.Context(), "ada", "ml", time.Now(), time.Minute); leave == nil {
			t.Fatal(why)
		}
	}
}

// Whoever fills the places with reviews that never end fills their own only.
func TestOneUserDoesNotTakeThePlacesOfOthers(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	h := handler(func(_ context.Context, r preflight.Request) (preflight.Report, error) {
		if r.User == "mallory" {
			<-stuck
		}
		return preflight.Report{Decision: preflight.Allowed, Ran: 1}, nil
	}, world{})
	h.o.Deadline = time.Minute // of the others; the test ends long before
	for range 20 {
		go h.Handle(t.Context(), admission.Request{AdmissionRequest: *request(func(r *admissionv1.AdmissionRequest) {
			r.UserInfo.Username, r.Namespace = "mallory", "lair"
		})})
	}
	for range 50 {
		if got := ask(t, h, request()); len(got.Warnings) > 0 {
			t.Fatalf("another user is told %q", got.Warnings)
		}
	}
}

func TestAReviewThatListensStillSaysWhatItFound(t *testing.T) {
	h := handler(func(ctx context.Context, _ preflight.Request) (preflight.Report, error) {
		<-ctx.Done()
		return preflight.Report{Decision: preflight.Warned, Findings: []finding.Finding{shortOfNodes}, Skipped: []preflight.Skip{
			{Check: "late", Reason: "deadline passed before it ran", Failed: true},
		}}, nil
	}, world{})
	h.o.Deadline = time.Second // the review is told after 800 ms
	got := ask(t, h, request())
	want := []string{
		"[gang-does-not-fit] spec.pytorchReplicaSpecs.Worker: asks for 6 pods; 4 fit. Ask for 3 workers.",
		"[signalbox] not checked: late: deadline passed before it ran",
	}
	if diff := cmp.Diff(want, got.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// The rules of what needs a review are the reviewer's; here it is the real one.
func TestWhatIsNotLookedAt(t *testing.T) {
	edit := func(old, now string) string { return strings.Replace(train, old, now, 1) }
	annotated := func(text string) string { return edit(`"name":"train"`, `"name":"train","annotations":{`+text+`}`) }
	status := edit(`"spec":`, `"status":{"conditions":[]},"spec":`)
	owned := func(name, uid string) string {
		return edit(`"name":"train"`, `"name":"train","ownerReferences":[{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","name":"`+name+`","uid":"`+uid+`","controller":true}]`)
	}
	by := func(user string) change { return func(r *admissionv1.AdmissionRequest) { r.UserInfo.Username = user } }
	object := func(o string) change { return func(r *admissionv1.AdmissionRequest) { r.Object.Raw = []byte(o) } }
	cases := map[string]struct {
		changes  []change
		reviewed bool
	}{
		"a creation":                                 {nil, true},
		"a deletion":                                 {[]change{func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Delete }}, false},
		"a connection":                               {[]change{func(r *admissionv1.AdmissionRequest) { r.Operation = admissionv1.Connect }}, false},
		"a subresource":                              {[]change{func(r *admissionv1.AdmissionRequest) { r.SubResource = "status" }}, false},
		"kube-system":                                {[]change{func(r *admissionv1.AdmissionRequest) { r.Namespace = "kube-system" }}, false},
		"our own namespace":                          {[]change{func(r *admissionv1.AdmissionRequest) { r.Namespace = "signalbox-system" }}, false},
		"a namespace in off":                         {[]change{func(r *admissionv1.AdmissionRequest) { r.Namespace = "quiet" }}, false},
		"a dry run":                                  {[]change{func(r *admissionv1.AdmissionRequest) { yes := true; r.DryRun = &yes }}, true},
		"the status changed":                         {[]change{updated(train, status)}, false},
		"our own annotations changed":                {[]change{updated(train, annotated(`"signalbox.dev/healthy":"No"`))}, false},
		"a diagnosis is asked for":                   {[]change{updated(train, annotated(`"signalbox.dev/diagnose":"now"`))}, false},
		"a check is to be ignored now":               {[]change{updated(train, annotated(`"signalbox.dev/ignore":"x"`))}, true},
		"the spec changed":                           {[]change{updated(train, edit(`"nprocPerNode":"1"`, `"nprocPerNode":"2"`))}, true},
		"a label changed (a queue may be one)":       {[]change{updated(train, edit(`"name":"train"`, `"name":"train","labels":{"q":"x"}`))}, true},
		"the job is being deleted":                   {[]change{updated(train, edit(`"name":"train"`, `"name":"train","deletionTimestamp":"2026-01-01T00:00:00Z"`))}, false},
		"an operator makes a part of a reviewed job": {[]change{object(owned("whole", "1")), by(operator)}, false},
		"an operator with an owner nobody has seen":  {[]change{object(owned("other", "1")), by(operator)}, true},
		"an operator with an owner of another life":  {[]change{object(owned("whole", "2")), by(operator)}, true},
		"an account that is only called like one":    {[]change{object(owned("whole", "1")), by("system:serviceaccount:mpi-operator:mpi-operator")}, true},
		"a user claims to be an operator":            {[]change{object(owned("whole", "1")), by("ada")}, true},
		"so does an account of the namespace":        {[]change{object(owned("whole", "1")), by("system:serviceaccount:ml:default")}, true},
		"so does a CI account of another namespace":  {[]change{object(owned("whole", "1")), by("system:serviceaccount:ci:bot")}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reviewed := false
			set, err := check.NewSet(&check.Check{
				Name: "sees", Title: "it saw the job", Doc: "It sees.", Remedy: "Do nothing.", Since: "0.1", Severity: finding.Note,
				Run: func(*check.Pass) { reviewed = true },
			})
			if err != nil {
				t.Fatal(err)
			}
			real := &preflight.Reviewer{Checks: set}
			h := over(Stages(real), world{
				labels: map[string]map[string]string{"quiet": {"signalbox.dev/mode": "off"}},
				jobs:   map[string]string{"TrainJob/whole": `{"apiVersion":"trainer.kubeflow.org/v1alpha1","kind":"TrainJob","metadata":{"name":"whole","namespace":"ml","uid":"1"}}`},
			})
			h.o.Operators = append(h.o.Operators, "system:serviceaccount:mpi-operator:mpi-operator")
			h.o.MayWriteStatus = func(_ context.Context, who authenticationv1.UserInfo, of schema.GroupVersionResource, namespace string) bool {
				return who.Username == operator && of.Resource == "trainjobs" && of.Group == "trainer.kubeflow.org" && namespace == "ml"
			}
			got := ask(t, h, request(tc.changes...))
			if reviewed != tc.reviewed {
				t.Errorf("reviewed %v; want %v", reviewed, tc.reviewed)
			}
			if got.Warnings = slices.DeleteFunc(got.Warnings, func(w string) bool { return strings.HasPrefix(w, "[ignore-annotation]") }); !got.Allowed || len(got.Warnings) > 0 {
				t.Errorf("allowed %v with warnings %q; want a silent yes", got.Allowed, got.Warnings)
			}
		})
	}
}

// TestManyDenialsTakeTimeAsTheirNumber: an author may be denied for each of his variables, and the answer has no deadline of
// its own. Twenty times as many take less than a hundred times as long.
func TestManyDenialsTakeTimeAsTheirNumber(t *testing.T) {
	took := func(n int) time.Duration {
		r := preflight.Report{Decision: preflight.Denied}
		for i := range n {
			r.Rulings = append(r.Rulings, preflight.Ruling{Policy: "p", Effect: preflight.Deny, Message: fmt.Sprintf("variable %06d is not allowed", i), Path: "spec"})
		}
		least := time.Hour
		for range 3 {
			a, begun := reported(r, ""), spent()
			resp := a.response()
			if least = min(least, spent()-begun); resp.Allowed || len(resp.Warnings) > 0 {
				t.Fatalf("allowed %v, %d warnings", resp.Allowed, len(resp.Warnings))
			}
		}
		return least
	}
	if few, many := took(2_000), took(40_000); many > 100*max(few, 100*time.Microsecond) {
		t.Errorf("2,000 denials take %s and 40,000 %s", few, many)
	}
}

// TestAVersionThatNoReaderUnderstands: a CRD may serve more versions of a job than readers know. Whoever writes in one of those
// is told that nobody looked; whoever changes nothing that a reader would look at is not.
func TestAVersionThatNoReaderUnderstands(t *testing.T) {
	h := over(Stages(&preflight.Reviewer{}), world{})
	newer := func(r *admissionv1.AdmissionRequest) { r.Kind.Version = "v9" }
	written := strings.Replace(train, `"spec":`, `"status":{"conditions":[]},"spec":`, 1)
	for name, tc := range map[string]struct {
		changes []change
		want    []string
	}{
		"a creation":                {[]change{newer}, []string{"[signalbox] not checked: no reader for kubeflow.org/v9 PyTorchJob"}},
		"an update of the spec":     {[]change{updated(train, strings.Replace(train, `"replicas":1`, `"replicas":60`, 1)), newer}, []string{"[signalbox] not checked: no reader for kubeflow.org/v9 PyTorchJob"}},
		"its operator's own update": {[]change{updated(train, written), newer}, nil},
	} {
		if got := ask(t, h, request(tc.changes...)); !got.Allowed || !slices.Equal(got.Warnings, tc.want) {
			t.Errorf("%s: allowed %v with %q; want %q", name, got.Allowed, got.Warnings, tc.want)
		}
	}
}

func TestTheReviewKnowsWhoAsksForWhat(t *testing.T) {
	var got preflight.Request
	h := handler(func(_ context.Context, r preflight.Request) (preflight.Report, error) {
		got = r
		return preflight.Report{}, nil
	}, world{labels: map[string]map[string]string{"ml": {"team": "vision"}}})
	ask(t, h, request(updated(train, strings.Replace(train, `"nprocPerNode":"1"`, `"nprocPerNode":"2"`, 1)), func(r *admissionv1.AdmissionRequest) {
		yes := true
		r.DryRun, r.UserInfo.Groups = &yes, []string{"ml-team"}
	}))
	if got.Object == nil || got.Old == nil || got.Cluster == nil {
		t.Fatalf("object %v, old object %v, cluster %v; want all three", got.Object, got.Old, got.Cluster)
	}
	got.Object, got.Old, got.Cluster = nil, nil, nil
	want := preflight.Request{Namespace: map[string]string{"team": "vision"}, Operation: "UPDATE", User: "ada", Groups: []string{"ml-team"}, DryRun: true, Live: true, Admission: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}
