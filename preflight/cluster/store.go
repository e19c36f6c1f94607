package cluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// Store keeps a cluster's objects up to date, one change at a time, and turns them into
// snapshots. A change of a pod or a node costs what it changes; a snapshot costs O(nodes)
// machine words to copy, and works out only what changed since the last one: nodes, the
// classes they are in, the pieces of the lists of pods. The zero value is empty and ready
// to use. It keeps what it is given, which must not be changed, and is not safe for
// concurrent use; the snapshots are.
type Store struct {
	nodes   map[string]*nodeInfo
	order   []*nodeInfo     // of known nodes, by name
	touched []*nodeInfo     // since the last snapshot
	moved   bool            // a node has come or gone since
	line    classifiedNodes // of the last snapshot; to be copied
	classes nodeClasses
	marks   marks

	in               map[string]*namespacePods     // by namespace
	podsIn           map[string]*PodList           // of the last snapshot; nil: pods have changed
	nominated        map[types.NamespacedName]*Pod // that wait for room which others make
	yielding         int                           // pods on nodes that give way to pods without a priority
	antiAffine       map[types.NamespacedName]*Pod
	withAntiAffinity []*Pod // the same, of known nodes
	antiAffinityOK   bool   // withAntiAffinity is up to date
	sawPods          bool

	objects        objectIndex
	volumes        volumeIndex
	rules          *Rules
	complete       map[schema.GroupResource]bool
	unserved       map[schema.GroupResource]bool
	allocated      *heldDevices
	allocatedShown bool               // a snapshot has it
	autoscaler     string             // what may add nodes, where that is known beforehand
	absent         map[objectKey]bool // set before the first snapshot only
	byLabel        *labelColumns      // nil: a name or a label of a node has changed since
	labelKeys      map[string]int     // on how many nodes each label is
	shapes         shapeTable
	shaped         *nodeShapes // nil: nodes have come or gone, or offer something else
}

// SetNode adds or replaces a node.
func (l *Store) SetNode(n *corev1.Node) {
	b := l.nodeInfo(n.Name)
	switch {
	case b.object == nil:
		at, _ := l.find(n.Name)
		l.order = slices.Insert(l.order, at, b)
		l.byLabel, l.antiAffinityOK, l.moved = nil, false, true
	case !maps.Equal(b.object.Labels, n.Labels):
		l.byLabel = nil
	}
	if l.byLabel == nil {
		l.shaped = nil
		l.countLabels(b.object, -1)
		l.countLabels(n, 1)
	}
	l.marks.add(b, -1)
	before := b.allocatable
	if !b.take(n) {
		l.classes.offer(before, b.allocatable)
	}
	if l.shapes.join(b) {
		l.shaped = nil
	}
	l.marks.add(b, 1)
	l.touch(b)
}

// countLabels counts the labels of a node, or counts them no more.
func (l *Store) countLabels(node *corev1.Node, n int) {
	if node == nil {
		return
	}
	for key := range node.Labels {
		if put(&l.labelKeys, key, l.labelKeys[key]+n); l.labelKeys[key] == 0 {
			delete(l.labelKeys, key)
		}
	}
}

// DropNode forgets a node.
func (l *Store) DropNode(name string) {
	b := l.nodes[name]
	if b == nil || b.object == nil {
		return
	}
	at, _ := l.find(name)
	l.order = slices.Delete(l.order, at, at+1)
	l.byLabel, l.antiAffinityOK, l.moved = nil, false, true
	l.marks.add(b, -1)
	l.classes.offer(b.allocatable, nil)
	l.classes.leave(b)
	l.countLabels(b.object, -1)
	l.shapes.leave(b)
	l.shaped = nil
	b.object, b.node, b.allocatable = nil, nil, nil
	l.abandon(b)
}

// SetPod adds or replaces a pod.
func (l *Store) SetPod(p *corev1.Pod) { l.KeepPod(PodOf(p)) }

// KeepPod is SetPod for a pod of which only what counts was kept. It says whether that is news.
func (l *Store) KeepPod(p *Pod) (news bool) {
	l.sawPods = true
	key := types.NamespacedName{Namespace: p.Namespace(), Name: p.name}
	switch before := l.in[key.Namespace].get(key.Name); {
	case before == nil && p.ended, before != nil && before.Equal(p):
		return false
	}
	l.DropPod(key.Namespace, key.Name)
	if p.ended {
		return true
	}
	q := l.in[key.Namespace]
	if q == nil {
		q = &namespacePods{named: map[string]podEntry{}}
		put(&l.in, key.Namespace, q)
	}
	q.add(p)
	l.podsIn = nil
	if p.nominated != "" {
		put(&l.nominated, key, p)
	}
	if p.node != "" {
		b := l.nodeInfo(p.node)
		b.addPod(p)
		l.touch(b)
		l.volumes.use(b, p)
		l.yielding += bit(p.mayYield())
		if len(p.apart) > 0 {
			put(&l.antiAffine, key, p)
			l.antiAffinityOK = false
		}
	}
	return true
}

// DropPod forgets a pod.
func (l *Store) DropPod(namespace, name string) {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	q := l.in[namespace]
	p := q.get(name)
	if p == nil {
		return
	}
	q.drop(p)
	delete(l.nominated, key)
	if q.all.size == 0 {
		delete(l.in, namespace)
	}
	l.podsIn = nil
	if p.node != "" {
		b := l.nodes[p.node] // a node that a pod names is known
		b.removePod(p)
		l.yielding -= bit(p.mayYield())
		l.volumes.unuse(b, p)
		l.touch(b)
		l.abandon(b)
	}
	if l.antiAffine[key] != nil {
		delete(l.antiAffine, key)
		l.antiAffinityOK = false
	}
}

// SetObject adds or replaces any other object.
func (l *Store) SetObject(o *unstructured.Unstructured) {
	gvk := o.GroupVersionKind()
	l.setObject(gvk, Name{o.GetNamespace(), o.GetName(), gvk.Version}, readObject(gvk, o))
}

// KeepObject is SetObject with what is held already.
func (l *Store) KeepObject(o *Held) { l.setObject(o.gvk, o.name, o.object) }

func (l *Store) setObject(gvk schema.GroupVersionKind, name Name, now *object) {
	name = nameIn(now, name)
	before := l.objects.set(gvk, name, now)
	l.objectChanged(gvk.GroupKind(), name, before, now)
}

// DropObject forgets an object.
func (l *Store) DropObject(gvk schema.GroupVersionKind, namespace, name string) {
	l.dropObject(gvk.GroupKind(), Name{namespace, name, gvk.Version})
}

func (l *Store) dropObject(gk schema.GroupKind, name Name) {
	if before := l.objects.drop(gk, name); before != nil {
		l.objectChanged(gk, name, before, nil)
	}
}

// DropKind forgets all Objects of a kind, whatever their version.
func (l *Store) DropKind(gk schema.GroupKind) {
	for _, name := range l.ObjectNames(gk) {
		l.dropObject(gk, name)
	}
}

// Node is a node as it was given; nil: it is not known.
func (l *Store) Node(name string) *corev1.Node {
	if b := l.nodes[name]; b != nil {
		return b.object
	}
	return nil
}

// NodeNames are the nodes that are known.
func (l *Store) NodeNames() []Name {
	out := make([]Name, 0, len(l.order))
	for _, b := range l.order {
		out = append(out, Name{Name: b.name})
	}
	return out
}

// PodNames are the pods that are held: those that have not ended.
func (l *Store) PodNames() []Name {
	var out []Name
	for namespace, q := range l.in {
		for name := range q.named {
			out = append(out, Name{Namespace: namespace, Name: name})
		}
	}
	return out
}

// ObjectNames are the objects of a kind.
func (l *Store) ObjectNames(gk schema.GroupKind) []Name {
	list := l.objects.kinds[gk]
	out := make([]Name, 0, list.length())
	for name := range list.all() {
		out = append(out, name)
	}
	return out
}

// objectChanged follows a change of an object; nil: it is not there.
func (l *Store) objectChanged(gk schema.GroupKind, name Name, before, now *object) {
	if gk == ClaimGVK.GroupKind() {
		l.held(readAs[resourcev1.ResourceClaim](before), -1)
		l.held(readAs[resourcev1.ResourceClaim](now), 1)
	}
	l.volumesChanged(gk, name, before, now)
}

// SetComplete says whether the store holds all objects of a resource.
func (l *Store) SetComplete(r schema.GroupResource, whole bool) {
	if l.complete[r] == whole {
		return
	}
	complete := maps.Clone(l.complete)
	put(&complete, r, whole)
	l.complete = complete
}

// SetUnserved says that the API has none of a resource: what it stands for is not installed.
func (l *Store) SetUnserved(r schema.GroupResource) {
	unserved := maps.Clone(l.unserved)
	put(&unserved, r, true)
	l.unserved = unserved
}

// Snapshot is the view as it is now. incomplete says why it must not be trusted; empty:
// nothing speaks against it.
func (l *Store) Snapshot(taken time.Time, incomplete string) *Snapshot {
	if l.rules == nil || len(l.objects.stale) > 0 {
		l.rules = rulesOf(l.objects.kinds, l.rules, l.objects.stale)
		clear(l.objects.stale)
	}
	if l.allocated == nil {
		l.allocated = l.allocated.copy()
	}
	l.allocatedShown = true
	s := &Snapshot{
		taken: taken, incomplete: incomplete, objects: l.objects.share(), storage: l.volumes.share(), rules: l.rules,
		complete: l.complete, unserved: l.unserved, absent: l.absent, allocated: l.allocated,
		groupings: lru.New(mostGroupings), slots: lru.New(mostDrivers),
	}
	if s.incomplete == "" && len(l.order) == 0 && !l.complete[nodesResource] {
		s.incomplete = "the view of the cluster holds no nodes"
	}
	l.digest()
	s.classifiedNodes = l.line.copy()
	s.podsIn = l.listPods()
	s.podsKnown = l.sawPods || l.complete[PodsResource]
	if !l.complete[PodsResource] && len(s.podsIn) == 1 {
		for only := range s.podsIn {
			s.podsScope = only
		}
	}
	s.withAntiAffinity = l.listWithAntiAffinity()
	s.nominated, s.yielding = slices.SortedFunc(maps.Values(l.nominated), (*Pod).Compare), l.yielding
	s.autoscaler = cmp.Or(l.autoscaler, autoscalerOf(autoscalerIn(l.objects.kinds), &l.marks))
	if l.byLabel == nil {
		l.byLabel = labelColumnsOf(len(l.order), maps.Clone(l.labelKeys))
	}
	s.byLabel = l.byLabel
	s.shapes = l.nodeShapes()
	s.silent = l.marks.silent
	s.lacking = l.marks.lacking > 0
	return s
}

// PodsResource is the resource of pods, as SetComplete takes it.
var (
	nodesResource = schema.GroupResource{Resource: "nodes"}
	PodsResource  = schema.GroupResource{Resource: "pods"}
)

// nodeInfo finds a node, known or not, or makes room for it.
func (l *Store) nodeInfo(name string) *nodeInfo {
	b := l.nodes[name]
	if b == nil {
		b = &nodeInfo{name: name}
		put(&l.nodes, name, b)
	}
	return b
}

// abandon forgets a node that is neither known nor named by a pod.
func (l *Store) abandon(b *nodeInfo) {
	if b.object == nil && len(b.pods) == 0 {
		delete(l.nodes, b.name)
	}
}

// touch marks a node that the next snapshot has to look at.
func (l *Store) touch(b *nodeInfo) {
	if !b.touched {
		b.touched = true
		l.touched = append(l.touched, b)
	}
}

// find is where a known node is in the order, or would be.
func (l *Store) find(name string) (int, bool) {
	return slices.BinarySearchFunc(l.order, name, func(b *nodeInfo, name string) int { return strings.Compare(b.name, name) })
}

// digest works out the nodes that were touched.
func (l *Store) digest() {
	work := l.touched
	if l.classes.reset() {
		work, l.moved = l.order, true
	}
	for _, b := range l.touched {
		b.touched = false
	}
	for _, b := range work {
		if b.object != nil {
			if !b.volumesKnown {
				l.digestVolumes(b)
			}
			b.digest()
			l.classes.join(b)
		}
	}
	if l.moved {
		work, l.moved = l.order, false
		l.line.nodes, l.line.classOf = make([]*Node, len(l.order)), make([]int32, len(l.order))
		for at, b := range l.order {
			b.at = at
		}
	}
	for _, b := range work {
		if b.object != nil {
			l.line.nodes[b.at], l.line.classOf[b.at] = b.node, b.class.slot
		}
	}
	l.line.classes, l.line.index = l.classes.slots, l.classes.index
	clear(l.touched)
	l.touched = l.touched[:0]
}

func (l *Store) listPods() map[string]*PodList {
	if l.podsIn == nil {
		l.podsIn = make(map[string]*PodList, len(l.in))
		for namespace, q := range l.in {
			l.podsIn[namespace] = q.show()
		}
	}
	return l.podsIn
}

// listWithAntiAffinity are the pods on known nodes that keep others away.
func (l *Store) listWithAntiAffinity() []*Pod {
	if !l.antiAffinityOK {
		l.withAntiAffinity, l.antiAffinityOK = make([]*Pod, 0, len(l.antiAffine)), true
		for _, p := range l.antiAffine {
			if l.nodes[p.node].object != nil {
				l.withAntiAffinity = append(l.withAntiAffinity, p)
			}
		}
	}
	return l.withAntiAffinity
}

// Fork is an empty store with the objects of a snapshot, to which nodes and pods are yet to
// come. A question is tried on it.
func (s *Snapshot) Fork() *Store {
	return &Store{
		objects: indexOf(s.objects), volumes: volumesOf(s.storage), rules: s.rules, complete: s.complete,
		autoscaler: s.autoscaler, sawPods: s.podsKnown, allocated: s.allocated, allocatedShown: true,
	}
}

func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}
