package cluster

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// nodeClass is nodes that a fit cannot tell apart but for their names and labels.
type nodeClass struct {
	key             string
	ready, cordoned bool
	busy            bool      // something would be gone were it idle
	taints          *taintSet // those of its nodes
	room            []int64   // free, then idle, by column

	// Fields of the store; snapshots share the class and must not look at these.
	nodes int
	slot  int32
}

// taintSet is the taints that some classes have in common.
type taintSet struct {
	text    string
	taints  []corev1.Taint
	classes int // the store's own
}

// nodeClasses are the classes of a store's nodes. A node that changes joins another one; the
// others stay.
type nodeClasses struct {
	offered map[corev1.ResourceName]int // nodes that name the resource
	names   []corev1.ResourceName       // the columns, sorted; nil: to be made anew
	index   map[corev1.ResourceName]int
	byKey   map[string]*nodeClass
	round   int // of the columns
	taints  map[string]*taintSet
	slots   []*nodeClass // nil: free
	free    []int32      // slots
	key     []byte       // scratch
	room    []int64      // scratch
}

// offer counts a node by what it offers, and not any more by what it did before.
func (c *nodeClasses) offer(before, now job.Resources) {
	count := func(what, other job.Resources, n int) {
		for name := range what {
			if _, both := other[name]; both {
				continue
			}
			was := c.offered[name]
			put(&c.offered, name, was+n)
			if was+n == 0 {
				delete(c.offered, name)
			}
			if was == 0 || was+n == 0 {
				c.names = nil
			}
		}
	}
	count(before, now, -1)
	count(now, before, 1)
}

// reset makes the columns anew if the resources are others than before. Then every node
// has to join again.
func (c *nodeClasses) reset() bool {
	if c.names != nil {
		return false
	}
	c.names = slices.Sorted(maps.Keys(c.offered))
	if _, ok := slices.BinarySearch(c.names, corev1.ResourcePods); !ok {
		c.names = append(c.names, corev1.ResourcePods)
		slices.Sort(c.names)
	}
	c.index = make(map[corev1.ResourceName]int, len(c.names))
	for i, name := range c.names {
		c.index[name] = i
	}
	c.byKey, c.taints = map[string]*nodeClass{}, map[string]*taintSet{}
	c.slots, c.free = nil, nil
	c.round++
	c.room = make([]int64, 2*len(c.names))
	return true
}

// join puts a node into the class that it belongs to now.
func (c *nodeClasses) join(b *nodeInfo) {
	n, columns := b.node, len(c.names)
	if b.has == nil || b.round != c.round {
		b.has, b.round = make([]int64, columns), c.round
		for i, name := range c.names {
			b.has[i] = offer(b.allocatable, name, b.silent)
		}
	}
	c.fill(c.room[:columns], b.has, n.used)
	c.fill(c.room[columns:], b.has, n.resident)
	c.key = append(c.key[:0], byte(bit(n.Ready)), byte(bit(n.Cordoned)))
	for _, amount := range c.room {
		c.key = binary.AppendUvarint(c.key, uint64(amount))
	}
	c.key = append(c.key, b.taints...)
	to := c.byKey[string(c.key)]
	if to == nil {
		to = c.add(b)
	}
	to.nodes++ // counted before the node leaves its old class, which may be the same and would go with its last node
	c.leave(b)
	b.class = to
}

// fill writes down what is left by column.
func (c *nodeClasses) fill(room, has []int64, used amounts) {
	for i, name := range c.names {
		for len(used) > 0 && used[0].Name < name {
			used = used[1:]
		}
		room[i] = left(has[i], 0)
		if len(used) > 0 && used[0].Name == name {
			room[i] = left(has[i], used[0].N)
		}
	}
}

// add makes a class for a node that is like no other.
func (c *nodeClasses) add(b *nodeInfo) *nodeClass {
	n := b.node
	to := &nodeClass{
		key: string(c.key), ready: n.Ready, cordoned: n.Cordoned, room: slices.Clone(c.room),
		busy: !slices.Equal(c.room[:len(c.names)], c.room[len(c.names):]), taints: c.taints[b.taints],
	}
	if to.taints == nil {
		to.taints = &taintSet{text: b.taints, taints: n.Taints}
		c.taints[b.taints] = to.taints
	}
	to.taints.classes++
	c.byKey[to.key] = to
	if last := len(c.free) - 1; last >= 0 {
		to.slot, c.free = c.free[last], c.free[:last]
		c.slots[to.slot] = to
	} else {
		to.slot = int32(len(c.slots))
		c.slots = append(c.slots, to)
	}
	return to
}

// leave takes a node out of its class, and the class away with its last node.
func (c *nodeClasses) leave(b *nodeInfo) {
	from := b.class
	b.class = nil
	if from == nil || c.byKey[from.key] != from { // of earlier columns
		return
	}
	if from.nodes--; from.nodes > 0 {
		return
	}
	delete(c.byKey, from.key)
	c.slots[from.slot] = nil
	c.free = append(c.free, from.slot)
	if from.taints.classes--; from.taints.classes == 0 {
		delete(c.taints, from.taints.text)
	}
}

// classifiedNodes is the nodes by name, and what of them a fit looks at: which are alike.
type classifiedNodes struct {
	nodes   []*Node
	classOf []int32      // by node: its class
	classes []*nodeClass // in no order; nil: none
	index   map[corev1.ResourceName]int
}

// copy is the line for a snapshot to keep.
func (l *classifiedNodes) copy() classifiedNodes {
	return classifiedNodes{slices.Clone(l.nodes), slices.Clone(l.classOf), slices.Clone(l.classes), l.index}
}

// numbered are the classes in the order of their first nodes, and the class of each node.
func (l *classifiedNodes) numbered() (classes []*nodeClass, of []int32) {
	number := make([]int32, len(l.classes)) // by slot: its number, from 1 on
	classes, of = make([]*nodeClass, 0, len(l.classes)), make([]int32, len(l.classOf))
	for at, slot := range l.classOf {
		if number[slot] == 0 {
			classes = append(classes, l.classes[slot])
			number[slot] = int32(len(classes))
		}
		of[at] = number[slot] - 1
	}
	return classes, of
}

// makeColumns works out the numbers of the line. They are made when the first fit asks for them:
// most snapshots are replaced before a fit asks.
func (l *classifiedNodes) makeColumns() Columns {
	classes, of := l.numbered()
	n, resources := len(classes), len(l.index)
	c := Columns{
		Index: l.index, Free: make([][]int64, resources), Idle: make([][]int64, resources),
		Ready: make([]bool, n), Cordoned: make([]bool, n), Busy: make([]bool, n), TaintSet: make([]int, n),
		plain: groupingOf(of, n),
	}
	block := make([]int64, 2*resources*n)
	for i := range resources {
		c.Free[i], c.Idle[i] = block[i*n:][:n:n], block[(resources+i)*n:][:n:n]
	}
	sets, last, lastAt := map[*taintSet]int{}, (*taintSet)(nil), 0
	for at, k := range classes {
		for i, amount := range k.room {
			block[i*n+at] = amount
		}
		c.Ready[at], c.Cordoned[at], c.Busy[at] = k.ready, k.cordoned, k.busy
		if k.taints != last {
			known := false
			if lastAt, known = sets[k.taints]; !known {
				lastAt = len(c.TaintSets)
				sets[k.taints] = lastAt
				c.TaintSets = append(c.TaintSets, k.taints.taints)
			}
			last = k.taints
		}
		c.TaintSet[at] = lastAt
	}
	return c
}

// Separate makes each node a class of its own, so that the room on one can change alone. The
// snapshot must be the caller's own, and its columns not asked for yet.
func (l *classifiedNodes) Separate() {
	classes := make([]*nodeClass, len(l.nodes))
	for at := range l.nodes {
		classes[at] = l.classes[l.classOf[at]]
		l.classOf[at] = int32(at)
	}
	l.classes = classes
}
