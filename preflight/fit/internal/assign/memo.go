package assign

import "slices"

// Memo remembers rows of numbers, each with the smallest mark that was given with it.
type Memo struct {
	table []int32  // a power of two; where a row begins in rows, plus 1; 0: free
	other []int32  // the table before it grew
	rows  []uint32 // length, mark, numbers; one after the other
	count int
}

// mostRemembered bounds the numbers that a memo holds: 4 MiB. What is not remembered is
// worked out again.
const mostRemembered = 1 << 20

// Has says whether the row is remembered with a mark that is not larger; else it is from now on.
func (m *Memo) Has(row []uint32, mark uint32) bool {
	_, known := m.Remember(row, mark)
	return known
}

// Remember finds the mark of a row and lowers it; known: it was not larger before.
func (m *Memo) Remember(row []uint32, mark uint32) (was uint32, known bool) {
	if 2*m.count >= len(m.table) {
		m.grow()
	}
	slot := m.slot(row)
	if at := m.table[slot]; at > 0 {
		was = m.rows[at]
		m.rows[at] = min(was, mark)
		return was, was <= mark
	}
	if len(m.rows)+len(row)+2 > mostRemembered {
		return noMark, false
	}
	if need := len(m.rows) + len(row) + 2; need > cap(m.rows) { // append grows in small steps, and leaves them behind
		m.rows = slices.Grow(m.rows, max(4<<10, min(4*cap(m.rows), mostRemembered))-len(m.rows))
	}
	m.rows = append(m.rows, uint32(len(row)), mark)
	m.table[slot] = int32(len(m.rows) - 1)
	m.rows = append(m.rows, row...)
	m.count++
	return noMark, false
}

// noMark is the mark of a row that was not known.
const noMark = ^uint32(0)

// slot is where a row is in the table, or belongs.
func (m *Memo) slot(row []uint32) int {
	hash := uint64(14695981039346656037)
	for _, n := range row {
		hash = (hash ^ uint64(n)) * 1099511628211
	}
	hash ^= hash >> 29
	mask := len(m.table) - 1
	for slot := int(hash) & mask; ; slot = (slot + 1) & mask {
		at := m.table[slot]
		if at == 0 || slices.Equal(m.rows[at+1:][:m.rows[at-1]], row) {
			return slot
		}
	}
}

// Empty forgets all rows and keeps the memory.
func (m *Memo) Empty() *Memo {
	m.rows, m.count, m.table = m.rows[:0], 0, m.table[:0]
	return m
}

func (m *Memo) grow() {
	old, size := m.table, max(64, 4*len(m.table))
	if cap(m.other) < size {
		m.other = make([]int32, size)
	}
	m.table, m.other = m.other[:size], old
	clear(m.table)
	for _, at := range old {
		if at > 0 {
			m.table[m.slot(m.rows[at+1:][:m.rows[at-1]])] = at
		}
	}
}
