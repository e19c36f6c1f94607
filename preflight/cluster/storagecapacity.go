package cluster

import (
	"maps"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// CapacityKind is the kind in which drivers say how much storage there is where
// (https://kubernetes.io/docs/concepts/storage/storage-capacity/).
var CapacityKind = schema.GroupVersionKind{Group: "storage.k8s.io", Version: "v1", Kind: "CSIStorageCapacity"}

// storageCapacity is what the scheduler reads of a CSIStorageCapacity
// (k8s.io/kubernetes v1.37 pkg/scheduler/framework/plugins/volumebinding/binder.go, hasEnoughCapacity).
type storageCapacity struct {
	class    string
	largest  int64           // volume that is made
	left     int64           // in sum; -1: not said
	keys     []string        // of labels that the nodes have; nil: selector says which nodes
	values   string          // of these labels, joined
	selector labels.Selector // nil: keys say which nodes
}

func readCapacity(o *unstructured.Unstructured) (any, error) {
	read, err := freely[storagev1.CSIStorageCapacity](o)
	if err != nil {
		return nil, err
	}
	in, _ := read.(*storagev1.CSIStorageCapacity)
	c := &storageCapacity{class: in.StorageClassName, largest: -1, left: -1}
	if in.Capacity != nil {
		c.left = in.Capacity.Value()
		c.largest = c.left
	}
	if in.MaximumVolumeSize != nil {
		c.largest = in.MaximumVolumeSize.Value()
	}
	if in.NodeTopology == nil { // no node reaches it
		return nil, nil
	}
	if c.selector, err = metav1.LabelSelectorAsSelector(in.NodeTopology); err != nil {
		return nil, nil //nolint:nilerr // to the scheduler no node reaches it then
	}
	if pairs := in.NodeTopology.MatchLabels; len(in.NodeTopology.MatchExpressions) == 0 && len(pairs) > 0 {
		c.keys, c.selector = slices.Sorted(maps.Keys(pairs)), nil
		c.values = joined(c.keys, pairs)
	}
	return c, nil
}

// joined are the values of some labels.
func joined(keys []string, of map[string]string) string {
	var out strings.Builder
	for _, key := range keys {
		value, ok := of[key]
		if !ok {
			return "" // a value has a separator behind it
		}
		out.WriteString(value)
		out.WriteByte(0)
	}
	return out.String()
}

// mostSelectors bounds the capacities that say in expressions which nodes they are about: each is asked
// about the nodes. Drivers write plain labels, of which there may be any number.
const mostSelectors = 64

// StorageCapacities is how many objects say how much storage there is where.
func (s *Snapshot) StorageCapacities() int { return s.objects[CapacityKind.GroupKind()].length() }

// StorageFor says on which nodes there is storage for a volume of a class and, in one place, so much in sum,
// and how much there is where there is least of that; -1: that is not said. Not judged: there are too many
// selectors to ask.
func (s *Snapshot) StorageFor(class string, size, sum int64) (has func(at int) bool, least int64, judged bool) {
	type values struct {
		keys []string
		any  map[string]bool
	}
	byKeys := map[string]*values{}
	var selectors []labels.Selector
	first := true
	for _, c := range Each[storageCapacity](s.objects, CapacityKind.GroupKind()) {
		if c.class != class || c.largest < size || c.left < sum {
			continue
		}
		if first || c.left < least {
			first, least = false, c.left
		}
		if c.selector != nil {
			selectors = append(selectors, c.selector)
			continue
		}
		name := strings.Join(c.keys, "\x00")
		if byKeys[name] == nil {
			byKeys[name] = &values{c.keys, map[string]bool{}}
		}
		byKeys[name].any[c.values] = true
	}
	if len(selectors) > mostSelectors {
		return func(int) bool { return true }, -1, false
	}
	var some []func(at int) bool
	for _, name := range sortedKeys(byKeys) {
		v := byKeys[name]
		some = append(some, s.OnLabels(v.keys, func(at int) bool { return v.any[joined(v.keys, s.nodes[at].Labels)] }))
	}
	for _, selector := range selectors {
		some = append(some, func(at int) bool { return selector.Matches(labels.Set(s.nodes[at].Labels)) })
	}
	return func(at int) bool {
		return slices.ContainsFunc(some, func(has func(int) bool) bool { return has(at) })
	}, least, true
}
