package capacity

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// columns are the numbers of all nodes. Nodes that agree in everything but their names
// and labels are one class and counted once: a cluster of thousands of nodes has few.
type columns struct {
	index           map[corev1.ResourceName]int
	free, idle      [][]int64 // by resource, then class
	busy            []bool    // by class: something would be gone were it idle
	ready, cordoned []bool    // by class
	taintSet        []int     // by class
	taintSets       [][]corev1.Taint
	plain           *grid // the classes as they are
}

func columnsOf(nodes []*Node) columns {
	c := columns{index: map[corev1.ResourceName]int{}, plain: gridOf(nodes)}
	names := map[corev1.ResourceName]bool{corev1.ResourcePods: true}
	firsts := make([]*Node, len(c.plain.nodes))
	for class, members := range c.plain.nodes {
		n := nodes[members[0]]
		firsts[class] = n
		c.ready, c.cordoned = append(c.ready, n.Ready), append(c.cordoned, n.Cordoned)
		for name := range n.Allocatable {
			names[name] = true
		}
	}
	c.busy = make([]bool, len(firsts))
	for i, name := range slices.Sorted(maps.Keys(names)) {
		c.index[name] = i
		free, idle := make([]int64, len(firsts)), make([]int64, len(firsts))
		for class, n := range firsts {
			free[class], idle[class] = n.Free(name), n.Idle(name)
			c.busy[class] = c.busy[class] || free[class] != idle[class]
		}
		c.free, c.idle = append(c.free, free), append(c.idle, idle)
	}
	c.groupTaints(firsts)
	return c
}

// groupTaints numbers the different sets of taints, so that tolerations are compared
// with each set once.
func (c *columns) groupTaints(nodes []*Node) {
	c.taintSet = make([]int, len(nodes))
	seen := map[string]int{}
	for class, n := range nodes {
		key := taintsText(n.Taints)
		id, ok := seen[key]
		if !ok {
			id = len(c.taintSets)
			seen[key] = id
			c.taintSets = append(c.taintSets, n.Taints)
		}
		c.taintSet[class] = id
	}
}

func taintsText(taints []corev1.Taint) string {
	var all strings.Builder
	for i := range taints {
		all.WriteString(taintText(&taints[i]) + "\n")
	}
	return all.String()
}

// taintText writes a taint the way kubectl does: key=value:effect, or key:effect.
func taintText(t *corev1.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
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
