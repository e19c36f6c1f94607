package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/turns"
)

// addAegis answers AegisDiagnosis objects as soon as the cluster serves them. One is answered at a time, and namespaces have
// their turns: an account that may create many must not have all reading of logs to itself, nor make others wait for all of them.
func addAegis(m manager.Manager, w *watcher, answers aegisAnswers) error {
	c, err := controller.NewTyped("aegis", m, controller.TypedOptions[types.NamespacedName]{
		Reconciler:              reconcile.TypedReconciler[types.NamespacedName](answers),
		MaxConcurrentReconciles: 1,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry),
		NewQueue:                aegisQueue,
	})
	if err != nil {
		return fmt.Errorf("set up controller: %w", err)
	}
	return m.Add(leading{func(ctx context.Context) error {
		ticker := time.NewTicker(max(w.Discovery, time.Second))
		defer ticker.Stop()
		said := false
		for {
			have := w.resources(aegisKind.GroupVersion().String())
			switch {
			case have[aegisResource] && have[aegisResource+"/status"]:
				u := &unstructured.Unstructured{}
				u.SetGroupVersionKind(aegisKind)
				return c.Watch(source.TypedKind(m.GetCache(), u, aegisHandler()))
			case have[aegisResource] && !said:
				said = true
				w.manager.GetLogger().Info("AegisDiagnosis objects are not answered: their CRD has no status subresource, " +
					"so that whoever may update one could write its answer; apply config/aegis/crd.yaml")
			}
			select {
			case <-ctx.Done():
				return nil
			case <-ticker.C:
			}
		}
	}})
}

// aegisHandler asks for an answer to whatever changed.
func aegisHandler() handler.TypedEventHandler[*unstructured.Unstructured, types.NamespacedName] {
	return handler.TypedEnqueueRequestsFromMapFunc(func(_ context.Context, u *unstructured.Unstructured) []types.NamespacedName {
		return []types.NamespacedName{{Namespace: u.GetNamespace(), Name: u.GetName()}}
	})
}

// aegisQueue is a queue in which namespaces have their turns.
func aegisQueue(name string, limiter workqueue.TypedRateLimiter[types.NamespacedName]) workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	order := turns.New(func(n types.NamespacedName) string { return n.Namespace }, nil)
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{
		Name: name,
		DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[types.NamespacedName]{
			Name: name, Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[types.NamespacedName]{Name: name, Queue: order}),
		}),
	})
}
