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

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
