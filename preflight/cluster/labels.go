package cluster

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/lru"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// LabelColumn numbers the values that labels have on each node, by node.
type LabelColumn struct {
	Of     []int32
	Values int
}

// labelColumns are made when first asked for and kept, by keys. Keys are what users write:
// those that no node has make no column, and of the others few are kept.
type labelColumns struct {
	keys map[string]int // that nodes have; read-only
	made *lru.Cache     // keys, joined -> *labelColumn
	none *LabelColumn   // where no node has any of the keys
}

// mostColumns and mostGrids bound what is kept; a column of 15,000 nodes takes 60 KB, what
// they are parted into by it up to ten times as much.
const (
	mostColumns   = 64
	mostGroupings = 16
)

// labelColumnsOf has columns for so many nodes that have these keys.
func labelColumnsOf(nodes int, keys map[string]int) *labelColumns {
	return &labelColumns{keys: keys, made: lru.New(mostColumns), none: &LabelColumn{Of: make([]int32, nodes), Values: 1}}
}

// known are those of the keys that a node has: the others tell no nodes apart.
func (l *labelColumns) known(keys []string) []string {
	missing := func(key string) bool { return l.keys[key] == 0 }
	if !slices.ContainsFunc(keys, missing) {
		return keys
	}
	return slices.DeleteFunc(slices.Clone(keys), missing)
}

// column numbers the combinations of values of some keys; a label that is not there is a
// value of its own.
func (l *labelColumns) column(nodes []*Node, keys []string) *LabelColumn {
	if keys = l.known(keys); len(keys) == 0 {
		return l.none
	}
	name := strings.Join(keys, "\x00")
	if c, ok := l.made.Get(name); ok {
		return c.(*LabelColumn)
	}
	c := &LabelColumn{Of: make([]int32, len(nodes)), Values: 1}
	for _, key := range keys {
		seen, values := map[labelPair]int32{}, map[string]int32{}
		for at, n := range nodes {
			value, ok := n.Labels[key]
			v := int32(0)
			if ok {
				if v, ok = values[value]; !ok {
					v = int32(len(values) + 1)
					values[value] = v
				}
			}
			both := labelPair{c.Of[at], v}
			id, ok := seen[both]
			if !ok {
				id = int32(len(seen))
				seen[both] = id
			}
			c.Of[at] = id
		}
		c.Values = max(1, len(seen))
	}
	l.made.Add(name, c)
	return c
}

// labelPair is a number of earlier keys, and that of one more.
type labelPair struct{ before, value int32 }

// LabelColumn numbers the combinations of values that some labels have on the nodes.
func (s *Snapshot) LabelColumn(keys []string) *LabelColumn { return s.byLabel.column(s.nodes, keys) }

// IsNode says that each node is a domain of its own under a key: it is that of host names, and no two nodes
// share one. Nodes that were written by hand, none of them with a host name, are told apart by their names.
func (s *Snapshot) IsNode(key string) bool {
	if key != corev1.LabelHostname {
		return false
	}
	named := s.byLabel.keys[key]
	return named == 0 && s.silent == len(s.nodes) || named > 0 && named == len(s.nodes) && s.LabelColumn([]string{key}).Values == named
}

// Reach says which nodes reach a volume with this node affinity, and asks once about nodes that agree on every
// label that is looked at.
func (s *Snapshot) Reach(required *corev1.NodeSelector) func(at int) bool {
	keys, _ := podspec.TermKeys(required.NodeSelectorTerms)
	match := podspec.ReachableFrom(required)
	return s.OnLabels(keys, func(at int) bool { return match(s.nodes[at].object) })
}

// OnLabels asks once about nodes that agree on some labels, on which the answer rests.
func (s *Snapshot) OnLabels(keys []string, holds func(at int) bool) func(at int) bool {
	column := s.LabelColumn(sorted(slices.Clone(keys)))
	known := make([]int8, column.Values+1)
	return func(at int) bool {
		known := &known[column.Of[at]]
		if *known == 0 {
			*known = -1
			if holds(at) {
				*known = 1
			}
		}
		return *known > 0
	}
}
