package capacity

import (
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// object is an object of a view, and what questions look at in it: that is read once, when
// the object arrives.
type object struct {
	raw  *unstructured.Unstructured
	read any   // nil: objects of this kind are not read, or this one could not be
	err  error // why it could not be read
}

// reader reads objects of one kind.
type reader struct {
	version string // the only one that is read; empty: any
	rule    bool   // is among the rules between jobs and nodes: what cannot be read is said
	read    func(*unstructured.Unstructured) (any, error)
}

// Kinds that are read.
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
	classesKind   = schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceClass"}
	budgetKind    = schema.GroupKind{Group: "policy", Kind: "PodDisruptionBudget"}
	templateKind  = resourcev1.SchemeGroupVersion.WithKind("ResourceClaimTemplate")
	runtimeKind   = nodev1.SchemeGroupVersion.WithKind("RuntimeClass")
	objectReaders = map[schema.GroupKind]reader{
		quotaKind:    {rule: true, read: readQuota},
		rangeKind:    {rule: true, read: readRange},
		priorityKind: {rule: true, read: strictly[schedulingv1.PriorityClass]},
		localKind:    {rule: true, read: strictly[localQueue]},
		clusterKind:  {rule: true, read: strictly[clusterQueue]},
		cohortKind:   {rule: true, read: strictly[cohort]},
		flavorKind:   {rule: true, read: strictly[resourceFlavor]},
		volcanoKind:  {rule: true, read: strictly[volcanoQueue]},
		t9kQueueKind: {rule: true, read: strictly[t9kQueue]},
		nodePool:     {rule: true, read: strictly[nodePoolObject]},
		sliceKind:    {rule: true, read: strictly[resourceSlice]},

		claimKind.GroupKind():      {version: "v1", read: readClaim},
		volumeKind.GroupKind():     {version: "v1", read: readVolume},
		attachmentKind.GroupKind(): {version: "v1", read: readAttachment},
		csiNodeKind.GroupKind():    {version: "v1", read: readCSINode},
		classKind.GroupKind():      {version: "v1", read: freely[storagev1.StorageClass]},
		driverKind.GroupKind():     {version: "v1", read: freely[storagev1.CSIDriver]},
		runtimeKind.GroupKind():    {version: "v1", read: freely[nodev1.RuntimeClass]},
		templateKind.GroupKind():   {version: "v1", read: freely[resourcev1.ResourceClaimTemplate]},
		claimGVK.GroupKind():       {version: "v1", read: freely[resourcev1.ResourceClaim]},
		budgetKind:                 {version: "v1", read: freely[policyv1.PodDisruptionBudget]},
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
	out := &object{raw: o}
	if r, ok := objectReaders[gvk.GroupKind()]; ok && o.GetName() != "" && (r.version == "" || r.version == gvk.Version) {
		out.read, out.err = r.read(o)
	}
	return out
}

// objects is what a view holds besides nodes and pods, by kind. It is immutable.
type objects map[schema.GroupKind]*sortedList[*object]

// objectIndex is the objects of a store. Snapshots share what does not change.
type objectIndex struct {
	kinds map[schema.GroupKind]*sortedList[*object]
	shown objects                   // as the last snapshot has them; nil: something has changed since
	stale map[schema.GroupKind]bool // kinds that have changed since the rules were last worked out
}

// indexOf is a store's index of objects that snapshots hold already.
func indexOf(shown objects) objectIndex {
	x := objectIndex{shown: shown, kinds: make(map[schema.GroupKind]*sortedList[*object], len(shown))}
	for gk, list := range shown {
		x.kinds[gk] = &sortedList[*object]{blocks: list.blocks, size: list.size}
	}
	return x
}

func (x *objectIndex) set(gvk schema.GroupVersionKind, name objectName, o *object) (before *object) {
	list := x.kinds[gvk.GroupKind()]
	if list == nil {
		list = &sortedList[*object]{}
		put(&x.kinds, gvk.GroupKind(), list)
	}
	x.changed(gvk.GroupKind())
	before, _ = list.set(name, o)
	return before
}

func (x *objectIndex) drop(gk schema.GroupKind, name objectName) (before *object) {
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
func (x *objectIndex) share() objects {
	if x.shown == nil {
		x.shown = make(objects, len(x.kinds))
		for gk, list := range x.kinds {
			x.shown[gk] = list.share()
		}
	}
	return x.shown
}

// of are the objects of a kind that could be read, by namespace, name and version.
func of[T any](all objects, gk schema.GroupKind) iter.Seq2[objectName, *T] {
	return read[T](all[gk].all())
}

// within are those of one namespace.
func within[T any](all objects, gk schema.GroupKind, namespace string) iter.Seq2[objectName, *T] {
	return read[T](all[gk].in(namespace))
}

func read[T any](all iter.Seq2[objectName, *object]) iter.Seq2[objectName, *T] {
	return func(yield func(objectName, *T) bool) {
		for name, o := range all {
			if v, ok := o.read.(*T); ok && !yield(name, v) {
				return
			}
		}
	}
}

// some says that there is any.
func some[T any](all iter.Seq2[objectName, *T]) bool {
	for range all {
		return true
	}
	return false
}

// one finds an object that could be read; nil: it is not there.
func one[T any](all objects, gvk schema.GroupVersionKind, namespace, name string) *T {
	o, _ := all[gvk.GroupKind()].get(objectName{namespace, name, gvk.Version})
	if o == nil {
		return nil
	}
	v, _ := o.read.(*T)
	return v
}

// readOf is what an object of the view says. One that cannot be read is unknown.
func readOf[T any](s *Snapshot, gvk schema.GroupVersionKind, namespace, name string) (*T, job.Presence) {
	o, presence := s.find(gvk, namespace, name)
	if presence != job.Present {
		return nil, presence
	}
	if v, ok := o.read.(*T); ok {
		return v, job.Present
	}
	return nil, job.Unknown
}

// rules are what the objects say that stand between jobs and nodes, put together where
// several say it. They are immutable; what did not change is shared with earlier ones.
type rules struct {
	priorities map[string]*schedulingv1.PriorityClass
	fallback   *schedulingv1.PriorityClass // for pods that name none; nil: none in the view

	cluster map[string]*clusterQueue
	cohorts map[string]*cohort
	flavors map[string]*resourceFlavor
	tree    *quotaTree

	volcano map[string]*volcanoQueue
	t9k     map[string][]*t9kQueue // by name; where they live is not documented
	pools   []*pool                // by name

	published     published                      // devices
	deviceClasses map[corev1.ResourceName]string // extended resources that are served as devices

	unread map[schema.GroupKind]map[string][]string // by kind and namespace: what could not be read, and why
}

// rulesOf works out the kinds that have changed; the rest is as before.
func rulesOf(all objects, before *rules, stale map[schema.GroupKind]bool) *rules {
	r := &rules{}
	if before != nil {
		*r = *before
	}
	changed := func(gk schema.GroupKind) bool { return before == nil || stale[gk] }
	byName(all, priorityKind, changed, &r.priorities)
	byName(all, clusterKind, changed, &r.cluster)
	byName(all, cohortKind, changed, &r.cohorts)
	byName(all, flavorKind, changed, &r.flavors)
	byName(all, volcanoKind, changed, &r.volcano)
	if changed(priorityKind) {
		r.fallback = nil
		for _, c := range of[schedulingv1.PriorityClass](all, priorityKind) {
			// Of several the API server takes the lowest (k8s.io/kubernetes v1.36
			// plugin/pkg/admission/priority/admission.go, getDefaultPriorityClass).
			if c.GlobalDefault && r.priorities[c.Name] == c && (r.fallback == nil || c.Value < r.fallback.Value) {
				r.fallback = c
			}
		}
	}
	if changed(clusterKind) || changed(cohortKind) {
		r.tree = treeOf(r)
	}
	if changed(t9kQueueKind) {
		r.t9k = map[string][]*t9kQueue{}
		for name, q := range of[t9kQueue](all, t9kQueueKind) {
			r.t9k[name.name] = append(r.t9k[name.name], q)
		}
	}
	if changed(nodePool) {
		r.pools = nil
		for name, p := range of[nodePoolObject](all, nodePool) {
			r.pools = append(r.pools, p.pool(name.name))
		}
	}
	if changed(sliceKind) {
		r.published = published{}
		for _, s := range of[resourceSlice](all, sliceKind) {
			r.published.add(s)
		}
	}
	if changed(classesKind) {
		r.deviceClasses = deviceClassesIn(all)
	}
	r.unread = unreadIn(all, r.unread, changed)
	return r
}

// byName lists the objects of a kind; of several versions of one the last one counts.
func byName[T any](all objects, gk schema.GroupKind, changed func(schema.GroupKind) bool, into *map[string]*T) {
	if !changed(gk) {
		return
	}
	*into = make(map[string]*T, all[gk].length())
	for name, v := range of[T](all, gk) {
		(*into)[name.name] = v
	}
}

// unreadIn is what could not be read of the rules.
func unreadIn(all objects, before map[schema.GroupKind]map[string][]string, changed func(schema.GroupKind) bool) map[schema.GroupKind]map[string][]string {
	out := map[schema.GroupKind]map[string][]string{}
	for gk, r := range objectReaders {
		if !r.rule {
			continue
		}
		said := before[gk]
		if changed(gk) {
			said = nil
			for name, o := range all[gk].all() {
				switch {
				case o.err != nil:
					put(&said, name.namespace, append(said[name.namespace], o.err.Error()))
				case name.name == "": // no API server has one
					put(&said, name.namespace, append(said[name.namespace], "a "+gk.Kind+" has no name and was passed over"))
				}
			}
		}
		if said != nil {
			out[gk] = said
		}
	}
	return out
}

// unreadRules are why rules of a namespace could not be read, by kind.
func (s *Snapshot) unreadRules(namespace string) []string {
	if len(s.rules.unread) == 0 {
		return nil
	}
	var kinds []schema.GroupKind
	for gk := range s.rules.unread {
		kinds = append(kinds, gk)
	}
	slices.SortFunc(kinds, func(a, b schema.GroupKind) int {
		return objectName{a.Group, a.Kind, ""}.compare(objectName{b.Group, b.Kind, ""})
	})
	var out []string
	for _, gk := range kinds {
		out = append(out, s.rules.unread[gk][namespace]...)
	}
	return out
}

// localQueue finds a LocalQueue of Kueue; of several versions the last one counts.
func (s *Snapshot) localQueue(namespace, name string) (q *localQueue) {
	for _, o := range s.objects[localKind].called(namespace, name) {
		if v, ok := o.read.(*localQueue); ok {
			q = v
		}
	}
	return q
}
