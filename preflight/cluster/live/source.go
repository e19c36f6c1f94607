package live

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

var (
	nodes      = schema.GroupResource{Resource: "nodes"}
	pods       = schema.GroupResource{Resource: "pods"}
	namespaces = schema.GroupResource{Resource: "namespaces"}
)

// source is one resource that is followed.
type source struct {
	name     string // as messages call it: trainingruntimes.trainer.kubeflow.org
	resource schema.GroupResource
	version  string
	kind     schema.GroupVersionKind
	informer cache.SharedIndexInformer
	trim     cache.TransformFunc
	set      func(*cluster.Store, any)
	drop     func(*cluster.Store, any)
	stop     context.CancelFunc
	handled  func() bool // the first list is in the store
	required bool        // without it no number can be trusted: only a refusal ends the wait for it
	partial  bool        // only some objects are followed: never whole
	problem  error       // why it cannot be read; nil: it can, or nobody knows yet
}

// settled says that there is nothing to wait for any more.
func (s *source) settled() bool {
	if s.handled() {
		return true
	}
	if s.required {
		return apierrors.IsForbidden(s.problem) || apierrors.IsUnauthorized(s.problem)
	}
	return s.problem != nil
}

// whole says that all objects of the resource are in the store.
func (s *source) whole() bool { return s.handled() && s.problem == nil && !s.partial }

// builtin are the resources that every cluster serves and the fit cannot do without, and
// the two ConfigMaps that say more about a cluster than its kinds.
func (l *Live) builtin() []*source {
	api, keep := l.clients.Kube.CoreV1(), keepPods()
	return []*source{
		{
			name: "nodes", resource: nodes, required: true, trim: trimNode,
			informer: informer(l.clients.Kube, &corev1.Node{}, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return api.Nodes().List(ctx, o)
			}, api.Nodes().Watch),
			set:  func(to *cluster.Store, o any) { as(o, to.SetNode) },
			drop: func(to *cluster.Store, o any) { as(o, func(n *corev1.Node) { to.DropNode(n.Name) }) },
		},
		{
			name: "pods", resource: pods, required: true, trim: keep,
			informer: cache.NewSharedIndexInformer(podSource(l.clients.Kube, &cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
					return api.Pods("").List(ctx, o)
				}, WatchFuncWithContext: api.Pods("").Watch,
			}, keep), &corev1.Pod{}, 0, cache.Indexers{}),
			set: func(to *cluster.Store, o any) { as(o, func(p *heldPod) { to.KeepPod(p.pod) }) },
			drop: func(to *cluster.Store, o any) {
				as(o, func(p *heldPod) { to.DropPod(p.pod.Namespace(), p.pod.Name()) })
			},
		},
		{
			name: "namespaces", resource: namespaces, required: true, trim: trimNamespace,
			informer: informer(l.clients.Kube, &corev1.Namespace{}, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return api.Namespaces().List(ctx, o)
			}, api.Namespaces().Watch),
			set: func(to *cluster.Store, o any) {
				as(o, func(n *corev1.Namespace) { to.SetObject(namespaceObject(n)) })
			},
			drop: func(to *cluster.Store, o any) {
				as(o, func(n *corev1.Namespace) { to.DropObject(namespaceKind, "", n.Name) })
			},
		},
		// The cluster-autoscaler shows itself here (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md).
		l.configMap("kube-system", "cluster-autoscaler-status"),
		l.configMap(cluster.ShapesNamespace, cluster.ShapesName),
	}
}

// configMap follows one ConfigMap by its name: no other is read.
func (l *Live) configMap(namespace, name string) *source {
	api := l.clients.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace)
	s := dynamicSource(l.clients.Dynamic, api, schema.GroupResource{Resource: "configmaps/" + name}, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "metadata.name="+name)
	s.name, s.partial = "the configmap "+name, true
	return s
}

// dynamicSource follows any kind as it is written. only is a field selector; empty: all.
func dynamicSource(client dynamic.Interface, api dynamic.ResourceInterface, resource schema.GroupResource, kind schema.GroupVersionKind, only string) *source {
	narrow := func(o metav1.ListOptions) metav1.ListOptions {
		if only != "" {
			o.FieldSelector = only
		}
		return o
	}
	trim := trimObject
	if resource.Resource == "validatingwebhookconfigurations" {
		trim = trimWebhooks
	}
	return &source{
		name: resource.String(), resource: resource, version: kind.Version, kind: kind, trim: trim,
		informer: informer(client, &unstructured.Unstructured{},
			func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return api.List(ctx, narrow(o))
			},
			func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return api.Watch(ctx, narrow(o))
			}),
		set:  func(to *cluster.Store, o any) { as(o, to.KeepObject) },
		drop: func(to *cluster.Store, o any) { as(o, to.ForgetObject) },
	}
}

// informer follows without a resync: nothing here forgets. The client says whether it
// can stream the first list through the watch (a fake one cannot).
func informer(
	client any,
	of runtime.Object,
	list func(context.Context, metav1.ListOptions) (runtime.Object, error),
	follow func(context.Context, metav1.ListOptions) (watch.Interface, error),
) cache.SharedIndexInformer {
	door := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: list, WatchFuncWithContext: follow}, client)
	return cache.NewSharedIndexInformer(door, of, 0, cache.Indexers{})
}

// as calls a function with an object of its type, and does nothing with any other.
func as[T any](object any, do func(T)) {
	if v, ok := object.(T); ok {
		do(v)
	}
}
