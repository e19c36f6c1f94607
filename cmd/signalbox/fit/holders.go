package fit

import (
	"context"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// timeLeft is how long a job may still run that holds what another one waits for: by when it started and how
// long it may run, as its kind writes both (spec.activeDeadlineSeconds, spec.runPolicy.activeDeadlineSeconds;
// status.startTime), and as Kueue bounds it. Not ok: it may run for ever, or that is not known.
func timeLeft(ctx context.Context, w *review.World) func(namespace, name string) (bound whatif.Bound, ok bool) {
	return func(namespace, name string) (bound whatif.Bound, ok bool) {
		for _, k := range kinds.All() {
			for _, gvk := range k.GVKs {
				operator := kinds.Of(job.Ref{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind})
				if operator == nil {
					continue
				}
				u := holder(ctx, w, gvk, namespace, name)
				if u == nil {
					continue
				}
				if bound, ok := boundOf(u, operator.Deadline, w.Now); ok {
					return bound, true
				}
			}
		}
		return whatif.Bound{}, false
	}
}

// holder is a job as the snapshot or the cluster has it; nil: neither does.
func holder(ctx context.Context, w *review.World, gvk schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	if u, _ := w.Cluster.Lookup(gvk, namespace, name); u != nil || w.Live == nil {
		return u
	}
	asked := &unstructured.Unstructured{}
	asked.SetGroupVersionKind(gvk)
	asked.SetNamespace(namespace)
	asked.SetName(name)
	return w.Live.Job(ctx, asked)
}

// Kueue ends what it has admitted for so many seconds, if it has the job at all. It counts from the admission,
// with what earlier ones used up; a job starts after its admission, so that its own start bounds the end from
// above (https://kueue.sigs.k8s.io/docs/concepts/workload/#maximum-execution-time).
const (
	kueueMost  = "kueue.x-k8s.io/max-exec-time-seconds"
	kueueQueue = "kueue.x-k8s.io/queue-name"
)

// boundOf is the nearest bound of a job's time.
func boundOf(u *unstructured.Unstructured, deadline job.Path, now time.Time) (bound whatif.Bound, ok bool) {
	text, _, _ := unstructured.NestedString(u.Object, "status", "startTime")
	began, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return whatif.Bound{}, false
	}
	take := func(seconds int64, field string) {
		const mostSeconds = 1 << 32 // more is for ever
		rest := began.Add(time.Duration(min(seconds, mostSeconds)) * time.Second).Sub(now)
		if seconds > 0 && seconds <= mostSeconds && (!ok || rest < bound.Rest) {
			bound, ok = whatif.Bound{Rest: rest, Field: field}, true
		}
	}
	if deadline != "" {
		switch n, _ := deadline.Resolve(u.Object); n := n.(type) {
		case int64:
			take(n, "activeDeadlineSeconds")
		case float64:
			take(int64(n), "activeDeadlineSeconds")
		}
	}
	labels := u.GetLabels()
	if seconds, err := strconv.ParseInt(labels[kueueMost], 10, 32); err == nil && labels[kueueQueue] != "" {
		take(seconds, kueueMost)
	}
	return bound, ok
}
