package capacity

import (
	"slices"
	"strings"
	"sync"
)

// grid parts the nodes into cells that no pod of a gang, nor of the changes tried of it,
// can tell apart. Everything is counted per cell: the cost of a fit grows with the number
// of different nodes. Cells are in the order of their first nodes.
type grid struct {
	class  []int32   // by cell: the class its nodes belong to
	nodes  [][]int32 // by cell, by name
	labels []int32   // by cell: number of its combination of labels
	kinds  int       // combinations of labels
}

// gridOf has a cell for each of so many classes; of is the class of each node.
func gridOf(of []int32, classes int) *grid {
	g := &grid{
		class: make([]int32, classes), nodes: make([][]int32, classes),
		labels: make([]int32, classes), kinds: 1,
	}
	counts := make([]int32, classes)
	for _, class := range of {
		counts[class]++
	}
	members, from := make([]int32, len(of)), int32(0)
	for class, n := range counts {
		g.class[class] = int32(class)
		g.nodes[class] = members[from : from : from+n]
		from += n
	}
	for at, class := range of {
		g.nodes[class] = append(g.nodes[class], int32(at))
	}
	return g
}

// weight is the number of nodes of a cell.
func (g *grid) weight(cell int) int64 { return int64(len(g.nodes[cell])) }

// split parts cells whose nodes differ in a value; by node.
func (g *grid) split(value func(at int32) int32) *grid {
	out := &grid{labels: g.labels, kinds: g.kinds}
	whole := true
	for cell, members := range g.nodes {
		first, same := value(members[0]), true
		for _, at := range members[1:] {
			if value(at) != first {
				same = false
				break
			}
		}
		parts := [][]int32{members}
		if !same {
			parts, whole = partsOf(members, value), false
		}
		for _, part := range parts {
			out.class, out.nodes = append(out.class, g.class[cell]), append(out.nodes, part)
		}
	}
	if whole {
		return g
	}
	out.sort()
	out.labels = nil
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

func (g *grid) sort() {
	order := make([]int, len(g.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(g.nodes[a][0]) - int(g.nodes[b][0]) })
	class, nodes := make([]int32, len(order)), make([][]int32, len(order))
	for to, from := range order {
		class[to], nodes[to] = g.class[from], g.nodes[from]
	}
	g.class, g.nodes = class, nodes
}

// labelled writes down the combination of labels of each cell.
func (g *grid) labelled(c *labelColumn) *grid {
	out := &grid{class: g.class, nodes: g.nodes, labels: make([]int32, len(g.nodes)), kinds: c.values}
	for cell, members := range out.nodes {
		out.labels[cell] = c.of[members[0]]
	}
	return out
}

// labelColumn numbers the values that labels have on each node, by node.
type labelColumn struct {
	of     []int32
	values int
}

// labelColumns are made when first asked for and kept, by keys.
type labelColumns struct{ made sync.Map }

// column numbers the combinations of values of some keys; a label that is not there is a
// value of its own.
func (l *labelColumns) column(nodes []*Node, keys []string) *labelColumn {
	name := strings.Join(keys, "\x00")
	if c, ok := l.made.Load(name); ok {
		return c.(*labelColumn)
	}
	c := &labelColumn{of: make([]int32, len(nodes)), values: 1}
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
			both := labelPair{c.of[at], v}
			id, ok := seen[both]
			if !ok {
				id = int32(len(seen))
				seen[both] = id
			}
			c.of[at] = id
		}
		c.values = max(1, len(seen))
	}
	kept, _ := l.made.LoadOrStore(name, c)
	return kept.(*labelColumn)
}

// labelPair is a number of earlier keys, and that of one more.
type labelPair struct{ before, value int32 }

// gridBy parts the classes by labels; made when first asked for and kept.
func (s *Snapshot) gridBy(keys []string) *grid {
	if len(keys) == 0 {
		return s.cols.plain
	}
	name := strings.Join(keys, "\x00")
	if g, ok := s.grids.Load(name); ok {
		return g.(*grid)
	}
	column := s.byLabel.column(s.nodes, keys)
	g := s.cols.plain.split(func(at int32) int32 { return column.of[at] }).labelled(column)
	kept, _ := s.grids.LoadOrStore(name, g)
	return kept.(*grid)
}
