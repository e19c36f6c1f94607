package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	fakediscovery "k8s.io/client-go/discovery/fake"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// installedAt is when Signalbox came to the cluster of the test.
var installedAt = time.Date(2026, 11, 1, 8, 0, 0, 0, time.UTC)

// swept is a cluster with jobs that a sweep looks at.
type swept struct {
	t     *testing.T
	kube  *fake.Clientset
	jobs  *dynamicfake.FakeDynamicClient
	api   *fakediscovery.FakeDiscovery
	seen  *Jobs
	known *Reviewed
	sweep *Sweep
	clock time.Time
	reg   *prometheus.Registry
}

var (
	pytorch = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "pytorchjobs"}
	mpi     = schema.GroupVersionResource{Group: "kubeflow.org", Version: "v1", Resource: "mpijobs"}
)

// stored is a PyTorchJob of namespace ml as the API server has it, written so long after Signalbox came.
func stored(name string, after time.Duration, changes ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	u, err := decode([]byte(train))
	if err != nil {
		panic(err) //nolint:forbidigo // the test is wrong
	}
	u.SetName(name)
	u.SetUID(types.UID("uid-of-" + name))
	u.SetCreationTimestamp(metav1.NewTime(installedAt.Add(after)))
	for _, c := range changes {
		c(u)
	}
	return u
}

// denying finds one thing wrong with every job, and a policy denies where the namespace enforces.
func denying(_ context.Context, req preflight.Request) (preflight.Report, error) {
	r := preflight.Report{Decision: preflight.Warned, Findings: []finding.Finding{{Check: "odd", Severity: finding.Warning, Path: "spec.x", Message: "x is odd"}}}
	if preflight.ModeOf(req.Namespace) == preflight.ModeEnforce {
		r.Decision, r.Rulings = preflight.Denied, []preflight.Ruling{{Policy: "max", Effect: preflight.Deny, Path: "spec", Message: "too many"}}
	}
	return r, nil
}

func newSwept(t *testing.T, mode string, objects ...*unstructured.Unstructured) *swept {
	t.Helper()
	s := &swept{t: t, clock: time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC), reg: prometheus.NewRegistry()} // our clock is years off
	s.kube = fake.NewClientset(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: ReviewedName, CreationTimestamp: metav1.NewTime(installedAt)}})
	var all []runtime.Object
	for _, o := range objects {
		all = append(all, o)
	}
	s.jobs = dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{pytorch: "PyTorchJobList", mpi: "MPIJobList"}, all...)
	api, ok := s.kube.Discovery().(*fakediscovery.FakeDiscovery)
	if !ok {
		t.Fatal("the fake has no discovery")
	}
	api.Resources = []*metav1.APIResourceList{{GroupVersion: "kubeflow.org/v1", APIResources: []metav1.APIResource{{Name: "pytorchjobs"}}}}
	s.seen = NewJobs(live.Clients{Dynamic: s.jobs, Discovery: api}, kinds.All(), Others{}, logr.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); _ = s.seen.Start(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	s.api = api
	s.again(mode)
	s.until("the jobs are seen", func() bool { return s.seen.Synced() && len(s.seen.all()) == len(objects) })
	return s
}

// again is a process that has just started.
func (s *swept) again(mode string) {
	s.known = NewReviewed(s.kube, Namespace, logr.Discard())
	s.known.replica = "replica-" + fmt.Sprint(s.clock.Unix())
	s.known.now = func() time.Time { return s.clock }
	counts := prometheus.NewRegistry()
	m, err := NewMetrics(counts)
	if err != nil {
		s.t.Fatal(err)
	}
	s.reg = counts
	s.sweep = NewSweep(SweepOptions{
		Reviewer: reviewFunc(denying), View: world{labels: map[string]map[string]string{"ml": {preflight.ModeLabel: mode}, "quiet": {preflight.ModeLabel: preflight.ModeOff}}},
		Jobs: s.seen, Reviewed: s.known, Kube: s.kube, Dynamic: s.jobs, Excluded: []string{"sandbox"}, Metrics: m, Log: logr.Discard(),
	})
	s.sweep.now = s.known.now
}

func (s *swept) until(what string, ok func() bool) {
	s.t.Helper()
	for range 500 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // informers run in goroutines of their own
	}
	s.t.Fatalf("it did not come about that %s", what)
}

// wait is so many seconds of looks.
func (s *swept) wait(seconds int) {
	s.t.Helper()
	for range seconds {
		s.clock = s.clock.Add(time.Second)
		if err := s.sweep.step(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
}

// told is what stands on the jobs and in Events, and what was counted.
func (s *swept) told() string {
	s.t.Helper()
	var b strings.Builder
	for _, j := range s.seen.all() {
		u, err := s.jobs.Resource(j.resource()).Namespace(j.namespace).Get(s.t.Context(), j.name, metav1.GetOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		if text, ok := u.GetAnnotations()[ReviewAnnotation]; ok {
			fmt.Fprintf(&b, "%s: %s\n", j.name, text)
		}
	}
	events, err := s.kube.EventsV1().Events("").List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range events.Items {
		fmt.Fprintf(&b, "%s %s on %s: %s\n", e.Type, e.Reason, e.Regarding.Name, e.Note)
	}
	page := httptest.NewRecorder()
	promhttp.HandlerFor(s.reg, promhttp.HandlerOpts{}).ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(page.Body.String()) {
		if strings.HasPrefix(line, "signalbox_reviewed_late_total{") && !strings.HasSuffix(line, " 0\n") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// managed says in managedFields when the spec was written; whoever writes a job may write there what they like.
func managed(at time.Time) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		u.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, Time: new(metav1.NewTime(at)),
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`),
		}})
	}
}

// A job that says it was written in years to come must not make all others count as dealt with until then.
func TestAJobOfTheFutureHidesNoOther(t *testing.T) {
	s := newSwept(t, preflight.ModeEnforce, stored("forged", time.Minute, managed(installedAt.Add(50*365*24*time.Hour))))
	skew := s.clock.Sub(installedAt) - 2*time.Minute // the API server's clock is at two minutes
	s.sweep.o.Skew = func() time.Duration { return skew }
	s.wait(40)
	s.again(preflight.ModeEnforce) // another leads
	s.sweep.o.Skew = func() time.Duration { return skew }
	later := stored("later", 4*time.Minute)
	if _, err := s.jobs.Resource(pytorch).Namespace("ml").Create(t.Context(), later, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until("the job is seen", func() bool { return len(s.seen.all()) == 2 })
	s.wait(40)
	if got := s.told(); !strings.Contains(got, "later: It was admitted without a whole review; it would have been denied by max:") {
		t.Errorf("what is told:\n%s", got)
	}
}

// An author who changes a job while no replica answers may take away, or write anew, when that was.
func TestAChangeIsSeenWhateverItsAuthorSaysOfWhen(t *testing.T) {
	s := newSwept(t, preflight.ModeEnforce, stored("old", -time.Hour), stored("new", time.Minute))
	s.wait(40)
	changed := stored("old", -time.Hour, func(u *unstructured.Unstructured) {
		_ = unstructured.SetNestedField(u.Object, int64(60), "spec", "pytorchReplicaSpecs", "Worker", "replicas")
	})
	if _, err := s.jobs.Resource(pytorch).Namespace("ml").Update(t.Context(), changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	want := stateOf(changed)
	s.until("the change is seen", func() bool {
		return slices.ContainsFunc(s.seen.all(), func(j storedJob) bool { return j.state == want })
	})
	s.wait(40)
	if got := s.told(); !strings.Contains(got, "Warning WouldHaveBeenDenied on old: ") {
		t.Errorf("what is told:\n%s", got)
	}
}

// Whether a namespace that was made a moment ago enforces is not known; a review that took it for one that warns
// would be the last.
func TestAJobWaitsForItsNamespaceToBeSeen(t *testing.T) {
	s := newSwept(t, preflight.ModeWarn, stored("train", time.Minute, func(u *unstructured.Unstructured) { u.SetNamespace(unseen) }))
	s.wait(40)
	if got := s.told(); got != "" {
		t.Errorf("before its namespace is seen:\n%s", got)
	}
	s.sweep.o.View = world{labels: map[string]map[string]string{unseen: {preflight.ModeLabel: preflight.ModeEnforce}}}
	s.wait(10)
	if got := s.told(); !strings.Contains(got, "Warning WouldHaveBeenDenied on train: ") {
		t.Errorf("after it was seen:\n%s", got)
	}
}

// One author's jobs may be thousands, and made so that each takes as long as a review may: those of others have their turn.
func TestJobsOfOneNamespaceDoNotHoldUpThoseOfOthers(t *testing.T) {
	var jobs []*unstructured.Unstructured
	for i := range 100 {
		jobs = append(jobs, stored(fmt.Sprintf("slow-%d", i), time.Minute))
	}
	s := newSwept(t, preflight.ModeEnforce, jobs...)
	var reviewed []string
	s.sweep.o.Reviewer = reviewFunc(func(_ context.Context, req preflight.Request) (preflight.Report, error) {
		reviewed = append(reviewed, req.Object.GetName())
		if req.Object.GetNamespace() == "ml" {
			s.clock = s.clock.Add(3 * unhurried)
		}
		return preflight.Report{Decision: preflight.Allowed}, nil
	})
	s.wait(15) // the first of them is being reviewed when the others' come
	for i := range 3 {
		other := stored(fmt.Sprintf("other-%d", i), time.Minute, func(u *unstructured.Unstructured) { u.SetNamespace("lab") })
		if _, err := s.jobs.Resource(pytorch).Namespace("lab").Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.until("the jobs are seen", func() bool { return len(s.seen.all()) == 103 })
	since := s.clock
	for range 10 {
		s.wait(1)
		if slices.Contains(reviewed, "other-2") {
			break
		}
	}
	if took := s.clock.Sub(since); took > 2*time.Minute {
		t.Errorf("after %v reviewed are %q", took, reviewed)
	}
	s.wait(200)
	if len(reviewed) != 103 {
		t.Errorf("%d reviews; want one of each of 103 jobs", len(reviewed))
	}
}

// A stage that does not listen to its context cannot be stopped, only left alone.
func TestALateReviewThatDoesNotEndHoldsUpNoOther(t *testing.T) {
	s := newSwept(t, preflight.ModeEnforce, stored("hangs-1", time.Minute), stored("hangs-2", time.Minute), stored("hangs-3", time.Minute),
		stored("other", time.Minute, func(u *unstructured.Unstructured) { u.SetNamespace("lab") }))
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	var begun, reviewed atomic.Int32
	s.sweep.limit = time.Second / 2
	s.sweep.o.Reviewer = reviewFunc(func(_ context.Context, req preflight.Request) (preflight.Report, error) {
		if req.Object.GetNamespace() == "ml" {
			begun.Add(1)
			<-release
		}
		reviewed.Add(1)
		return preflight.Report{Decision: preflight.Allowed}, nil
	})
	s.wait(30)
	if begun.Load() != mostLate/2 || reviewed.Load() != 1 {
		t.Errorf("%d reviews were begun that do not end, and %d ended; want %d and 1", begun.Load(), reviewed.Load(), mostLate/2)
	}
	if got := s.told(); strings.Count(got, "could not be reviewed since") != 3 {
		t.Errorf("of three jobs that could not be reviewed is said:\n%s", got)
	}
}

func TestASweepEndsWithinAReviewThatDoesNot(t *testing.T) {
	s := newSwept(t, preflight.ModeEnforce, stored("hangs", time.Minute))
	release, begun := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(release) })
	s.sweep.o.Reviewer = reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
		close(begun)
		<-release
		return preflight.Report{}, nil
	})
	s.wait(1) // it waits from now on
	s.clock = s.clock.Add(time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.sweep.Run(ctx) }()
	<-begun
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(unhurried):
		t.Error("the sweep goes on")
	}
}

func TestJobsAdmittedUnreviewedAreReviewed(t *testing.T) {
	s := newSwept(t, preflight.ModeEnforce, stored("train", time.Minute))
	s.wait(10)
	if got := s.told(); got != "" {
		t.Errorf("a job was reviewed before others could say that they had:\n%s", got)
	}
	s.wait(10)
	want := `train: It was admitted without a whole review; it would have been denied by max:
[max] spec: too many
[odd] spec.x: x is odd
Warning WouldHaveBeenDenied on train: It was admitted without a whole review; it would have been denied by max. [max] spec: too many [odd] spec.x: x is odd
signalbox_reviewed_late_total{decision="denied"} 1
`
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Errorf("what is told (-want +got):\n%s", diff)
	}
	s.wait(60)
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Errorf("it is told again (-want +got):\n%s", diff)
	}
	// The next leader knows that it was dealt with.
	s.again(preflight.ModeEnforce)
	s.wait(60)
	if got := s.told(); strings.Contains(got, "_total") || strings.Count(got, "Warning ") != 1 {
		t.Errorf("another process tells it again:\n%s", got)
	}
}

// An Event is read by more people than the job, and as a terminal shows it.
func TestALateReviewRepeatsNoSecret(t *testing.T) {
	s := newSwept(t, preflight.ModeEnforce, stored("train", time.Minute))
	s.sweep.o.Reviewer = reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
		return preflight.Report{
			Decision: preflight.Warned, Undecided: []string{"max: it reads https://ana:sesame-0123@git.example.com/a.git"},
			Findings: []finding.Finding{{Check: "odd", Severity: finding.Warning, Path: "spec.x", Message: "image \"https://ana:sesame-0123@git.example.com/\u202etxt.exe\" has\x1b[31m no tag"}},
		}, nil
	})
	s.wait(20)
	want := `train: It was admitted without a whole review; not decided: policy max: it reads https://[masked]@git.example.com/a.git:
[odd] spec.x: image "https://[masked]@git.example.com/txt.exe" has [31m no tag
Warning ReviewedLate on train: It was admitted without a whole review; not decided: policy max: it reads https://[masked]@git.example.com/a.git. [odd] spec.x: image "https://[masked]@git.example.com/txt.exe" has [31m no tag
signalbox_reviewed_late_total{decision="unchecked"} 1
`
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Errorf("what is told (-want +got):\n%s", diff)
	}
}

// What cannot be decided, however long it takes, is said where the namespace enforces, and counted.
func TestWhatStaysUndecidedIsSaid(t *testing.T) {
	padded := func(_ context.Context, _ preflight.Request) (preflight.Report, error) {
		return preflight.Report{Decision: preflight.Allowed, Undecided: []string{"max: spec.x could not be read", "whole: spec.x could not be read"}}, nil
	}
	broken := func(context.Context, preflight.Request) (preflight.Report, error) { panic("of the test") } //nolint:forbidigo // it is the fault
	cases := map[string]struct {
		mode   string
		review reviewFunc
		want   string
	}{
		"policies of a namespace that enforces": {preflight.ModeEnforce, padded, `train: It was admitted without a whole review; not decided: policies max, whole: spec.x could not be read
Warning ReviewedLate on train: It was admitted without a whole review; not decided: policies max, whole: spec.x could not be read.
signalbox_reviewed_late_total{decision="unchecked"} 1
`},
		"policies that only warn": {preflight.ModeWarn, padded, "signalbox_reviewed_late_total{decision=\"allowed\"} 1\n"},
		"everything": {preflight.ModeWarn, broken, `Warning ReviewedLate on train: It was admitted without a whole review, and could not be reviewed since: the review panicked: of the test
signalbox_reviewed_late_total{decision="unchecked"} 1
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSwept(t, tc.mode, stored("train", time.Minute))
			s.sweep.o.Reviewer = tc.review
			s.wait(60)
			if diff := cmp.Diff(tc.want, s.told()); diff != "" {
				t.Errorf("what is told (-want +got):\n%s", diff)
			}
		})
	}
}

// A review that fails is tried again, and given up at the last try.
func TestALateReviewIsTriedSoOften(t *testing.T) {
	for fails, given := range map[int]bool{mostTries - 1: false, mostTries: true} {
		s := newSwept(t, preflight.ModeEnforce, stored("train", time.Minute))
		tries := 0
		s.sweep.o.Reviewer = reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
			if tries++; tries <= fails {
				panic("of the test") //nolint:forbidigo // it is the fault
			}
			return preflight.Report{Decision: preflight.Allowed}, nil
		})
		s.wait(60)
		if got := s.told(); tries != mostTries || strings.Contains(got, "could not be reviewed since") != given {
			t.Errorf("of %d tries %d fail; it is given up: %v; said is:\n%s", tries, fails, given, got)
		}
	}
}

// An author may fill all the 256 KiB that annotations of an object may have.
func TestAJobWithoutRoomForAnAnnotationHasItsEvent(t *testing.T) {
	s := newSwept(t, preflight.ModeEnforce, stored("train", time.Minute))
	s.jobs.PrependReactor("patch", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInvalid(schema.GroupKind{Kind: "PyTorchJob"}, "train", field.ErrorList{field.TooLong(field.NewPath("metadata.annotations"), "", 256<<10)})
	})
	s.wait(40)
	if got := s.told(); !strings.Contains(got, "Warning WouldHaveBeenDenied on train: ") || !strings.Contains(got, `decision="denied"`) {
		t.Errorf("what is told:\n%s", got)
	}
}

// What would be said can be known beforehand, and written by an author who wants that nobody hears of it.
func TestAnAnnotationOfItsAuthorSilencesNothing(t *testing.T) {
	forged := "It was admitted without a whole review; it would have been denied by max:\n[max] spec: too many\n[odd] spec.x: x is odd"
	s := newSwept(t, preflight.ModeEnforce, stored("train", time.Minute, func(u *unstructured.Unstructured) {
		u.SetAnnotations(map[string]string{ReviewAnnotation: forged})
	}))
	s.wait(20)
	want := "train: " + forged + `
Warning WouldHaveBeenDenied on train: It was admitted without a whole review; it would have been denied by max. [max] spec: too many [odd] spec.x: x is odd
signalbox_reviewed_late_total{decision="denied"} 1
`
	if diff := cmp.Diff(want, s.told()); diff != "" {
		t.Errorf("what is told (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotReviewedLate(t *testing.T) {
	cases := map[string]struct {
		job    *unstructured.Unstructured
		before func(*swept, *unstructured.Unstructured)
	}{
		"reviewed by this process": {stored("train", time.Minute), func(s *swept, u *unstructured.Unstructured) { s.known.add(stateOf(u), nil) }},
		"reviewed by another": {stored("train", time.Minute), func(s *swept, u *unstructured.Unstructured) {
			other := NewReviewed(s.kube, Namespace, logr.Discard())
			other.replica, other.now = "replica-other", s.known.now
			other.add(stateOf(u), nil)
			if err := other.tell(s.t.Context()); err != nil {
				s.t.Fatal(err)
			}
		}},
		"there before Signalbox was":      {stored("train", -time.Minute), nil},
		"of a namespace that is excluded": {stored("train", time.Minute, func(u *unstructured.Unstructured) { u.SetNamespace("sandbox") }), nil},
		"of a namespace that is off":      {stored("train", time.Minute, func(u *unstructured.Unstructured) { u.SetNamespace("quiet") }), nil},
		"being deleted": {stored("train", time.Minute, func(u *unstructured.Unstructured) {
			u.SetDeletionTimestamp(&metav1.Time{Time: installedAt.Add(time.Hour)})
		}), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSwept(t, preflight.ModeEnforce, tc.job)
			if tc.before != nil {
				tc.before(s, tc.job)
			}
			s.wait(40)
			if got := s.told(); got != "" {
				t.Errorf("it was reviewed:\n%s", got)
			}
		})
	}
}

// Of a part of a stored job nothing is said but a denial: who wrote the owner is not known. An owner that is
// not stored under its UID is a claim. So is a status: a job that has ended may be made to run again. One that is deleted
// goes on as long as a finalizer of its author's holds it, where its operator does not mind.
func TestPartsAndEndedJobsAreReviewedLateForDenials(t *testing.T) {
	owned := func(by types.UID) *unstructured.Unstructured {
		return stored("train", time.Minute, func(u *unstructured.Unstructured) {
			u.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "kubeflow.org/v1", Kind: "PyTorchJob", Name: "parent", UID: by, Controller: new(true)}})
		})
	}
	parent := stored("parent", -time.Hour)
	ended := stored("train", time.Minute, func(u *unstructured.Unstructured) {
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Succeeded", "status": "True"}}}
	})
	held := stored("train", time.Minute, func(u *unstructured.Unstructured) {
		u.SetDeletionTimestamp(&metav1.Time{Time: installedAt.Add(time.Hour)})
		u.SetFinalizers([]string{"example.com/mine"})
	})
	cases := map[string]struct {
		mode string
		job  *unstructured.Unstructured
		want string
	}{
		"deleted and held, with findings": {preflight.ModeWarn, held, ""},
		"deleted and held, denied":        {preflight.ModeEnforce, held, WouldHaveBeenDenied},
		"a part, with findings":           {preflight.ModeWarn, owned(parent.GetUID()), ""},
		"a part, denied":                  {preflight.ModeEnforce, owned(parent.GetUID()), WouldHaveBeenDenied},
		"a claim, with findings":          {preflight.ModeWarn, owned("0001"), ReviewedLate},
		"ended, with findings":            {preflight.ModeWarn, ended, ""},
		"ended, denied":                   {preflight.ModeEnforce, ended, WouldHaveBeenDenied},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newSwept(t, tc.mode, tc.job, parent)
			s.sweep.o.Reviewer = reviewFunc(func(ctx context.Context, req preflight.Request) (preflight.Report, error) {
				if req.Object.GetDeletionTimestamp() != nil { // as the real one does
					return preflight.Report{Decision: preflight.Allowed}, nil
				}
				return denying(ctx, req)
			})
			s.wait(20)
			got := s.told()
			if tc.want == "" && strings.Contains(got, "Warning") || !strings.Contains(got, tc.want) {
				t.Errorf("told %q; want %q", got, tc.want)
			}
		})
	}
}

func TestAJobThatWasCorrectedLosesItsNote(t *testing.T) {
	s := newSwept(t, preflight.ModeWarn, stored("train", time.Minute))
	s.wait(20)
	mended, err := s.jobs.Resource(pytorch).Namespace("ml").Get(t.Context(), "train", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if mended.GetAnnotations()[ReviewAnnotation] == "" {
		t.Fatal("nothing stands on the job")
	}
	if err := unstructured.SetNestedField(mended.Object, "2", "spec", "nprocPerNode"); err != nil {
		t.Fatal(err)
	}
	s.known.add(stateOf(mended), nil) // by the webhook
	if _, err := s.jobs.Resource(pytorch).Namespace("ml").Update(t.Context(), mended, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until("the update is seen", func() bool { return s.seen.all()[0].state == stateOf(mended) })
	s.wait(5)
	if got := s.told(); strings.HasPrefix(got, "train: ") {
		t.Errorf("the note of the job before stays:\n%s", got)
	}
}

// A spec that changed while no replica looked is found by the time that its manager of fields has.
func TestAChangeIsAsNewAsItsFields(t *testing.T) {
	changed := func(field string) *unstructured.Unstructured {
		return stored("train", -time.Hour, func(u *unstructured.Unstructured) {
			at := metav1.NewTime(installedAt.Add(time.Minute))
			u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: "Update", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"` + field + `":{}}`)}})
		})
	}
	for field, want := range map[string]bool{"f:spec": true, "f:status": false} {
		s := newSwept(t, preflight.ModeWarn, changed(field))
		s.wait(20)
		if got := s.told(); (got != "") != want {
			t.Errorf("%s: told %q; want something %v", field, got, want)
		}
	}
}

// What counts as reviewed: an answer that lacks nothing, about an object that will be stored.
func TestOnlyWholeReviewsCount(t *testing.T) {
	withUID := func(r *admissionv1.AdmissionRequest) {
		r.Object.Raw = []byte(strings.Replace(train, `"name":"train"`, `"name":"train","uid":"u1"`, 1))
	}
	whole := reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
		return preflight.Report{Decision: preflight.Warned, Ran: 1}, nil
	})
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	cases := map[string]struct {
		review  Reviewer
		view    world
		changes []change
		want    bool
	}{
		"a whole review": {review: whole, changes: []change{withUID}, want: true},
		// It is not stored. Whoever stores it later, while no webhook answers, has not been reviewed.
		"what was denied": {review: reviewFunc(denying), view: world{labels: map[string]map[string]string{"ml": {preflight.ModeLabel: preflight.ModeEnforce}}}, changes: []change{withUID}},
		"a dry run":       {review: whole, changes: []change{withUID, func(r *admissionv1.AdmissionRequest) { r.DryRun = new(true) }}},
		"a review that took too long": {review: reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
			<-over // it hears no context
			return preflight.Report{Decision: preflight.Allowed, Ran: 1}, nil
		}), changes: []change{withUID}},
		// Its labels say whether it enforces, and no labels are known: a namespace that was made a moment ago.
		"a namespace that has not been seen": {review: whole, changes: []change{withUID, func(r *admissionv1.AdmissionRequest) { r.Namespace = unseen }}},
		"a view that is not whole":           {review: whole, view: world{incomplete: "nodes"}, changes: []change{withUID}},
		"a policy that was not asked": {review: reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
			return preflight.Report{Decision: preflight.Allowed, Ran: 1, Undecided: []string{"max: no time"}}, nil
		}), changes: []change{withUID}},
		"an update of other things": {review: Stages(&preflight.Reviewer{}), changes: []change{withUID, func(r *admissionv1.AdmissionRequest) {
			r.Operation, r.OldObject = admissionv1.Update, r.Object
		}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			known := NewReviewed(fake.NewClientset(), Namespace, logr.Discard())
			req := request(tc.changes...)
			h := NewHandler(HandlerOptions{Reviewer: tc.review, View: tc.view, Reviewed: known, Log: logr.Discard()})
			h.Handle(t.Context(), admission.Request{AdmissionRequest: *req})
			u, err := decode(req.Object.Raw)
			if err != nil {
				t.Fatal(err)
			}
			if got := known.has(stateOf(u)); got != tc.want {
				t.Errorf("it counts as reviewed: %v; want %v", got, tc.want)
			}
			if _, got := known.Found(u); got != tc.want {
				t.Errorf("what it came to is known: %v; want %v", got, tc.want)
			}
		})
	}
}

func TestReviewedIsBounded(t *testing.T) {
	kube := fake.NewClientset()
	r := NewReviewed(kube, Namespace, logr.Discard())
	for i := range mostRemembered + 1 {
		r.add(state(i+1), nil)
	}
	if len(r.known) > mostRemembered || len(r.order) != len(r.known) || r.has(1) || !r.has(mostRemembered+1) {
		t.Errorf("%d states are remembered, %d in order; the first %v, the last %v", len(r.known), len(r.order), r.has(1), r.has(mostRemembered+1))
	}
	r.add(mostRemembered+2, &preflight.Report{Findings: []finding.Finding{{Check: "seen"}}})
	if !r.has(mostRemembered+2) || len(r.said) != 1 {
		t.Errorf("what was found is not known: %v", r.said)
	}
	for i := range mostSaid {
		r.add(state(1<<40+i), &preflight.Report{})
	}
	if _, known := r.said[mostRemembered+2]; known || len(r.said) != mostSaid {
		t.Errorf("of %d reviews is known what they found; want the newest %d", len(r.said), mostSaid)
	}
	for long, held := range map[int]bool{mostSaidText: true, mostSaidText + 1: false} { // as much as may be, and a byte more
		half := strings.Repeat("x", long/2)
		r.add(state(1<<50+long), &preflight.Report{Findings: []finding.Finding{
			{Check: "a", Severity: finding.Warning, Message: half}, {Check: "b", Severity: finding.Warning, Message: half[:long/2] + strings.Repeat("x", long%2)},
		}})
		if _, known := r.said[state(1<<50+long)]; known != held {
			t.Errorf("of %d bytes what was found is known: %v", long, known)
		}
	}
	if err := r.tell(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := kube.CoreV1().ConfigMaps(Namespace).Get(t.Context(), ReviewedName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.BinaryData[r.replica]); n != 8*(mostPublished+1) {
		t.Errorf("%d bytes are published; want the time and %d states", n, mostPublished)
	}
	others, _, err := r.others(t.Context())
	if err != nil || len(others) != mostPublished || !others[mostRemembered+2] || !others[1<<40] {
		t.Errorf("%d states are read back, %v", len(others), err)
	}
	actions := len(kube.Actions())
	if err := r.tell(t.Context()); err != nil || len(kube.Actions()) != actions {
		t.Errorf("it tells again what is told: %v", err)
	}
}

// A scale is reviewed with what is held of its job: an annotation that an author makes long is part of it.
func TestAnAnnotationIsHeldHoweverLong(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	u := stored("train", 0, func(u *unstructured.Unstructured) {
		u.SetAnnotations(map[string]string{"team": long, corev1.LastAppliedConfigAnnotation: long, "signalbox.dev/analysis": long, "signalbox.dev/healthy": "Yes"})
	})
	held, err := keepJob(kinds.For(u.GroupVersionKind()), nil)(u)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metadata struct{ Annotations map[string]string }
	}
	if err := json.Unmarshal(held.(*heldJob).text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"team": long, "signalbox.dev/healthy": "Yes"}, got.Metadata.Annotations); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
}

func TestAStateIsOfWhatIsReviewed(t *testing.T) {
	base := stored("train", 0)
	for what, tc := range map[string]struct {
		change func(*unstructured.Unstructured)
		same   bool
	}{
		"status":     {func(u *unstructured.Unstructured) { u.Object["status"] = map[string]any{"x": "y"} }, true},
		"annotation": {func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"a": "b"}) }, true},
		"no labels":  {func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{}) }, true},
		"label":      {func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"a": "b"}) }, false},
		"ignore":     {func(u *unstructured.Unstructured) { u.SetAnnotations(map[string]string{"signalbox.dev/ignore": "b"}) }, false},
		"spec":       {func(u *unstructured.Unstructured) { u.Object["spec"] = map[string]any{} }, false},
		"uid":        {func(u *unstructured.Unstructured) { u.SetUID("other") }, false},
	} {
		other := base.DeepCopy()
		tc.change(other)
		if got := stateOf(other) == stateOf(base); got != tc.same {
			t.Errorf("%s: the same state %v; want %v", what, got, tc.same)
		}
	}
}

// A replica may be killed at any moment: what it has reviewed is told at once, and under load every second.
func TestReviewsAreToldWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kube := fake.NewClientset()
		r := NewReviewed(kube, Namespace, logr.Discard())
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = r.Start(ctx) }()
		defer func() { stop(); <-ended }()
		published := func() int {
			got, err := kube.CoreV1().ConfigMaps(Namespace).Get(t.Context(), ReviewedName, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return max(0, len(got.BinaryData[r.replica])/8-1)
		}
		time.Sleep(time.Minute) //nolint:forbidigo // the clock is the test's
		synctest.Wait()
		if n := len(patches(kube)); n != 0 {
			t.Errorf("%d patches, and nothing is new", n)
		}
		r.add(1, nil)
		synctest.Wait()
		if got := published(); got != 1 {
			t.Errorf("%d states are told at once; want 1", got)
		}
		before := len(patches(kube))
		for i := range 1000 { // ten seconds of a hundred jobs each
			r.add(state(i+2), nil)
			time.Sleep(10 * time.Millisecond) //nolint:forbidigo // the clock is the test's
			synctest.Wait()
			if missing := i + 2 - published(); missing > 101 {
				t.Fatalf("%d reviews would be lost with the replica", missing)
			}
		}
		if n := len(patches(kube)) - before; n > 11 {
			t.Errorf("%d patches in ten seconds; want one a second", n)
		}
	})
}

func patches(kube *fake.Clientset) (out []clienttesting.Action) {
	for _, a := range kube.Actions() {
		if a.GetVerb() == "patch" {
			out = append(out, a)
		}
	}
	return out
}

func TestOfAReviewIsKeptWhatItWarnedOf(t *testing.T) {
	got := warnings([]finding.Finding{
		{Check: "a", Severity: finding.Warning, Message: "one", Remedy: "Do it.", Facts: []finding.Fact{{Name: "n", Value: int64(1)}}},
		{Check: "a", Severity: finding.Error, Message: "two"},
		{Check: "b", Severity: finding.Warning - 1, Message: "three"},
		{Check: "c", Severity: finding.Error, Message: "four"},
	})
	want := []finding.Finding{{Check: "a", Severity: finding.Warning, Message: "one"}, {Check: "c", Severity: finding.Error, Message: "four"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
