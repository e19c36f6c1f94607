package capacity

import (
	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// scratch is memory in which an answer is worked out. What is counted per cell is large and
// of no use afterwards; the next answer works in the same place, so that nobody has to
// clear it away. For one answer at a time.
type scratch struct {
	block []int32
	used  int
	lent  []*packing // in the order of desks
	desks []desk
	seen  memo // of one search at a time
}

// desk is the room for a packing.
type desk struct {
	pieces []piece
	rooms  []int64
	counts []int32
}

// What of the memory is kept for the next answer.
const (
	mostKept  = 4 << 20 // numbers
	mostDesks = 8
)

// borrow gives memory that release takes back; not giving it back costs nothing else.
func borrow(s *cluster.Snapshot) *scratch {
	if pool := s.Pool(); pool != nil {
		if m, ok := pool.Get().(*scratch); ok {
			return m
		}
	}
	return &scratch{}
}

// release gives back the memory of a ground on which nobody counts any more.
func (on *ground) release() {
	if on == nil || on.s.Pool() == nil || on.memory == nil {
		return
	}
	m := on.memory
	on.memory = nil
	for i, p := range m.lent {
		m.desks[i] = desk{}
		if cap(p.rooms) <= mostKept {
			clear(p.pieces[:cap(p.pieces)]) // they hold on to nodes of the view
			m.desks[i] = desk{p.pieces[:0], p.rooms[:0], p.counts[:0]}
		}
	}
	m.used, m.lent = 0, m.lent[:0]
	if len(m.block) > mostKept {
		m.block = nil
	}
	on.s.Pool().Put(m)
}

// numbers are as many zeros.
func (on *ground) numbers(n int) []int32 {
	m := on.memory
	if m == nil {
		return make([]int32, n)
	}
	if m.used+n > len(m.block) {
		m.block, m.used = make([]int32, max(2*len(m.block), 8*n)), 0
	}
	out := m.block[m.used:][:n:n]
	m.used += n
	clear(out)
	return out
}

// furnish gives an empty packing room to grow in.
func (m *scratch) furnish(p *packing) {
	if m == nil || len(m.lent) == mostDesks {
		return
	}
	at := len(m.lent)
	if at == len(m.desks) {
		m.desks = append(m.desks, desk{})
	}
	d := m.desks[at]
	p.pieces, p.rooms, p.counts = d.pieces, d.rooms, d.counts
	m.lent = append(m.lent, p)
}

// memo is an empty memo, for one search at a time.
func (on *ground) memo() *memo {
	if on.memory == nil {
		return &memo{}
	}
	return on.memory.seen.empty()
}
