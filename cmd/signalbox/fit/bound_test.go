package fit

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A deadline of more seconds than anybody lives is none.
func TestADeadlineThatIsForEverIsNone(t *testing.T) {
	began := time.Date(2026, 3, 4, 5, 0, 0, 0, time.UTC)
	for seconds, want := range map[int64]bool{0: false, 1: true, 1 << 32: true, 1<<32 + 1: false, 1<<63 - 1: false} {
		u := &unstructured.Unstructured{Object: map[string]any{
			"spec": map[string]any{"activeDeadlineSeconds": seconds}, "status": map[string]any{"startTime": began.Format(time.RFC3339)},
		}}
		bound, ok := boundOf(u, "spec.activeDeadlineSeconds", began)
		if ok != want || ok && bound.Rest != time.Duration(seconds)*time.Second {
			t.Errorf("of %d seconds: %v, %+v; want %v", seconds, ok, bound, want)
		}
	}
}
