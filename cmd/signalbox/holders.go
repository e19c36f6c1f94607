package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// timeLeft is how long a job may still run that holds what another one waits for: by when it started and how
// long it may run, as its kind writes both (spec.activeDeadlineSeconds, spec.runPolicy.activeDeadlineSeconds;
// status.startTime). Not ok: it may run for ever, or nobody can say.
func (w *world) timeLeft(ctx context.Context) func(namespace, name string) (rest time.Duration, ok bool) {
	return func(namespace, name string) (rest time.Duration, ok bool) {
		for _, k := range kinds.All() {
			for _, gvk := range k.GVKs {
				operator := kinds.Of(job.Ref{APIVersion: gvk.GroupVersion().String(), Kind: gvk.Kind})
				if operator == nil || operator.Deadline == "" {
					continue
				}
				u, _ := w.cluster.Lookup(gvk, namespace, name)
				if u == nil && w.live != nil {
					asked := &unstructured.Unstructured{}
					asked.SetGroupVersionKind(gvk)
					asked.SetNamespace(namespace)
					asked.SetName(name)
					u = w.live.job(ctx, asked)
				}
				if u == nil {
					continue
				}
				if at := deadlineOf(u, operator.Deadline); !at.IsZero() {
					return at.Sub(w.now), true
				}
			}
		}
		return 0, false
	}
}

func deadlineOf(u *unstructured.Unstructured, path job.Path) time.Time {
	v, err := path.Resolve(u.Object)
	if err != nil {
		return time.Time{}
	}
	var seconds int64
	switch n := v.(type) {
	case int64:
		seconds = n
	case float64:
		seconds = int64(n)
	}
	text, _, _ := unstructured.NestedString(u.Object, "status", "startTime")
	began, err := time.Parse(time.RFC3339, text)
	const mostSeconds = 1 << 32 // more is for ever
	if err != nil || seconds <= 0 || seconds > mostSeconds {
		return time.Time{}
	}
	return began.Add(time.Duration(seconds) * time.Second)
}
