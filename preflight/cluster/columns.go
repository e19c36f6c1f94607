package cluster

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Columns are the numbers of all nodes. Nodes that agree in everything but their names
// and labels are one class and counted once: a cluster of thousands of nodes has few.
type Columns struct {
	Index           map[corev1.ResourceName]int
	Free, Idle      [][]int64 // by resource, then class
	Busy            []bool    // by class: something would be gone were it idle
	Ready, Cordoned []bool    // by class
	TaintSet        []int     // by class
	TaintSets       [][]corev1.Taint
	plain           *NodeGrouping // the classes as they are
}

// Need is what one pod takes of one column.
type Need struct {
	Column int // -1: no node offers the resource
	Name   corev1.ResourceName
	N      int64
}

// NeedsOf are the amounts of one pod, itself included, in the order of resource names.
func (c *Columns) NeedsOf(requests job.Resources) []Need {
	out := make([]Need, 0, len(requests)+1)
	add := func(name corev1.ResourceName, n int64) {
		column, ok := c.Index[name]
		if !ok {
			column = -1
		}
		out = append(out, Need{column, name, n})
	}
	for _, name := range requests.Names() {
		if n := requests[name]; n > 0 && name != corev1.ResourcePods {
			add(name, n)
		}
	}
	add(corev1.ResourcePods, 1)
	return out
}

func sortedKeys[V any](m map[string]V) []string { return sortedInto(nil, m) }

// sortedInto are the keys in order, in the room that is there for them.
func sortedInto[V any](room []string, m map[string]V) []string {
	room = slices.AppendSeq(room[:0], maps.Keys(m))
	slices.Sort(room)
	return room
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
