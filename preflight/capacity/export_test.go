package capacity

import "context"

// Verdict is Fit without the search for a change.
func (s *Snapshot) Verdict(ctx context.Context, g Gang) Result {
	r, _ := s.fit(g, newBudget(ctx, mostSteps))
	return r
}

// Within is Fit with so many steps, and how many of them it made.
func (s *Snapshot) Within(ctx context.Context, g Gang, steps int) (r Result, used int) {
	b := newBudget(ctx, steps)
	r = s.answer(g, b)
	return r, b.used
}

// Classes is the number of nodes that differ in more than names and labels.
func (s *Snapshot) Classes() int {
	return len(s.columns().ready)
}

// Memo is the memory of a search.
type Memo struct{ m memo }

// NewMemo remembers nothing yet.
func NewMemo() *Memo { return &Memo{} }

// Has says that a row is remembered, and remembers it.
func (m *Memo) Has(row []uint32) bool { return m.m.has(row, 0) }

// Size is how many numbers are kept.
func (m *Memo) Size() int { return len(m.m.rows) }
