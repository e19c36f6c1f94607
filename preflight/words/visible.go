package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden says whether a character is not seen where it stands, or obeyed: controls, marks of direction, zero-width ones,
// tags, selectors, separators of lines. Which are not seen is Unicode's Default_Ignorable_Code_Point
// (https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point).
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return unicode.IsControl(r)
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Visible is a text without what a terminal would obey and what nobody sees: manifests and files come from strangers, and
// names of jobs, roles, nodes and logs are printed. Where a joiner or a selector of an emoji says how what stands before
// it is drawn, it stays.
func Visible(s string) string {
	before := rune(0)
	return strings.Map(func(r rune) rune {
		last := before
		if before = r; !Hidden(r) || r == '\n' || r == '\t' || draws(r, last) {
			return r
		}
		return utf8.RuneError
	}, s)
}

// draws says whether a character that is not seen changes how the one before it is drawn: joiners in scripts that join
// letters, the first of which is Arabic, and in emoji, and the selectors of emoji.
func draws(r, before rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner, asText, asEmoji, firstJoined, firstSymbol = '\u200c', '\u200d', '\ufe0e', '\ufe0f', '\u0600', '\u2000'
	switch r {
	case asText, asEmoji:
		return before >= firstSymbol && !Hidden(before)
	case zeroWidthNonJoiner, zeroWidthJoiner:
		return before == asEmoji || before >= firstJoined && !Hidden(before)
	}
	return false
}

// VisibleLine is visible, in one line.
func VisibleLine(s string) string { return strings.ReplaceAll(Visible(s), "\n", " ") }
