package attribute

import "slices"

// MoreSpecific says that one signature knows a line that both match more specifically than the other, by their
// examples.
func MoreSpecific(one, other string) bool { return slices.Contains(precedence[one], other) }
