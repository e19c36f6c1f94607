package live

import (
	"context"
	"slices"

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
	from     cache.ListerWatcher
	of       runtime.Object // what comes
	trim     cache.TransformFunc
	set      func(*cluster.Store, any) (news bool)
	drop     func(*cluster.Store, cluster.Name)
	held     func(*cluster.Store) []cluster.Name // what the store has of it
	stop     context.CancelFunc
	handled  func() bool // the first list is in the store
	required bool        // without it no number can be trusted: only a refusal ends the wait for it
	partial  bool        // only some objects are followed: never whole
	problem  error       // why it cannot be read; nil: it can, or that is not known yet
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
			name: "nodes", resource: nodes, required: true, of: &corev1.Node{}, trim: keepNodes(),
			from: door(l.clients.Kube, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return api.Nodes().List(ctx, o)
			}, api.Nodes().Watch),
			set: func(to *cluster.Store, o any) bool {
				return as(o, func(n *corev1.Node) bool {
					before := to.Node(n.Name)
					news := before == nil || !unchanged(before, n)
					if news {
						to.SetNode(n)
					}
					return news
				})
			},
			drop: func(to *cluster.Store, gone cluster.Name) { to.DropNode(gone.Name) },
			held: (*cluster.Store).NodeNames,
		},
		{
			name: "pods", resource: pods, required: true, of: &corev1.Pod{}, trim: keep,
			from: PodSource(l.clients.Kube, &cache.ListWatch{
				ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
					return api.Pods("").List(ctx, o)
				}, WatchFuncWithContext: api.Pods("").Watch,
			}, keep),
			set:  func(to *cluster.Store, o any) bool { return as(o, func(p *heldPod) bool { return to.KeepPod(p.pod) }) },
			drop: func(to *cluster.Store, gone cluster.Name) { to.DropPod(gone.Namespace, gone.Name) },
			held: (*cluster.Store).PodNames,
		},
		{
			name: "namespaces", resource: namespaces, kind: namespaceKind, required: true, of: &corev1.Namespace{}, trim: trimNamespace,
			from: door(l.clients.Kube, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return api.Namespaces().List(ctx, o)
			}, api.Namespaces().Watch),
			set: func(to *cluster.Store, o any) bool {
				return as(o, func(n *corev1.Namespace) bool {
					labels := n.Labels
					if labels == nil {
						labels = map[string]string{}
					}
					l.labels.Store(n.Name, labels)
					to.SetObject(namespaceObject(n))
					return true
				})
			},
			drop: func(to *cluster.Store, gone cluster.Name) {
				l.labels.Delete(gone.Name)
				to.DropObject(namespaceKind, "", gone.Name)
			},
			held: func(of *cluster.Store) []cluster.Name { return of.ObjectNames(namespaceKind.GroupKind()) },
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
	s.held = func(of *cluster.Store) []cluster.Name {
		return slices.DeleteFunc(of.ObjectNames(s.kind.GroupKind()), func(n cluster.Name) bool { return n.Namespace != namespace || n.Name != name })
	}
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
		name: resource.String(), resource: resource, version: kind.Version, kind: kind, of: &unstructured.Unstructured{}, trim: trim,
		from: door(client,
			func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				return api.List(ctx, narrow(o))
			},
			func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return api.Watch(ctx, narrow(o))
			}),
		set: func(to *cluster.Store, o any) bool {
			return as(o, func(held *cluster.Held) bool { to.KeepObject(held); return true })
		},
		drop: func(to *cluster.Store, gone cluster.Name) {
			to.DropObject(kind.GroupKind().WithVersion(gone.Version), gone.Namespace, gone.Name)
		},
		held: func(of *cluster.Store) []cluster.Name { return of.ObjectNames(kind.GroupKind()) },
	}
}

// door lists and watches. The client says whether it can stream the first list through the watch (a fake one cannot).
func door(
	client any,
	list func(context.Context, metav1.ListOptions) (runtime.Object, error),
	follow func(context.Context, metav1.ListOptions) (watch.Interface, error),
) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{ListWithContextFunc: list, WatchFuncWithContext: follow}, client)
}

// as calls a function with an object of its type, and does nothing with any other.
func as[T any](object any, do func(T) bool) bool {
	v, ok := object.(T)
	return ok && do(v)
}
