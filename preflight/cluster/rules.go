package cluster

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Rules are what the objects say that stand between jobs and nodes, put together where
// several say it. They are immutable; what did not change is shared with earlier ones.
type Rules struct {
	priorities map[string]*schedulingv1.PriorityClass
	fallback   *schedulingv1.PriorityClass // for pods that name none; nil: none in the view

	Cluster map[string]*ClusterQueue
	cohorts map[string]*cohort
	Flavors map[string]*resourceFlavor
	Tree    *CohortTree

	Volcano map[string]*volcanoQueue
	T9k     map[string][]*t9kQueue // by name; where they live is not documented
	Pools   []*NodePool            // by name

	Published     PublishedDevices // devices
	devices       *deviceIndex
	deviceClasses map[corev1.ResourceName]string // extended resources that are served as devices

	unread map[schema.GroupKind]map[string][]string // by kind and namespace: what could not be read, and why
}

// rulesOf works out the kinds that have changed; the rest is as before.
func rulesOf(all Objects, before *Rules, stale map[schema.GroupKind]bool) *Rules {
	r := &Rules{}
	if before != nil {
		*r = *before
	}
	changed := func(gk schema.GroupKind) bool { return before == nil || stale[gk] }
	byName(all, priorityKind, changed, &r.priorities)
	byName(all, ClusterKind, changed, &r.Cluster)
	byName(all, CohortKind, changed, &r.cohorts)
	byName(all, FlavorKind, changed, &r.Flavors)
	byName(all, VolcanoKind, changed, &r.Volcano)
	if changed(priorityKind) {
		r.fallback = nil
		for _, c := range Each[schedulingv1.PriorityClass](all, priorityKind) {
			// Of several the API server takes the lowest (k8s.io/kubernetes v1.36
			// plugin/pkg/admission/priority/admission.go, getDefaultPriorityClass).
			if c.GlobalDefault && r.priorities[c.Name] == c && (r.fallback == nil || c.Value < r.fallback.Value) {
				r.fallback = c
			}
		}
	}
	if changed(ClusterKind) || changed(CohortKind) || changed(WorkloadKind) {
		r.Tree = cohortTreeOf(r, all)
	}
	if changed(T9kQueueKind) {
		r.T9k = map[string][]*t9kQueue{}
		for name, q := range Each[t9kQueue](all, T9kQueueKind) {
			r.T9k[name.Name] = append(r.T9k[name.Name], q)
		}
	}
	if changed(NodePoolKind) {
		r.Pools = nil
		for name, p := range Each[nodePoolObject](all, NodePoolKind) {
			r.Pools = append(r.Pools, p.pool(name.Name))
		}
	}
	if changed(sliceKind) {
		r.Published = PublishedDevices{on: make(map[string]int64, all[sliceKind].length())}
		for _, s := range Each[resourceSlice](all, sliceKind) {
			r.Published.add(s)
		}
		r.devices = newDeviceIndex(all, r.devices)
	}
	if changed(classesKind) {
		r.deviceClasses = deviceClassesIn(all)
	}
	r.unread = unreadIn(all, r.unread, changed)
	return r
}

// byName lists the objects of a kind; of several versions of one the last one counts.
func byName[T any](all Objects, gk schema.GroupKind, changed func(schema.GroupKind) bool, into *map[string]*T) {
	if !changed(gk) {
		return
	}
	*into = make(map[string]*T, all[gk].length())
	for name, v := range Each[T](all, gk) {
		(*into)[name.Name] = v
	}
}

// unreadIn is what could not be read of the rules.
func unreadIn(all Objects, before map[schema.GroupKind]map[string][]string, changed func(schema.GroupKind) bool) map[schema.GroupKind]map[string][]string {
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
					put(&said, name.Namespace, append(said[name.Namespace], o.err.Error()))
				case name.Name == "": // no API server has one
					put(&said, name.Namespace, append(said[name.Namespace], "a "+gk.Kind+" has no name and was passed over"))
				}
			}
		}
		if said != nil {
			out[gk] = said
		}
	}
	return out
}

// UnreadRules are why rules of a namespace could not be read, by kind.
func (s *Snapshot) UnreadRules(namespace string) []string {
	kinds := slices.SortedFunc(maps.Keys(s.rules.unread), func(a, b schema.GroupKind) int {
		return Name{a.Group, a.Kind, ""}.compare(Name{b.Group, b.Kind, ""})
	})
	var out []string
	for _, gk := range kinds {
		out = append(out, s.rules.unread[gk][namespace]...)
	}
	return out
}

// WhyUnread is why an object that is there could not be read, in any namespace where none is given; empty: there is none
// so called, or it could be.
func (s *Snapshot) WhyUnread(gk schema.GroupKind, namespace, name string) string {
	for at, o := range s.objects[gk].all() {
		if at.Name == name && (namespace == "" || at.Namespace == namespace) && o.err != nil {
			return o.err.Error()
		}
	}
	return ""
}

// AnyUnread says that some object of a kind could not be read.
func (s *Snapshot) AnyUnread(gk schema.GroupKind) bool {
	for _, o := range s.objects[gk].all() {
		if o.err != nil {
			return true
		}
	}
	return false
}

// LocalQueue finds a LocalQueue of Kueue; of several versions the last one counts.
func (s *Snapshot) LocalQueue(namespace, name string) (q *LocalQueue) {
	for _, o := range s.objects[LocalKind].called(namespace, name) {
		if v, ok := o.read.(*LocalQueue); ok {
			q = v
		}
	}
	return q
}
