package reduce

import "strings"

// Plain is a text that came in one piece (a message of the platform, or the end of a log in
// it), as people and models may see it: secrets masked, keys hidden, without what a terminal
// would obey.
func Plain(text string) string {
	var s scanner
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Mask(s.key.hide(s.clean([]byte(line))))
	}
	if len(lines) == 1 {
		return strings.Clone(lines[0]) // which holds on to no more than itself
	}
	return strings.Join(lines, "\n")
}
