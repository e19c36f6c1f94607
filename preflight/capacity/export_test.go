package capacity

// Verdict is Fit without the search for a change.
func (s *Snapshot) Verdict(g Gang) Result { return s.fit(g, &memo{}) }
