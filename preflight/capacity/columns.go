package capacity

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// columns are the numbers of all nodes, one column per resource: a fit walks a few
// columns from end to end instead of hashing names on every node.
type columns struct {
	index      map[corev1.ResourceName]int
	free, idle [][]int64 // by resource, then node
	busy       []bool    // by node: something would be gone were it idle
	taintSet   []int     // by node
	taintSets  [][]corev1.Taint
}

func columnsOf(nodes []*Node) columns {
	c := columns{index: map[corev1.ResourceName]int{}, busy: make([]bool, len(nodes))}
	names := map[corev1.ResourceName]bool{corev1.ResourcePods: true}
	for _, n := range nodes {
		for name := range n.Allocatable {
			names[name] = true
		}
	}
	for i, name := range slices.Sorted(maps.Keys(names)) {
		c.index[name] = i
		free, idle := make([]int64, len(nodes)), make([]int64, len(nodes))
		for at, n := range nodes {
			free[at], idle[at] = n.Free(name), n.Idle(name)
			c.busy[at] = c.busy[at] || free[at] != idle[at]
		}
		c.free, c.idle = append(c.free, free), append(c.idle, idle)
	}
	c.groupTaints(nodes)
	return c
}

// groupTaints numbers the different sets of taints, so that tolerations are compared
// with each set once.
func (c *columns) groupTaints(nodes []*Node) {
	c.taintSet = make([]int, len(nodes))
	seen := map[string]int{}
	for at, n := range nodes {
		var all strings.Builder
		for i := range n.Taints {
			all.WriteString(taintText(&n.Taints[i]) + "\n")
		}
		key := all.String()
		id, ok := seen[key]
		if !ok {
			id = len(c.taintSets)
			seen[key] = id
			c.taintSets = append(c.taintSets, n.Taints)
		}
		c.taintSet[at] = id
	}
}

// taintText writes a taint the way kubectl does: key=value:effect, or key:effect.
func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// labelColumn numbers the values that a label has on each node; 0: the node has no such
// label. Columns are made when first asked for and kept.
func (s *Snapshot) labelColumn(key string) []int {
	if c, ok := s.byLabel.Load(key); ok {
		return c.([]int)
	}
	column, seen := make([]int, len(s.nodes)), map[string]int{}
	for at, n := range s.nodes {
		value, ok := n.Labels[key]
		if !ok {
			continue
		}
		id, ok := seen[value]
		if !ok {
			id = len(seen) + 1
			seen[value] = id
		}
		column[at] = id
	}
	c, _ := s.byLabel.LoadOrStore(key, column)
	return c.([]int)
}

// labelClasses numbers the nodes so that two nodes with one number agree on all keys.
func (s *Snapshot) labelClasses(keys []string) (class []int, classes int) {
	if len(keys) == 0 {
		return make([]int, len(s.nodes)), 1
	}
	class = s.labelColumn(keys[0])
	for _, key := range keys[1:] {
		column, seen := s.labelColumn(key), map[[2]int]int{}
		both := make([]int, len(class))
		for at := range both {
			pair := [2]int{class[at], column[at]}
			id, ok := seen[pair]
			if !ok {
				id = len(seen)
				seen[pair] = id
			}
			both[at] = id
		}
		class = both
	}
	for _, c := range class {
		classes = max(classes, c+1)
	}
	return class, classes
}

// need is what one pod takes of one column.
type need struct {
	column int // -1: no node offers the resource
	name   corev1.ResourceName
	n      int64
}

// needsOf are the amounts of one pod, itself included, in the order of resource names.
func (c *columns) needsOf(requests job.Resources) []need {
	out := make([]need, 0, len(requests)+1)
	add := func(name corev1.ResourceName, n int64) {
		column, ok := c.index[name]
		if !ok {
			column = -1
		}
		out = append(out, need{column, name, n})
	}
	for _, name := range requests.Names() {
		if n := requests[name]; n > 0 && name != corev1.ResourcePods {
			add(name, n)
		}
	}
	add(corev1.ResourcePods, 1)
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
