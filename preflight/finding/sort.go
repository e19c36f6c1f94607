package finding

import (
	"cmp"
	"slices"
)

// Sort orders gravest first, of one severity what keeps the job from running at all, then by path, check and message: a total order, so that
// two runs print the same bytes.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity),
			first(a.Stops, b.Stops),
			a.Path.Compare(b.Path),
			cmp.Compare(a.Check, b.Check),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// first orders a before b where a alone is so.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
