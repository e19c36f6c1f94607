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
	s.lineUp()
	return len(s.cols.ready)
}
