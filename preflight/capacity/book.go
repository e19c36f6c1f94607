package capacity

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// book is what the objects say that stand between jobs and nodes, read once when they
// arrive: a fit only looks things up. It is immutable and shared by snapshots between
// which none of those objects changed.
type book struct {
	read map[*unstructured.Unstructured]any // what each object says, for the next book

	quotas     map[string][]*corev1.ResourceQuota // by namespace, then name
	ranges     map[string][]*corev1.LimitRange
	priorities map[string]*schedulingv1.PriorityClass
	fallback   *schedulingv1.PriorityClass // for pods that name none; nil: none in the view

	local   map[[2]string]*localQueue // by namespace and name
	cluster map[string]*clusterQueue
	cohorts map[string]*cohort
	flavors map[string]*resourceFlavor
	tree    *quotaTree

	volcano map[string]*volcanoQueue
	t9k     map[string][]*t9kQueue // by name; where they live is not documented
	pools   []*pool                // by name

	published published // devices

	unread map[string][]string // by namespace: what could not be read, and why
}

// Kinds that the book holds.
var (
	quotaKind     = schema.GroupKind{Kind: "ResourceQuota"}
	rangeKind     = schema.GroupKind{Kind: "LimitRange"}
	priorityKind  = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	localKind     = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "LocalQueue"}
	clusterKind   = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "ClusterQueue"}
	cohortKind    = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Cohort"}
	flavorKind    = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "ResourceFlavor"}
	volcanoKind   = schema.GroupKind{Group: "scheduling.volcano.sh", Kind: "Queue"}
	t9kQueueKind  = schema.GroupKind{Group: "scheduler.tensorstack.dev", Kind: "Queue"}
	sliceKind     = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"}
	bookedReaders = map[schema.GroupKind]func() any{
		quotaKind:    func() any { return &corev1.ResourceQuota{} },
		rangeKind:    func() any { return &corev1.LimitRange{} },
		priorityKind: func() any { return &schedulingv1.PriorityClass{} },
		localKind:    func() any { return &localQueue{} },
		clusterKind:  func() any { return &clusterQueue{} },
		cohortKind:   func() any { return &cohort{} },
		flavorKind:   func() any { return &resourceFlavor{} },
		volcanoKind:  func() any { return &volcanoQueue{} },
		t9kQueueKind: func() any { return &t9kQueue{} },
		nodePool:     func() any { return &nodePoolObject{} },
		sliceKind:    func() any { return &resourceSlice{} },
	}
)

// booked says whether the book reads objects of a kind.
func booked(gk schema.GroupKind) bool { return bookedReaders[gk] != nil }

// bookOf reads the objects; what an earlier book has read of the same objects is kept.
func bookOf(objects map[objectKey]*unstructured.Unstructured, before *book) *book {
	b := &book{
		read:   map[*unstructured.Unstructured]any{},
		quotas: map[string][]*corev1.ResourceQuota{}, ranges: map[string][]*corev1.LimitRange{}, priorities: map[string]*schedulingv1.PriorityClass{},
		local: map[[2]string]*localQueue{}, cluster: map[string]*clusterQueue{}, cohorts: map[string]*cohort{}, flavors: map[string]*resourceFlavor{},
		volcano: map[string]*volcanoQueue{}, t9k: map[string][]*t9kQueue{}, unread: map[string][]string{},
	}
	var keys []objectKey
	for key := range objects {
		if booked(key.gvk.GroupKind()) {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, objectKey.compare)
	for _, key := range keys {
		b.enter(key, objects[key], before)
	}
	for _, name := range slices.Sorted(maps.Keys(b.priorities)) {
		// Of several the API server takes the lowest (k8s.io/kubernetes v1.36
		// plugin/pkg/admission/priority/admission.go, getDefaultPriorityClass).
		if c := b.priorities[name]; c.GlobalDefault && (b.fallback == nil || c.Value < b.fallback.Value) {
			b.fallback = c
		}
	}
	b.tree = treeOf(b)
	return b
}

func (b *book) enter(key objectKey, o *unstructured.Unstructured, before *book) {
	if key.name == "" { // no API server has one
		b.unread[key.namespace] = append(b.unread[key.namespace], "a "+key.gvk.Kind+" has no name and was passed over")
		return
	}
	said, known := any(nil), false
	if before != nil {
		said, known = before.read[o]
	}
	if !known {
		said = bookedReaders[key.gvk.GroupKind()]()
		if err := decode(o, said); err != nil {
			b.unread[key.namespace] = append(b.unread[key.namespace], err.Error())
			return
		}
		if l, ok := said.(*corev1.LimitRange); ok {
			fillRange(l)
		}
	}
	b.read[o] = said
	switch v := said.(type) {
	case *corev1.ResourceQuota:
		b.quotas[key.namespace] = append(b.quotas[key.namespace], v)
	case *corev1.LimitRange:
		b.ranges[key.namespace] = append(b.ranges[key.namespace], v)
	case *schedulingv1.PriorityClass:
		b.priorities[key.name] = v
	case *localQueue:
		b.local[[2]string{key.namespace, key.name}] = v
	case *clusterQueue:
		b.cluster[key.name] = v
	case *cohort:
		b.cohorts[key.name] = v
	case *resourceFlavor:
		b.flavors[key.name] = v
	case *volcanoQueue:
		b.volcano[key.name] = v
	case *t9kQueue:
		b.t9k[key.name] = append(b.t9k[key.name], v)
	case *resourceSlice:
		b.published.add(v)
	case *nodePoolObject:
		b.pools = append(b.pools, v.pool(key.name))
	}
}

// compare orders objects by kind, place and version; of several versions of one object
// the last one counts.
func (k objectKey) compare(o objectKey) int {
	return cmp.Or(
		strings.Compare(k.gvk.Group, o.gvk.Group), strings.Compare(k.gvk.Kind, o.gvk.Kind),
		strings.Compare(k.namespace, o.namespace), strings.Compare(k.name, o.name),
		strings.Compare(k.gvk.Version, o.gvk.Version),
	)
}

// object reads an object of the view into a Go type; false where it is not there or
// cannot be read.
func (s *Snapshot) object(gvk schema.GroupVersionKind, namespace, name string, into any) bool {
	o, ok := s.objects[objectKey{gvk, namespace, name}]
	return ok && Decode(o, into) == nil
}
