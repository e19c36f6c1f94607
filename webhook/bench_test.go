package webhook

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// still is a view of many nodes that does not change.
type still struct{ snapshot *cluster.Snapshot }

func (s still) Snapshot() *cluster.Snapshot      { return s.snapshot }
func (still) Namespace(string) map[string]string { return map[string]string{} }

// BenchmarkHandle is one creation, from the decoded AdmissionReview to the answer, with
// all checks, the fit and the policies.
func BenchmarkHandle(b *testing.B) {
	for _, n := range []int{100, 5000, 15000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			h := benchHandler(b, n)
			for b.Loop() {
				if resp := h.Handle(b.Context(), request0()); !resp.Allowed {
					b.Fatal(resp.Result.Message)
				}
			}
		})
	}
}

// benchHandler answers with all checks, the fit on so many nodes, and the policies.
func benchHandler(b testing.TB, nodes int) *Handler {
	b.Helper()
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		b.Fatal(err)
	}
	opa, err := policies.Load(policies.Library())
	if err != nil {
		b.Fatal(err)
	}
	var builder cluster.Builder
	builder.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
	for i := range nodes {
		amounts := corev1.ResourceList{
			"cpu": resource.MustParse("96"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("110"), "nvidia.com/gpu": resource.MustParse("8"),
		}
		builder.Node(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%05d", i), Labels: map[string]string{
				corev1.LabelHostname: fmt.Sprintf("n%05d", i), corev1.LabelTopologyZone: fmt.Sprint("zone-", i%3), "nvidia.com/gpu.product": "H100",
			}},
			Status: corev1.NodeStatus{
				Allocatable: amounts, Capacity: amounts,
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
			},
		})
	}
	return NewHandler(HandlerOptions{
		Reviewer: Stages(&preflight.Reviewer{Checks: set, Policies: opa}), View: still{builder.Snapshot(time.Time{})}, Deadline: time.Minute,
	})
}

func request0() admission.Request { return admission.Request{AdmissionRequest: *request()} }

// BenchmarkMillion is the review of a job of a million pods, from the decoded
// AdmissionReview to the answer, on 5,000 nodes.
func BenchmarkMillion(b *testing.B) {
	h := benchHandler(b, 5000)
	req := request0()
	req.Object.Raw = bytes.Replace(req.Object.Raw, []byte(`"replicas":1`), []byte(`"replicas":1000000`), 1)
	if !bytes.Contains(req.Object.Raw, []byte("1000000")) {
		b.Fatalf("the request has no replicas to change: %s", req.Object.Raw)
	}
	b.Run("the_webhook's_whole_review", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			start := spent()
			if resp := h.Handle(b.Context(), req); !resp.Allowed {
				b.Fatal(resp.Result.Message)
			}
			took = append(took, spent()-start)
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
		b.ReportMetric(float64(took[(len(took)-1)*99/100].Nanoseconds()), "p99-ns")
	})
}

func TestAReviewTakesTheSameMemoryHoweverManyNodesThereAre(t *testing.T) {
	const mostBytes, rounds = 64_000 * raceFactor, 20
	taken := map[int]uint64{}
	for _, nodes := range []int{100, 15000} {
		h := benchHandler(t, nodes)
		h.Handle(t.Context(), request0()) // what a snapshot keeps is made
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rounds {
			h.Handle(t.Context(), request0())
		}
		runtime.ReadMemStats(&after)
		taken[nodes] = (after.TotalAlloc - before.TotalAlloc) / rounds
	}
	if taken[15000] > mostBytes || taken[15000] > 2*taken[100] {
		t.Errorf("a review takes %d bytes on 15,000 nodes and %d on 100; want at most %d, and at most twice as much", taken[15000], taken[100], mostBytes)
	}
}

// BenchmarkKeepJob is what each change of a job costs what follows jobs, once it is decoded.
func BenchmarkKeepJob(b *testing.B) {
	u, err := decode(request0().Object.Raw)
	if err != nil {
		b.Fatal(err)
	}
	at := metav1.NewTime(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))
	fields := `{"f:metadata":{"f:labels":{".":{},"f:team":{}}},"f:spec":{".":{},"f:pytorchReplicaSpecs":{".":{},"f:Master":{".":{},"f:replicas":{},"f:restartPolicy":{},"f:template":{".":{},"f:spec":{}}},` +
		`"f:Worker":{".":{},"f:replicas":{},"f:restartPolicy":{},"f:template":{".":{},"f:spec":{}}}}}}`
	u.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl-create", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "kubeflow.org/v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)},
		{Manager: "training-operator", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "kubeflow.org/v1", Time: &at, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:status":{".":{},"f:conditions":{}}}`)},
	})
	keep := keepJob(kinds.For(u.GroupVersionKind()), nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := keep(u.DeepCopy()); err != nil {
			b.Fatal(err)
		}
	}
}
