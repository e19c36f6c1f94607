package capacity

import (
	"encoding/binary"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// class is nodes that a fit cannot tell apart but for their names and labels.
type class struct {
	key             string
	ready, cordoned bool
	busy            bool      // something would be gone were it idle
	taints          *taintSet // those of its nodes
	room            []int64   // free, then idle, by column

	// The ledger's own; snapshots share the class and must not look at these.
	nodes int
	round int // of the last snapshot that numbered it
	at    int32
}

// taintSet is the taints that some classes have in common.
type taintSet struct {
	text    string
	taints  []corev1.Taint
	classes int // the ledger's own
}

// classes are the classes of a ledger's nodes. A node that changes joins another one; the
// others stay.
type classes struct {
	offered map[corev1.ResourceName]int // nodes that name the resource
	names   []corev1.ResourceName       // the columns, sorted; nil: to be made anew
	index   map[corev1.ResourceName]int
	byKey   map[string]*class
	taints  map[string]*taintSet
	key     []byte  // scratch
	room    []int64 // scratch
	round   int
}

// offer counts nodes by what they offer.
func (c *classes) offer(what job.Resources, n int) {
	for name := range what {
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

// reset makes the columns anew if the resources are others than before. Then every node
// has to join again.
func (c *classes) reset() bool {
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
	c.byKey, c.taints = map[string]*class{}, map[string]*taintSet{}
	c.room = make([]int64, 2*len(c.names))
	return true
}

// join puts a node into the class that it belongs to now.
func (c *classes) join(b *berth) {
	n := b.node
	for i, name := range c.names {
		c.room[i], c.room[len(c.names)+i] = n.Free(name), n.Idle(name)
	}
	c.key = append(c.key[:0], byte(bit(n.Ready)), byte(bit(n.Cordoned)))
	for _, amount := range c.room {
		c.key = binary.AppendUvarint(c.key, uint64(amount))
	}
	c.key = append(c.key, b.taints...)
	to := c.byKey[string(c.key)]
	if to == nil {
		to = c.found(b)
	}
	to.nodes++ // before it leaves, lest the last one closes the door
	c.leave(b)
	b.class = to
}

// found founds a class.
func (c *classes) found(b *berth) *class {
	n := b.node
	to := &class{
		key: string(c.key), ready: n.Ready, cordoned: n.Cordoned, room: slices.Clone(c.room),
		busy: !slices.Equal(c.room[:len(c.names)], c.room[len(c.names):]), taints: c.taints[b.taints],
	}
	if to.taints == nil {
		to.taints = &taintSet{text: b.taints, taints: n.Taints}
		c.taints[b.taints] = to.taints
	}
	to.taints.classes++
	c.byKey[to.key] = to
	return to
}

// leave takes a node out of its class, and the class away with its last node.
func (c *classes) leave(b *berth) {
	from := b.class
	b.class = nil
	if from == nil || c.byKey[from.key] != from { // of earlier columns
		return
	}
	if from.nodes--; from.nodes > 0 {
		return
	}
	delete(c.byKey, from.key)
	if from.taints.classes--; from.taints.classes == 0 {
		delete(c.taints, from.taints.text)
	}
}

// line is the nodes by name, and what of them a fit looks at: which are alike.
type line struct {
	nodes   []*Node
	of      []int32  // by node: its class
	classes []*class // in the order of their first nodes
	index   map[corev1.ResourceName]int
}

func (l *Ledger) line() line {
	t := &l.classes
	t.round++
	out := line{
		nodes: make([]*Node, len(l.order)), of: make([]int32, len(l.order)),
		classes: make([]*class, 0, len(t.byKey)), index: t.index,
	}
	for at, b := range l.order {
		k := b.class
		if k.round != t.round {
			k.round, k.at = t.round, int32(len(out.classes))
			out.classes = append(out.classes, k)
		}
		out.nodes[at], out.of[at] = b.node, k.at
	}
	return out
}

// columns are the numbers of the line. They are made when the first fit asks for them:
// most snapshots are replaced before anybody asks.
func (l *line) columns() columns {
	n, resources := len(l.classes), len(l.index)
	c := columns{
		index: l.index, free: make([][]int64, resources), idle: make([][]int64, resources),
		ready: make([]bool, n), cordoned: make([]bool, n), busy: make([]bool, n), taintSet: make([]int, n),
		plain: gridOf(l.of, n),
	}
	block := make([]int64, 2*resources*n)
	for i := range resources {
		c.free[i], c.idle[i] = block[i*n:][:n:n], block[(resources+i)*n:][:n:n]
	}
	sets, last, lastAt := map[*taintSet]int{}, (*taintSet)(nil), 0
	for at, k := range l.classes {
		for i, amount := range k.room {
			block[i*n+at] = amount
		}
		c.ready[at], c.cordoned[at], c.busy[at] = k.ready, k.cordoned, k.busy
		if k.taints != last {
			known := false
			if lastAt, known = sets[k.taints]; !known {
				lastAt = len(c.taintSets)
				sets[k.taints] = lastAt
				c.taintSets = append(c.taintSets, k.taints.taints)
			}
			last = k.taints
		}
		c.taintSet[at] = lastAt
	}
	return c
}
