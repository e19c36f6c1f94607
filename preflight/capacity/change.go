package capacity

import "fmt"

// changes are the changes that would make the gang fit, smallest first; each was tried.
func (s *Snapshot) changes(g Gang, r *Result) []string {
	var out []string
	if c := s.fewerPods(g); c != "" {
		out = append(out, c)
	}
	return out
}

// fewerPods finds the largest number of pods of the largest group that fits.
func (s *Snapshot) fewerPods(g Gang) string {
	largest := -1
	for i, group := range g.Groups {
		if largest < 0 || group.Count > g.Groups[largest].Count {
			largest = i
		}
	}
	if largest < 0 || g.Groups[largest].Count < 2 {
		return ""
	}
	fits := func(n int) bool {
		h := g
		h.Groups = append([]Group(nil), g.Groups...)
		h.Groups[largest].Count, h.Groups[largest].Min = n, 0
		return s.fit(h).Verdict == Fits
	}
	low, high := 0, g.Groups[largest].Count // low fits or is 0; high does not
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	if low == 0 {
		return ""
	}
	return fmt.Sprintf("fits with %s instead of %d", roleText(g.Groups[largest].Name, low), g.Groups[largest].Count)
}
