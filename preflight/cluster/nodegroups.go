package cluster

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/lru"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// NodeGroup is nodes that agree in what they offer, in their taints and in some labels,
// whatever runs on them.
type NodeGroup struct {
	*Node // the first of them by name
	Count int
}

// Alike groups all nodes by what they offer, by their taints and by the values of some labels;
// in the order of their first nodes. It costs as much as there are groups.
func (s *Snapshot) Alike(keys ...string) []NodeGroup {
	if s == nil {
		return nil
	}
	var out []NodeGroup
	for _, g := range s.groups(keys) {
		out = append(out, NodeGroup{s.nodes[g.first], int(g.count)})
	}
	return out
}

// Chosen is Alike of those nodes that each of some pods chooses by name, node selector and
// required node affinity.
func (s *Snapshot) Chosen(keys []string, specs ...*corev1.PodSpec) []NodeGroup {
	if s == nil {
		return nil
	}
	chooses := make([]func(*Node) bool, len(specs))
	for i, spec := range specs {
		chooses[i] = Selects(spec)
	}
	var out []NodeGroup
	add := func(g nodeGroup) {
		n := s.nodes[g.first]
		if !slices.ContainsFunc(chooses, func(chosen func(*Node) bool) bool { return !chosen(n) }) {
			out = append(out, NodeGroup{n, int(g.count)})
		}
	}
	keys = slices.Clone(keys)
	for _, spec := range specs {
		named, one := s.namedBy(spec)
		more, byName := podspec.SelectorKeys(spec)
		switch {
		case one:
			for _, at := range named {
				add(nodeGroup{at, 1})
			}
			return out
		case byName:
			for at := range s.nodes {
				add(nodeGroup{int32(at), 1})
			}
			return out
		}
		keys = append(keys, more...)
	}
	for _, g := range s.groups(sorted(keys)) {
		add(g)
	}
	return out
}

// namedBy are the nodes that a pod names, by their name or by their hostname label; one says
// that it names any.
func (s *Snapshot) namedBy(spec *corev1.PodSpec) (named []int32, one bool) {
	if spec.NodeName != "" {
		if at, ok := s.NodeAt(spec.NodeName); ok {
			named = []int32{int32(at)}
		}
		return named, true
	}
	host, one := spec.NodeSelector[corev1.LabelHostname]
	if !one {
		return nil, false
	}
	return s.shapes.hosts()[host], true
}

// Node finds a node by its name; nil: there is none.
func (s *Snapshot) Node(name string) *Node {
	if s == nil {
		return nil
	}
	if at, ok := s.NodeAt(name); ok {
		return s.nodes[at]
	}
	return nil
}

// nodeShape is what nodes offer and their taints.
type nodeShape struct {
	key   string
	id    int32
	nodes int
}

// shapeTable is the shapes of a store's nodes.
type shapeTable struct {
	byKey map[string]*nodeShape
	free  []int32
	next  int32
	key   []byte // scratch
}

// join gives a node its shape; changed says that it is another one.
func (t *shapeTable) join(b *nodeInfo) (changed bool) {
	t.key = t.key[:0]
	for _, name := range b.allocatable.Names() {
		t.key = append(append(t.key, name...), 0)
		t.key = binary.AppendVarint(t.key, b.allocatable[name])
	}
	t.key = append(append(t.key, 0), b.taints...)
	to := t.byKey[string(t.key)]
	if to != nil && to == b.shape {
		return false
	}
	if to == nil {
		to = &nodeShape{key: string(t.key), id: t.next}
		if last := len(t.free) - 1; last >= 0 {
			to.id, t.free = t.free[last], t.free[:last]
		} else {
			t.next++
		}
		put(&t.byKey, to.key, to)
	}
	to.nodes++
	t.leave(b)
	b.shape = to
	return true
}

// leave takes a node out of its shape, and the shape away with its last node.
func (t *shapeTable) leave(b *nodeInfo) {
	from := b.shape
	if b.shape = nil; from == nil {
		return
	}
	if from.nodes--; from.nodes == 0 {
		delete(t.byKey, from.key)
		t.free = append(t.free, from.id)
	}
}

// nodeShapes are the shapes of a snapshot's nodes. Snapshots share them until a node comes,
// goes, or offers something else.
type nodeShapes struct {
	of     []int32 // by node
	shapes int
	made   *lru.Cache // label keys, joined -> []nodeGroup
	hosts  func() map[string][]int32
}

// nodeGroup is where the first node of a group is, and how many they are.
type nodeGroup struct{ first, count int32 }

func (l *Store) nodeShapes() *nodeShapes {
	if l.shaped == nil {
		x := &nodeShapes{of: make([]int32, len(l.order)), shapes: int(l.shapes.next), made: lru.New(mostGroupings)}
		labels := make([]map[string]string, len(l.order))
		for at, b := range l.order {
			x.of[at], labels[at] = b.shape.id, b.object.Labels
		}
		x.hosts = sync.OnceValue(func() map[string][]int32 {
			out := make(map[string][]int32, len(labels))
			for at, has := range labels {
				if host, ok := has[corev1.LabelHostname]; ok {
					out[host] = append(out[host], int32(at))
				}
			}
			return out
		})
		l.shaped = x
	}
	return l.shaped
}

// mostTable bounds the combinations of shapes and labels that groups are looked up in.
const mostTable = 1 << 16

// groups are the nodes that agree in shape and in some labels.
func (s *Snapshot) groups(keys []string) []nodeGroup {
	keys = s.byLabel.known(keys)
	name := strings.Join(keys, "\x00")
	if known, ok := s.shapes.made.Get(name); ok {
		return known.([]nodeGroup)
	}
	column := s.LabelColumn(keys)
	var out []nodeGroup
	enter := func(at int, known int32) int32 {
		if known == 0 {
			out = append(out, nodeGroup{int32(at), 0})
			known = int32(len(out))
		}
		out[known-1].count++
		return known
	}
	if size := s.shapes.shapes * column.Values; size <= mostTable {
		table := make([]int32, size)
		for at, shape := range s.shapes.of {
			key := int(shape)*column.Values + int(column.Of[at])
			table[key] = enter(at, table[key])
		}
	} else {
		table := map[labelPair]int32{}
		for at, shape := range s.shapes.of {
			key := labelPair{shape, column.Of[at]}
			table[key] = enter(at, table[key])
		}
	}
	s.shapes.made.Add(name, out)
	return out
}

// Offered is how much of a resource all nodes offer in sum.
func (s *Snapshot) Offered(name corev1.ResourceName) (sum int64) {
	for _, g := range s.Alike() {
		sum = saturate.Add(sum, saturate.Mul(max(0, g.Allocatable[name]), int64(g.Count)))
	}
	return sum
}

// DevicesPerNode is how many accelerators the node has that has most of them.
func (s *Snapshot) DevicesPerNode() (most int64) {
	for _, g := range s.Alike() {
		here := int64(0)
		for name, n := range g.Allocatable {
			if job.AcceleratorUnit(name) == job.Device {
				here = saturate.Add(here, max(0, n))
			}
		}
		most = max(most, here)
	}
	return most
}

func sorted(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}
