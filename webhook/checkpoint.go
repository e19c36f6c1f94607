package webhook

import (
	"maps"
	"slices"
	"time"
)

// checkpoint is the time up to which the sweep has dealt with all jobs.
type checkpoint struct {
	until  time.Time
	behind map[string]time.Time // of kinds that cannot be listed; a kind as Kind.group
}

// of is up to when jobs of a kind have been.
func (p checkpoint) of(kind string) time.Time {
	if at, ok := p.behind[kind]; ok {
		return at
	}
	return p.until
}

// behind notes the kinds whose jobs cannot be looked at, and from when on they are to be once they can.
func (s *Sweep) behind(listed map[string]bool) {
	maps.DeleteFunc(s.from.behind, func(kind string, _ time.Time) bool { _, served := listed[kind]; return !served })
	for _, kind := range slices.Sorted(maps.Keys(listed)) {
		if _, known := s.from.behind[kind]; listed[kind] || known {
			continue
		}
		if s.from.behind == nil {
			s.from.behind = map[string]time.Time{}
		}
		s.from.behind[kind] = s.until.of(kind)
		s.o.Log.Info("jobs of a kind cannot be listed; those that were admitted without a review are found as soon as they can be", "kind", kind)
	}
}
