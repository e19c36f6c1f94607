package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible is a text without what a terminal would obey, marks of direction among it: manifests and files come
// from strangers, and names of jobs, roles, nodes and logs are printed.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// VisibleLine is visible, in one line.
func VisibleLine(s string) string { return strings.ReplaceAll(Visible(s), "\n", " ") }
