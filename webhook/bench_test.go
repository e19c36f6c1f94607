package webhook

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
)

// still is a view of many nodes that does not change.
type still struct{ snapshot *capacity.Snapshot }

func (s still) Snapshot() *capacity.Snapshot     { return s.snapshot }
func (still) Namespace(string) map[string]string { return map[string]string{} }

// BenchmarkHandle is one creation, from the decoded AdmissionReview to the answer, with
// all checks, the fit and the policies.
func BenchmarkHandle(b *testing.B) {
	set, err := check.NewSet(checks.All()...)
	if err != nil {
		b.Fatal(err)
	}
	opa, err := policies.Load(policies.Library())
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{100, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", n), func(b *testing.B) {
			var builder capacity.Builder
			builder.Complete(schema.GroupResource{Resource: "nodes"}, schema.GroupResource{Resource: "pods"})
			for i := range n {
				amounts := corev1.ResourceList{
					"cpu": resource.MustParse("96"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("110"), "nvidia.com/gpu": resource.MustParse("8"),
				}
				builder.Node(&corev1.Node{
					ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n%05d", i)},
					Status: corev1.NodeStatus{
						Allocatable: amounts, Capacity: amounts,
						Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
					},
				})
			}
			h := NewHandler(HandlerOptions{
				Reviewer: &preflight.Reviewer{Checks: set, Policies: opa}, View: still{builder.Snapshot(time.Time{})}, Deadline: time.Minute,
			})
			for b.Loop() {
				if resp := h.Handle(b.Context(), request0()); !resp.Allowed {
					b.Fatal(resp.Result.Message)
				}
			}
		})
	}
}

func request0() admission.Request { return admission.Request{AdmissionRequest: *request()} }
