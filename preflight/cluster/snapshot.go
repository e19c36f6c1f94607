package cluster

import (
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/lru"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// NodeAt is the position of a node.
func (s *Snapshot) NodeAt(name string) (int, bool) {
	return slices.BinarySearchFunc(s.nodes, name, func(n *Node, name string) int { return strings.Compare(n.Name, name) })
}

// Snapshot is one view of a cluster; immutable, safe for concurrent use.
type Snapshot struct {
	classifiedNodes
	taken      time.Time
	incomplete string // why no number may be trusted; empty: complete enough

	podsKnown        bool
	podsScope        string              // the only namespace whose pods are in the view; empty: several, or declared whole
	podsIn           map[string]*PodList // by namespace; live pods only
	withAntiAffinity []*Pod              // live pods with required anti-affinity of their own
	nominated        []*Pod              // pods that wait for room which others make
	yielding         int                 // pods on nodes that give way to pods without a priority
	objects          Objects
	storage          *volumeLists
	rules            *Rules // what lies between jobs and nodes
	allocated        *heldDevices
	complete         map[schema.GroupResource]bool
	unserved         map[schema.GroupResource]bool // known not to be in the API at all
	absent           map[objectKey]bool            // known not to be there, without version; see Builder.Absent
	autoscaler       string                        // what may add nodes; empty: none was seen

	slots *lru.Cache // driver -> *slotRow

	lined     sync.Once
	cols      Columns       // once lined up
	groupings *lru.Cache    // label keys, joined -> *NodeGrouping
	byLabel   *labelColumns // shared by snapshots whose nodes have the same names and labels
	shapes    *nodeShapes   // which nodes offer the same
	silent    int           // nodes that say nothing about their health
	lacking   bool          // some nodes are not ready, take no pods or carry the taint of a condition
}

// Columns are the numbers of all nodes, made when first asked for. Read-only.
func (s *Snapshot) Columns() *Columns {
	s.lined.Do(func() { s.cols = s.makeColumns() })
	return &s.cols
}

// objectKey identifies an object of any kind.
type objectKey struct {
	gvk             schema.GroupVersionKind
	namespace, name string
}

// Lookup finds an object by kind and name. namespace is empty for cluster-scoped ones.
// An object that was not given is absent only where the view holds its resource whole. Of kinds of which there are very
// many (claims, volumes and what else is read as Claim and Volume read it) the object says no more than what it is called.
func (s *Snapshot) Lookup(gvk schema.GroupVersionKind, namespace, name string) (*unstructured.Unstructured, job.Presence) {
	if s == nil {
		return nil, job.Unknown
	}
	o, presence := s.find(gvk, namespace, name)
	if presence != job.Present {
		return nil, presence
	}
	return o.raw(gvk.GroupKind(), Name{namespace, name, gvk.Version}), job.Present
}

// find is Lookup with what was read of the object.
func (s *Snapshot) find(gvk schema.GroupVersionKind, namespace, name string) (*object, job.Presence) {
	list := s.objects[gvk.GroupKind()]
	if o, ok := list.Get(Name{namespace, name, gvk.Version}); ok {
		return o, job.Present
	}
	if s.absent[objectKey{gvk.GroupKind().WithVersion(""), namespace, name}] {
		return nil, job.Absent
	}
	if !s.Holds(ResourceOf(gvk)) {
		return nil, job.Unknown
	}
	// The same object under another version is there, though not in a shape we can hand out.
	for range list.called(namespace, name) {
		return nil, job.Unknown
	}
	return nil, job.Absent
}

// Objects are the objects of a kind in a namespace (all namespaces, if it is empty), by
// namespace and name. whole says that the view holds every object of that kind.
func (s *Snapshot) Objects(gk schema.GroupKind, namespace string) (objects []*unstructured.Unstructured, whole bool) {
	if s == nil {
		return nil, false
	}
	list := s.objects[gk]
	all := list.in(namespace)
	if namespace == "" {
		all, objects = list.all(), make([]*unstructured.Unstructured, 0, list.length())
	}
	for name, o := range all {
		objects = append(objects, o.raw(gk, name))
	}
	return objects, s.Holds(ResourceOf(gk.WithVersion("")))
}

// NamesOf are the names of the objects of a kind in a namespace, in their order.
func (s *Snapshot) NamesOf(gk schema.GroupKind, namespace string) []string {
	objects, _ := s.Objects(gk, namespace)
	names := make([]string, 0, len(objects))
	for _, o := range objects {
		names = append(names, o.GetName())
	}
	return names
}

// Holds says that the view has every object of a resource: what is not there is absent.
func (s *Snapshot) Holds(r schema.GroupResource) bool { return s != nil && s.complete[r] }

// Unserved says that the cluster's API is known to have no such resource: what reads it is not installed. False is
// no proof of the opposite.
func (s *Snapshot) Unserved(r schema.GroupResource) bool { return s != nil && s.unserved[r] }

// Nodes are the nodes by name. The slice and what it points at are read-only.
func (s *Snapshot) Nodes() []*Node {
	if s == nil {
		return nil
	}
	return s.nodes
}

// Bound says that a live pod with a node is in the view.
func (s *Snapshot) Bound(namespace, name string) bool {
	if s == nil || s.podsIn[namespace] == nil {
		return false
	}
	return s.podsIn[namespace].isBound(name)
}

// Taken is when the view was made.
func (s *Snapshot) Taken() time.Time { return s.taken }

// Incomplete is why no number may be trusted; empty when they may.
func (s *Snapshot) Incomplete() string {
	if s == nil {
		return "there is no view of the cluster"
	}
	return s.incomplete
}

// Cache is how many of something a snapshot keeps, and how many at most.
type Cache struct {
	Of         string
	Kept, Most int
}

// Caches are what a snapshot keeps of what it was asked.
func (s *Snapshot) Caches() []Cache {
	return []Cache{
		{"label columns", s.byLabel.made.Len(), mostColumns}, {"groupings of nodes", s.groupings.Len(), mostGroupings}, {"drivers", s.slots.Len(), mostDrivers},
	}
}

// Builder collects objects into a Snapshot. The zero value is ready to use. It keeps
// what it is given, which must not be changed afterwards.
type Builder struct {
	store Store
	why   string
}

// Node adds a node. The first node makes nodes known; see Complete.
func (b *Builder) Node(n *corev1.Node) { b.store.SetNode(n) }

// Pod adds a pod; finished pods and pods without a node take no room.
func (b *Builder) Pod(p *corev1.Pod) { b.store.SetPod(p) }

// KeepPod is Pod for a pod of which only what counts was kept.
func (b *Builder) KeepPod(p *Pod) { b.store.KeepPod(p) }

// Object adds any other object (claims, quotas, runtimes, priority classes …).
func (b *Builder) Object(o *unstructured.Unstructured) { b.store.SetObject(o) }

// KeepObject is Object with what is held already.
func (b *Builder) KeepObject(o *Held) { b.store.KeepObject(o) }

// Complete says that the view holds all Objects of a resource: what is not there is
// absent, not unknown.
func (b *Builder) Complete(resources ...schema.GroupResource) {
	for _, r := range resources {
		b.store.SetComplete(r, true)
	}
}

// Unserved says that the API has none of these resources.
func (b *Builder) Unserved(resources ...schema.GroupResource) {
	for _, r := range resources {
		b.store.SetUnserved(r)
	}
}

// Absent says that one object was asked for and is not there, although the view does
// not hold its resource whole.
func (b *Builder) Absent(gk schema.GroupKind, namespace, name string) {
	put(&b.store.absent, objectKey{gk.WithVersion(""), namespace, name}, true)
}

// Incomplete records why the view must not be trusted (caches not synced …).
func (b *Builder) Incomplete(why string) { b.why = why }

// Snapshot returns the view. The builder must not be used afterwards.
func (b *Builder) Snapshot(taken time.Time) *Snapshot { return b.store.Snapshot(taken, b.why) }

// ResourceOf is the resource of a kind by the API's naming rule (the plural in lower case).
func ResourceOf(gvk schema.GroupVersionKind) schema.GroupResource {
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	return plural.GroupResource()
}

// PodsKnown says that the view holds pods, or knows that there are none: what is used on
// the nodes is a number, not a guess.
func (s *Snapshot) PodsKnown() bool { return s != nil && s.podsKnown }
