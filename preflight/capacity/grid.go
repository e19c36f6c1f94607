package capacity

import (
	"slices"
	"strings"
	"sync"

	"k8s.io/utils/lru"
)

// grid parts the nodes into cells that no pod of a gang, nor of the changes tried of it,
// can tell apart. Everything is counted per cell: the cost of a fit grows with the number
// of different nodes. Cells are in the order of their first nodes.
type grid struct {
	class  []int32   // by cell: the class its nodes belong to
	nodes  [][]int32 // by cell, by name
	size   []int32   // by cell: how many they are
	labels []int32   // by cell: number of its combination of labels
	kinds  int       // combinations of labels

	sorted sync.Once
	alike  *families // once sorted
}

// families are cells whose nodes differ in what is left of them and in nothing else that a
// pod can choose by: what holds for one of them need not be asked for each.
type families struct {
	cells [][]int32 // by family
	nodes []int64   // by family: how many there are
}

// mostFamilies bounds the combinations that families are looked up in.
const mostFamilies = 1 << 20

// families finds the families of the cells, or sorts the cells into them. Where labels and
// taints could combine in too many ways, each cell is a family.
func (g *grid) families(c *columns) *families {
	g.sorted.Do(func() {
		f := &families{}
		sets := max(1, len(c.taintSets))
		several := g.kinds*sets*4 <= mostFamilies
		var known []int32
		if several {
			known = make([]int32, g.kinds*sets*4)
		}
		for cell, class := range g.class {
			at := len(f.cells)
			if several {
				key := ((int(g.labels[cell])*sets+c.taintSet[class])*2+bit(c.ready[class]))*2 + bit(c.cordoned[class])
				if known[key] == 0 {
					known[key] = int32(at + 1)
				}
				at = int(known[key]) - 1
			}
			if at == len(f.cells) {
				f.cells, f.nodes = append(f.cells, nil), append(f.nodes, 0)
			}
			f.cells[at] = append(f.cells[at], int32(cell))
			f.nodes[at] += int64(g.size[cell])
		}
		g.alike = f
	})
	return g.alike
}

// gridOf has a cell for each of so many classes; of is the class of each node.
func gridOf(of []int32, classes int) *grid {
	g := &grid{
		class: make([]int32, classes), nodes: make([][]int32, classes), size: make([]int32, classes),
		labels: make([]int32, classes), kinds: 1,
	}
	for _, class := range of {
		g.size[class]++
	}
	members, from := make([]int32, len(of)), int32(0)
	for class, n := range g.size {
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
func (g *grid) weight(cell int) int64 { return int64(g.size[cell]) }

// split parts cells whose nodes differ in a value; by node.
func (g *grid) split(value func(at int32) int32) *grid {
	differ := func(members []int32) bool {
		return len(members) > 1 && slices.ContainsFunc(members[1:], func(at int32) bool { return value(at) != value(members[0]) })
	}
	if !slices.ContainsFunc(g.nodes, differ) {
		return g
	}
	out := &grid{kinds: g.kinds}
	for cell, members := range g.nodes {
		parts := [][]int32{members}
		if differ(members) {
			parts = partsOf(members, value)
		}
		for _, part := range parts {
			out.class, out.nodes = append(out.class, g.class[cell]), append(out.nodes, part)
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

func (g *grid) sort() {
	order := make([]int, len(g.nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return int(g.nodes[a][0]) - int(g.nodes[b][0]) })
	class, nodes, size := make([]int32, len(order)), make([][]int32, len(order)), make([]int32, len(order))
	for to, from := range order {
		class[to], nodes[to], size[to] = g.class[from], g.nodes[from], int32(len(g.nodes[from]))
	}
	g.class, g.nodes, g.size = class, nodes, size
}

// labelled writes down the combination of labels of each cell.
func (g *grid) labelled(c *labelColumn) *grid {
	out := &grid{class: g.class, nodes: g.nodes, size: g.size, labels: make([]int32, len(g.nodes)), kinds: c.values}
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

// labelColumns are made when first asked for and kept, by keys. Keys are what users write:
// those that no node has make no column, and of the others few are kept.
type labelColumns struct {
	keys map[string]int // that nodes have; read-only
	made *lru.Cache     // keys, joined -> *labelColumn
	none *labelColumn   // where no node has any of the keys
}

// mostColumns and mostGrids bound what is kept; a column of 15,000 nodes takes 60 KB, what
// they are parted into by it up to ten times as much.
const (
	mostColumns = 64
	mostGrids   = 16
)

// labelColumnsOf has columns for so many nodes that have these keys.
func labelColumnsOf(nodes int, keys map[string]int) *labelColumns {
	return &labelColumns{keys: keys, made: lru.New(mostColumns), none: &labelColumn{of: make([]int32, nodes), values: 1}}
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
func (l *labelColumns) column(nodes []*Node, keys []string) *labelColumn {
	if keys = l.known(keys); len(keys) == 0 {
		return l.none
	}
	name := strings.Join(keys, "\x00")
	if c, ok := l.made.Get(name); ok {
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
	l.made.Add(name, c)
	return c
}

// labelPair is a number of earlier keys, and that of one more.
type labelPair struct{ before, value int32 }

// gridBy parts the classes by labels; made when first asked for and kept.
func (s *Snapshot) gridBy(keys []string) *grid {
	if keys = s.byLabel.known(keys); len(keys) == 0 {
		return s.columns().plain
	}
	name := strings.Join(keys, "\x00")
	if g, ok := s.grids.Get(name); ok {
		return g.(*grid)
	}
	column := s.labelColumn(keys)
	g := s.columns().plain.split(func(at int32) int32 { return column.of[at] }).labelled(column)
	s.grids.Add(name, g)
	return g
}

// labelColumn numbers the combinations of values that some labels have on the nodes.
func (s *Snapshot) labelColumn(keys []string) *labelColumn { return s.byLabel.column(s.nodes, keys) }
