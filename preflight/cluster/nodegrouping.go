package cluster

import (
	"slices"
	"strings"
	"sync"
)

// NodeGrouping parts the nodes into groups that no pod of a gang, nor of the changes tried of it,
// can tell apart. Everything is counted per group: the cost of a fit grows with the number
// of different nodes. Groups are in the order of their first nodes.
type NodeGrouping struct {
	Class     []int32   // by group: the class its nodes belong to
	Nodes     [][]int32 // by group, by name
	Size      []int32   // by group: how many they are
	LabelSet  []int32   // by group: number of its combination of labels
	LabelSets int       // combinations of labels

	sorted     sync.Once
	selections *Selections // once sorted
}

// Selections are groups whose nodes differ in what is left of them and in nothing else that a
// pod can choose by: what holds for one of them need not be asked for each.
type Selections struct {
	Groups [][]int32 // by selection
	Nodes  []int64   // by selection: how many there are
}

// mostSelections bounds the combinations that selections are looked up in.
const mostSelections = 1 << 20

// Selections finds the selections of the groups, or sorts the groups into them. Where labels and
// taints could combine in too many ways, each group is a selection.
func (g *NodeGrouping) Selections(c *Columns) *Selections {
	g.sorted.Do(func() {
		f := &Selections{}
		sets := max(1, len(c.TaintSets))
		several := g.LabelSets*sets*4 <= mostSelections
		var known []int32
		if several {
			known = make([]int32, g.LabelSets*sets*4)
		}
		for nodeGroup, class := range g.Class {
			at := len(f.Groups)
			if several {
				key := ((int(g.LabelSet[nodeGroup])*sets+c.TaintSet[class])*2+bit(c.Ready[class]))*2 + bit(c.Cordoned[class])
				if known[key] == 0 {
					known[key] = int32(at + 1)
				}
				at = int(known[key]) - 1
			}
			if at == len(f.Groups) {
				f.Groups, f.Nodes = append(f.Groups, nil), append(f.Nodes, 0)
			}
			f.Groups[at] = append(f.Groups[at], int32(nodeGroup))
			f.Nodes[at] += int64(g.Size[nodeGroup])
		}
		g.selections = f
	})
	return g.selections
}

// groupingOf has a group for each of so many classes; of is the class of each node.
func groupingOf(of []int32, classes int) *NodeGrouping {
	g := &NodeGrouping{
		Class: make([]int32, classes), Nodes: make([][]int32, classes), Size: make([]int32, classes),
		LabelSet: make([]int32, classes), LabelSets: 1,
	}
	for _, class := range of {
		g.Size[class]++
	}
	members, from := make([]int32, len(of)), int32(0)
	for class, n := range g.Size {
		g.Class[class] = int32(class)
		g.Nodes[class] = members[from : from : from+n]
		from += n
	}
	for at, class := range of {
		g.Nodes[class] = append(g.Nodes[class], int32(at))
	}
	return g
}

// Weight is the number of nodes of a group.
func (g *NodeGrouping) Weight(nodeGroup int) int64 { return int64(g.Size[nodeGroup]) }

// Split parts groups whose nodes differ in a value; by node.
func (g *NodeGrouping) Split(value func(at int32) int32) *NodeGrouping {
	differ := func(members []int32) bool {
		return len(members) > 1 && slices.ContainsFunc(members[1:], func(at int32) bool { return value(at) != value(members[0]) })
	}
	if !slices.ContainsFunc(g.Nodes, differ) {
		return g
	}
	out := &NodeGrouping{LabelSets: g.LabelSets}
	for nodeGroup, members := range g.Nodes {
		parts := [][]int32{members}
		if differ(members) {
			parts = partsOf(members, value)
		}
		for _, part := range parts {
			out.Class, out.Nodes = append(out.Class, g.Class[nodeGroup]), append(out.Nodes, part)
		}
	}
	out.sort()
	return out
}

func partsOf(members []int32, value func(int32) int32) [][]int32 {
	var parts [][]int32
	seen := map[int32]int{}
	for _, at := range members {
		v := value(at)
		i, ok := seen[v]
		if !ok {
			i = len(parts)
			seen[v] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], at)
	}
	return parts
}

func (g *NodeGrouping) sort() {
	order := make([]int, len(g.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(g.Nodes[a][0]) - int(g.Nodes[b][0]) })
	class, nodes, size := make([]int32, len(order)), make([][]int32, len(order)), make([]int32, len(order))
	for to, from := range order {
		class[to], nodes[to], size[to] = g.Class[from], g.Nodes[from], int32(len(g.Nodes[from]))
	}
	g.Class, g.Nodes, g.Size = class, nodes, size
}

// Labelled writes down the combination of labels of each group.
func (g *NodeGrouping) Labelled(c *LabelColumn) *NodeGrouping {
	out := &NodeGrouping{Class: g.Class, Nodes: g.Nodes, Size: g.Size, LabelSet: make([]int32, len(g.Nodes)), LabelSets: c.Values}
	for nodeGroup, members := range out.Nodes {
		out.LabelSet[nodeGroup] = c.Of[members[0]]
	}
	return out
}

// GroupNodes parts the classes by labels; made when first asked for and kept.
func (s *Snapshot) GroupNodes(keys []string) *NodeGrouping {
	if keys = s.byLabel.known(keys); len(keys) == 0 {
		return s.Columns().plain
	}
	name := strings.Join(keys, "\x00")
	if g, ok := s.groupings.Get(name); ok {
		return g.(*NodeGrouping)
	}
	column := s.LabelColumn(keys)
	g := s.Columns().plain.Split(func(at int32) int32 { return column.Of[at] }).Labelled(column)
	s.groupings.Add(name, g)
	return g
}
