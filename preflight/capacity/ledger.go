package capacity

import (
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Ledger keeps a cluster's objects up to date, one change at a time, and turns them
// into snapshots. A change costs O(1); a snapshot costs O(nodes), and O(pods) only on
// nodes and in namespaces that changed since the last one. The zero value is empty and
// ready to use. It keeps what it is given, expects nobody to change it, and is not safe
// for concurrent use; the snapshots are.
type Ledger struct {
	nodes    map[string]*corev1.Node
	digested map[string]*Node // of nodes that did not change
	pods     map[types.NamespacedName]*podRecord
	on       map[string]map[types.NamespacedName]*podRecord // by node
	in       map[string]map[types.NamespacedName]*podRecord // by namespace
	listed   map[string]*residents                          // of namespaces that did not change
	objects  map[objectKey]*unstructured.Unstructured
	shared   bool // objects belongs to a snapshot too: copy before writing
	book     *book
	stale    bool // objects that the book reads have changed
	complete map[schema.GroupResource]bool
	sawPods  bool
	byLabel  *labelColumns // nil: a name or a label of a node has changed since
}

// SetNode adds or replaces a node.
func (l *Ledger) SetNode(n *corev1.Node) {
	if was, ok := l.nodes[n.Name]; !ok || !maps.Equal(was.Labels, n.Labels) {
		l.byLabel = nil
	}
	put(&l.nodes, n.Name, n)
	delete(l.digested, n.Name)
}

// DropNode forgets a node.
func (l *Ledger) DropNode(name string) {
	l.byLabel = nil
	delete(l.nodes, name)
	delete(l.digested, name)
}

// SetPod adds or replaces a pod.
func (l *Ledger) SetPod(p *corev1.Pod) {
	l.sawPods = true
	key := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
	l.DropPod(p.Namespace, p.Name)
	r := newPodRecord(p)
	if r == nil {
		return
	}
	put(&l.pods, key, r)
	putIn(&l.in, p.Namespace, key, r)
	delete(l.listed, p.Namespace)
	if r.node != "" {
		putIn(&l.on, r.node, key, r)
		delete(l.digested, r.node)
	}
}

// DropPod forgets a pod.
func (l *Ledger) DropPod(namespace, name string) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	r, ok := l.pods[key]
	if !ok {
		return
	}
	delete(l.pods, key)
	dropIn(l.in, namespace, key)
	dropIn(l.on, r.node, key)
	delete(l.listed, namespace)
	delete(l.digested, r.node)
}

// SetObject adds or replaces any other object.
func (l *Ledger) SetObject(o *unstructured.Unstructured) {
	l.own()
	l.stale = l.stale || booked(o.GroupVersionKind().GroupKind())
	put(&l.objects, keyOf(o), o)
}

// DropObject forgets an object.
func (l *Ledger) DropObject(gvk schema.GroupVersionKind, namespace, name string) {
	l.own()
	l.stale = l.stale || booked(gvk.GroupKind())
	delete(l.objects, objectKey{gvk, namespace, name})
}

// DropKind forgets all objects of a kind, whatever their version.
func (l *Ledger) DropKind(gk schema.GroupKind) {
	l.own()
	l.stale = l.stale || booked(gk)
	maps.DeleteFunc(l.objects, func(key objectKey, _ *unstructured.Unstructured) bool { return key.gvk.GroupKind() == gk })
}

// SetComplete says whether the ledger holds all objects of a resource.
func (l *Ledger) SetComplete(r schema.GroupResource, whole bool) {
	if l.complete[r] == whole {
		return
	}
	complete := maps.Clone(l.complete)
	put(&complete, r, whole)
	l.complete = complete
}

// Snapshot is the view as it is now. incomplete says why it must not be trusted; empty:
// nothing speaks against it.
func (l *Ledger) Snapshot(taken time.Time, incomplete string) *Snapshot {
	s := &Snapshot{taken: taken, incomplete: incomplete, objects: l.objects, complete: l.complete}
	l.shared = true
	if s.incomplete == "" && len(l.nodes) == 0 && !l.complete[nodesResource] {
		s.incomplete = "the snapshot holds no nodes"
	}
	s.nodes = l.digestNodes()
	s.podsIn = l.listPods()
	s.podsKnown = l.sawPods || l.complete[podsResource]
	if !l.complete[podsResource] && len(s.podsIn) == 1 {
		for only := range s.podsIn {
			s.podsScope = only
		}
	}
	s.guarded = guardedOf(s.nodes)
	s.autoscaler = autoscalerOf(s)
	s.deviceClasses = deviceClassesOf(s)
	if l.book == nil || l.stale {
		l.book, l.stale = bookOf(l.objects, l.book), false
	}
	s.book = l.book
	s.cols = columnsOf(s.nodes)
	if l.byLabel == nil {
		l.byLabel = &labelColumns{}
	}
	s.byLabel = l.byLabel
	s.silent = countFunc(s.nodes, func(n *Node) bool { return n.silent })
	s.lacking = slices.ContainsFunc(s.nodes, func(n *Node) bool { return !n.Ready || n.Cordoned })
	return s
}

var (
	nodesResource = schema.GroupResource{Resource: "nodes"}
	podsResource  = schema.GroupResource{Resource: "pods"}
)

func (l *Ledger) digestNodes() []*Node {
	out := make([]*Node, 0, len(l.nodes))
	for name, object := range l.nodes {
		n, ok := l.digested[name]
		if !ok {
			n = newNode(object, byName(l.on[name]))
			put(&l.digested, name, n)
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b *Node) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (l *Ledger) listPods() map[string]*residents {
	out := make(map[string]*residents, len(l.in))
	for namespace, pods := range l.in {
		there, ok := l.listed[namespace]
		if !ok {
			there = &residents{all: make([]*podRecord, 0, len(pods))}
			for _, p := range pods {
				there.all = append(there.all, p)
				if p.node == "" && p.object.DeletionTimestamp == nil {
					there.waiting = append(there.waiting, p)
				}
			}
			put(&l.listed, namespace, there)
		}
		out[namespace] = there
	}
	return out
}

// own makes the objects writable.
func (l *Ledger) own() {
	if l.shared {
		l.objects, l.shared = maps.Clone(l.objects), false
	}
}

func keyOf(o *unstructured.Unstructured) objectKey {
	return objectKey{o.GroupVersionKind(), o.GetNamespace(), o.GetName()}
}

func byName(pods map[types.NamespacedName]*podRecord) []*podRecord {
	return slices.SortedFunc(maps.Values(pods), (*podRecord).compare)
}

// guardedOf are the running pods that keep others away by required anti-affinity.
func guardedOf(nodes []*Node) []*podRecord {
	var out []*podRecord
	for _, n := range nodes {
		out = append(out, n.guarded...)
	}
	return out
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}

func putIn[K, L comparable, V any](m *map[K]map[L]V, k K, l L, v V) {
	inner := (*m)[k]
	put(&inner, l, v)
	put(m, k, inner)
}

func dropIn[K, L comparable, V any](m map[K]map[L]V, k K, l L) {
	delete(m[k], l)
	if len(m[k]) == 0 {
		delete(m, k)
	}
}
