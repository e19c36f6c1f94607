package capacity

// Verdict is Fit without the search for a change.
func (s *Snapshot) Verdict(g Gang) Result {
	r, _ := s.fit(g)
	return r
}

// Classes is the number of nodes that differ in more than names and labels.
func (s *Snapshot) Classes() int {
	s.lineUp()
	return len(s.cols.ready)
}
