package assign

import "sync"

// arena is memory in which an answer is worked out. What is counted per node group is large and
// of no use afterwards; the next answer works in the same place, so that nothing has to
// be collected. For one answer at a time.
type arena struct {
	block     []int32
	Used      int
	handedOut []*Assignment // in the order of desks
	slots     []arenaSlot
	onNodes   []NodePods // of one pod set at a time
	seen      Memo       // of one search at a time
}

// arenaSlot is the room for an assignment.
type arenaSlot struct {
	pieces []bin
	rooms  []int64
	counts []int32
}

// What of the memory is kept for the next answer.
const (
	mostKept  = 4 << 20 // numbers
	mostDesks = 8
)

// arenas are those that no answer works in. An answer that keeps its own costs nothing else.
var arenas = sync.Pool{New: func() any { return &arena{} }}

// Release gives back the memory of a cycle that is not used any more.
func (cycle *Cycle) Release() {
	if cycle == nil || cycle.Arena == nil {
		return
	}
	m := cycle.Arena
	cycle.Arena = nil
	for i, p := range m.handedOut {
		m.slots[i] = arenaSlot{}
		if cap(p.binRooms) <= mostKept {
			clear(p.Bins[:cap(p.Bins)]) // they hold on to nodes of the view
			m.slots[i] = arenaSlot{p.Bins[:0], p.binRooms[:0], p.binCounts[:0]}
		}
	}
	if cap(m.onNodes) > mostKept {
		m.onNodes = nil
	}
	m.Used, m.handedOut = 0, m.handedOut[:0]
	if len(m.block) > mostKept {
		m.block = nil
	}
	arenas.Put(m)
}

// Numbers are as many zeros.
func (cycle *Cycle) Numbers(n int) []int32 {
	m := cycle.Arena
	if m == nil {
		return make([]int32, n)
	}
	if m.Used+n > len(m.block) {
		m.block, m.Used = make([]int32, max(2*len(m.block), 8*n)), 0
	}
	out := m.block[m.Used:][:n:n]
	m.Used += n
	clear(out)
	return out
}

// onNodes is room for where the pods of a pod set are.
func (cycle *Cycle) onNodes() *[]NodePods {
	if cycle.Arena == nil {
		return new([]NodePods)
	}
	return &cycle.Arena.onNodes
}

// prepare gives an empty assignment room to grow in.
func (m *arena) prepare(p *Assignment) {
	if m == nil || len(m.handedOut) == mostDesks {
		return
	}
	at := len(m.handedOut)
	if at == len(m.slots) {
		m.slots = append(m.slots, arenaSlot{})
	}
	d := m.slots[at]
	p.Bins, p.binRooms, p.binCounts = d.pieces, d.rooms, d.counts
	m.handedOut = append(m.handedOut, p)
}

// Memo is an empty memo, for one search at a time.
func (cycle *Cycle) Memo() *Memo {
	if cycle.Arena == nil {
		return &Memo{}
	}
	return cycle.Arena.seen.Empty()
}
