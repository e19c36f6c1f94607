package cluster

import (
	"bytes"
	"iter"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// object is an object of a view, and what questions look at in it: that is read once, when
// the object arrives.
type object struct {
	whole  *unstructured.Unstructured // nil: it is packed, or what was read is all that is kept
	packed []byte                     // JSON
	read   any                        // nil: objects of this kind are not read, or this one could not be
	err    error                      // why it could not be read
}

// raw is the object as it is written; of one of which no more is kept than what was read, what it is called. Read-only.
func (o *object) raw(kind schema.GroupKind, name Name) *unstructured.Unstructured {
	if o.whole != nil {
		return o.whole
	}
	out := &unstructured.Unstructured{}
	if o.packed != nil {
		_ = out.UnmarshalJSON(o.packed) // we have written it
		return out
	}
	out.SetGroupVersionKind(kind.WithVersion(name.Version))
	out.SetNamespace(name.Namespace)
	out.SetName(name.Name)
	return out
}

// Held is an object as what follows a cluster holds it, once for itself and for the store.
type Held struct {
	*object
	gvk     schema.GroupVersionKind
	name    Name
	version string
}

// Hold reads an object. Where there are many of a kind, and more of one is looked at than what was read, that is kept with
// the JSON: as maps an object takes five times as much.
func Hold(o *unstructured.Unstructured) *Held {
	gvk := o.GroupVersionKind()
	out := &Held{object: readObject(gvk, o), gvk: gvk, name: Name{o.GetNamespace(), o.GetName(), gvk.Version}, version: o.GetResourceVersion()}
	if out.read != nil && out.whole != nil && objectReaders[gvk.GroupKind()].many {
		if text, err := o.MarshalJSON(); err == nil {
			out.whole, out.packed = nil, bytes.Clone(text) // the buffer that it was written into has room for as much again
		}
	}
	return out
}

// Many says that a large cluster has tens of thousands of a kind: held, they take little.
func Many(kind schema.GroupKind) bool { return objectReaders[kind].many }

// GetObjectMeta is what an informer asks for: the name, and whether an event is news.
func (o *Held) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Namespace: o.name.Namespace, Name: o.name.Name, ResourceVersion: o.version}
}

// reader reads objects of one kind.
type reader struct {
	version string // the only one that is read; empty: any
	rule    bool   // is among the rules between jobs and nodes: what cannot be read is said
	many    bool   // a large cluster has tens of thousands
	lean    bool   // nothing is looked at but what is read, and that there is one of the name: no more is kept
	read    func(*unstructured.Unstructured) (any, error)
}

// Kinds that are read.
var (
	QuotaKind     = schema.GroupKind{Kind: "ResourceQuota"}
	RangeKind     = schema.GroupKind{Kind: "LimitRange"}
	priorityKind  = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
	LocalKind     = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "LocalQueue"}
	ClusterKind   = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "ClusterQueue"}
	CohortKind    = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Cohort"}
	FlavorKind    = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "ResourceFlavor"}
	WorkloadKind  = schema.GroupKind{Group: "kueue.x-k8s.io", Kind: "Workload"}
	VolcanoKind   = schema.GroupKind{Group: "scheduling.volcano.sh", Kind: "Queue"}
	T9kQueueKind  = schema.GroupKind{Group: "scheduler.tensorstack.dev", Kind: "Queue"}
	sliceKind     = schema.GroupKind{Group: "resource.k8s.io", Kind: "ResourceSlice"}
	classesKind   = schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceClass"}
	BudgetKind    = schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}
	TemplateKind  = resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate")
	runtimeKind   = nodev1.SchemeGroupVersion.WithKind("RuntimeClass")
	objectReaders = map[schema.GroupKind]reader{
		QuotaKind:    {rule: true, read: readQuota},
		RangeKind:    {rule: true, read: readRange},
		priorityKind: {rule: true, read: strictly[schedulingv1.PriorityClass]},
		LocalKind:    {rule: true, read: strictly[LocalQueue]},
		ClusterKind:  {rule: true, read: strictly[ClusterQueue]},
		CohortKind:   {rule: true, read: strictly[cohort]},
		FlavorKind:   {rule: true, read: strictly[resourceFlavor]},
		WorkloadKind: {many: true, read: strictly[workload]},
		VolcanoKind:  {rule: true, read: strictly[volcanoQueue]},
		T9kQueueKind: {rule: true, read: strictly[t9kQueue]},
		NodePoolKind: {rule: true, read: strictly[nodePoolObject]},
		sliceKind:    {rule: true, many: true, lean: true, read: readSlice},

		ClaimKind.GroupKind():      {version: "v1", many: true, lean: true, read: readClaim},
		VolumeKind.GroupKind():     {version: "v1", many: true, lean: true, read: readVolume},
		attachmentKind.GroupKind(): {version: "v1", many: true, lean: true, read: readAttachment},
		csiNodeKind.GroupKind():    {version: "v1", many: true, lean: true, read: readCSINode},
		ClassKind.GroupKind():      {version: "v1", read: freely[storagev1.StorageClass]},
		DriverKind.GroupKind():     {version: "v1", read: freely[storagev1.CSIDriver]},
		CapacityKind.GroupKind():   {version: "v1", many: true, lean: true, read: readCapacity},
		runtimeKind.GroupKind():    {version: "v1", read: freely[nodev1.RuntimeClass]},
		TemplateKind.GroupKind():   {version: "v1", read: freely[resourcev1.ResourceClaimTemplate]},
		classesKind:                {read: freely[deviceClass]},
		taintRuleKind:              {read: freely[taintRule]},
		ClaimGVK.GroupKind():       {version: "v1", many: true, read: freely[resourcev1.ResourceClaim]},
		BudgetKind:                 {version: "v1", read: freely[policyv1.PodDisruptionBudget]},
		configMap:                  {version: "v1", read: readShapes},
	}
)

// strictly reads a whole object and refuses one with an amount that is none, wherever it
// stands.
func strictly[T any](o *unstructured.Unstructured) (any, error) {
	into := new(T)
	if err := decode(o, into); err != nil {
		return nil, err
	}
	return into, nil
}

// freely reads a whole object as its type says.
func freely[T any](o *unstructured.Unstructured) (any, error) {
	into := new(T)
	if err := Decode(o, into); err != nil {
		return nil, err
	}
	return into, nil
}

func readQuota(o *unstructured.Unstructured) (any, error) {
	q := plainQuota(o)
	if q == nil {
		read, err := strictly[corev1.ResourceQuota](o)
		if err != nil {
			return nil, err
		}
		q, _ = read.(*corev1.ResourceQuota)
	}
	return storedQuotaOf(q), nil
}

func readRange(o *unstructured.Unstructured) (any, error) {
	read, err := strictly[corev1.LimitRange](o)
	if r, ok := read.(*corev1.LimitRange); ok {
		fillRange(r)
	}
	return read, err
}

func readObject(gvk schema.GroupVersionKind, o *unstructured.Unstructured) *object {
	out := &object{whole: o}
	if r, ok := objectReaders[gvk.GroupKind()]; ok && o.GetName() != "" && (r.version == "" || r.version == gvk.Version) {
		out.read, out.err = r.read(o)
		if r.lean && out.read != nil {
			out.whole = nil
		}
		if p, ok := out.read.(interface{ holder() *object }); ok {
			*p.holder() = *out
			return p.holder()
		}
	}
	return out
}

// Objects is what a view holds besides nodes and pods, by kind. It is immutable.
type Objects map[schema.GroupKind]*sortedList[*object]

// objectIndex is the objects of a store. Snapshots share what does not change.
type objectIndex struct {
	kinds map[schema.GroupKind]*sortedList[*object]
	shown Objects                   // as the last snapshot has them; nil: something has changed since
	stale map[schema.GroupKind]bool // kinds that have changed since the rules were last worked out
}

// indexOf is a store's index of objects that snapshots hold already.
func indexOf(shown Objects) objectIndex {
	x := objectIndex{shown: shown, kinds: make(map[schema.GroupKind]*sortedList[*object], len(shown))}
	for gk, list := range shown {
		x.kinds[gk] = &sortedList[*object]{blocks: list.blocks, size: list.size}
	}
	return x
}

func (x *objectIndex) set(gvk schema.GroupVersionKind, name Name, o *object) (before *object) {
	list := x.kinds[gvk.GroupKind()]
	if list == nil {
		list = &sortedList[*object]{}
		put(&x.kinds, gvk.GroupKind(), list)
	}
	x.changed(gvk.GroupKind())
	before, _ = list.set(name, o)
	return before
}

func (x *objectIndex) drop(gk schema.GroupKind, name Name) (before *object) {
	list := x.kinds[gk]
	if list == nil {
		return nil
	}
	before, ok := list.drop(name)
	if ok {
		x.changed(gk)
	}
	if list.size == 0 {
		delete(x.kinds, gk)
	}
	return before
}

func (x *objectIndex) changed(gk schema.GroupKind) {
	x.shown = nil
	put(&x.stale, gk, true)
}

// share is the objects as they are now.
func (x *objectIndex) share() Objects {
	if x.shown == nil {
		x.shown = make(Objects, len(x.kinds))
		for gk, list := range x.kinds {
			x.shown[gk] = list.share()
		}
	}
	return x.shown
}

// Each are the objects of a kind that could be read, by namespace, name and version.
func Each[T any](all Objects, gk schema.GroupKind) iter.Seq2[Name, *T] {
	return read[T](all[gk].all())
}

// In are those of one namespace.
func In[T any](all Objects, gk schema.GroupKind, namespace string) iter.Seq2[Name, *T] {
	return read[T](all[gk].in(namespace))
}

func read[T any](all iter.Seq2[Name, *object]) iter.Seq2[Name, *T] {
	return func(yield func(Name, *T) bool) {
		for name, o := range all {
			if v := wholeOf[T](o.read); v != nil && !yield(name, v) {
				return
			}
		}
	}
}

// Any says that there is any.
func Any[T any](all iter.Seq2[Name, *T]) bool {
	for range all {
		return true
	}
	return false
}

// Find finds an object that could be read; nil: it is not there.
func Find[T any](all Objects, gvk schema.GroupVersionKind, namespace, name string) *T {
	o, _ := all[gvk.GroupKind()].Get(Name{namespace, name, gvk.Version})
	if o == nil {
		return nil
	}
	return wholeOf[T](o.read)
}

// ReadOf is what an object of the view says. One that cannot be read is unknown.
func ReadOf[T any](s *Snapshot, gvk schema.GroupVersionKind, namespace, name string) (*T, job.Presence) {
	o, presence := s.find(gvk, namespace, name)
	if presence != job.Present {
		return nil, presence
	}
	if v := wholeOf[T](o.read); v != nil {
		return v, job.Present
	}
	return nil, job.Unknown
}
