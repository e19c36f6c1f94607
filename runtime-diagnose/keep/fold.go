package keep

import (
	"cmp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

// levels are how many bytes of text a log keeps when it is folded once, twice, three times.
var levels = [...]int{Budget, 4 << 10, 1 << 10, 0}

const lastLevel = len(levels) - 1

// fold shortens logs until they have at most room bytes, and says whether it did: of earlier
// attempts first, the oldest first, down to nothing; then those of the last attempt together, level
// by level. Within one attempt those that ended last give way: what ended first is nearest to the
// cause.
func (s *Set) fold(room int) (folded bool) {
	used := s.texts()
	var attempts [][]*record // by how many came after
	for _, e := range s.Ends() {
		for len(attempts) <= e.Attempt {
			attempts = append(attempts, nil)
		}
		attempts[e.Attempt] = append(attempts[e.Attempt], e.record)
	}
	for _, all := range slices.Backward(attempts) {
		slices.SortFunc(all, func(a, b *record) int { return cmp.Or(later(a, b), cmp.Compare(a.file(), b.file())) })
		for level := 1; level <= lastLevel; level++ {
			for _, r := range all {
				if used <= room {
					return folded
				}
				if r.level < level {
					used -= r.text.bytes
					r.foldTo(level)
					used += r.text.bytes
					folded = true
				}
			}
		}
	}
	return folded
}

func (r *record) foldTo(level int) {
	r.level = level
	switch {
	case levels[level] == 0:
		r.text, r.spans, r.hits = packed{}, nil, nil
	case r.text.bytes > levels[level]: // what is short enough stays whole
		r.put(r.excerpt().Within(levels[level]))
	}
}

func (r *record) excerpt() Excerpt {
	e := Excerpt{Hits: r.hits, Read: r.read, Bytes: r.bytes}
	n := numbers(r.spans)
	for line := range strings.Lines(string(r.text.unpack())) {
		if len(e.Lines) >= len(n) {
			break
		}
		e.Lines = append(e.Lines, reduce.Kept{Number: n[len(e.Lines)], Text: strings.TrimSuffix(line, "\n")})
	}
	return e
}

// drop removes a quarter of the records, of the oldest attempts, and pods that no record is of;
// false: there is nothing left to remove.
func (s *Set) drop() bool {
	ends := s.Ends()
	if len(ends) == 0 {
		if len(s.pods) == 0 {
			return false
		}
		all := s.Pods()
		for _, p := range all[len(all)*3/4:] {
			delete(s.pods, p.UID)
		}
		return true
	}
	slices.SortStableFunc(ends, func(a, b End) int {
		return cmp.Or(-cmp.Compare(a.Attempt, b.Attempt), later(a.record, b.record), cmp.Compare(a.record.file(), b.record.file()))
	})
	gone := ends[:max(1, len(ends)/4)]
	for _, e := range gone {
		delete(s.records, e.Key)
		s.gone = append(s.gone, e.Key)
	}
	s.dropped += len(gone)
	used := map[string]bool{}
	for key := range s.records {
		used[string(key.Pod)] = true
	}
	for _, e := range gone {
		if !used[string(e.Pod)] {
			delete(s.pods, e.Pod)
		}
	}
	return true
}
