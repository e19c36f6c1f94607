package finding

import (
	"cmp"
	"slices"
)

// Sort orders gravest first, then by path, check and message: a total order, so that
// two runs print the same bytes.
func Sort(fs []Finding) {
	slices.SortStableFunc(fs, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(b.Severity, a.Severity),
			a.Path.Compare(b.Path),
			cmp.Compare(a.Check, b.Check),
			cmp.Compare(a.Message, b.Message),
		)
	})
}
