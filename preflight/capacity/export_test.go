package capacity

import (
	"context"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// VerdictOf is Fit without the search for a change.
func VerdictOf(ctx context.Context, s *cluster.Snapshot, g gang.Gang) Result {
	r, _ := fit(s, g, newBudget(ctx, mostSteps))
	return r
}

// Within is Fit with so many steps, and how many of them it made.
func Within(ctx context.Context, s *cluster.Snapshot, g gang.Gang, steps int) (r Result, used int) {
	b := newBudget(ctx, steps)
	r = answerAll(s, g, b)
	return r, b.used
}

// Classes is the number of nodes that differ in more than names and labels.
func Classes(s *cluster.Snapshot) int {
	return len(s.Columns().Ready)
}

// Memo is the memory of a search.
type Memo struct{ m memo }

// NewMemo remembers nothing yet.
func NewMemo() *Memo { return &Memo{} }

// Has says that a row is remembered, and remembers it.
func (m *Memo) Has(row []uint32) bool { return m.m.has(row, 0) }

// Size is how many numbers are kept.
func (m *Memo) Size() int { return len(m.m.rows) }
