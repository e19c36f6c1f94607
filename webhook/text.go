package webhook

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// clip shortens to a number of bytes and marks that it did; it never splits a rune.
func clip(s string, bytes int) string {
	s = strings.ToValidUTF8(s, "�")
	if len(s) <= bytes {
		return s
	}
	const mark = "…"
	end := bytes - len(mark)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:max(end, 0)] + mark
}

// oneLine replaces whatever a warning header cannot carry by single spaces, and drops what nobody sees: a mark of
// direction turns around what a terminal shows behind it.
func oneLine(s string) string {
	s = redact.Visible(s)
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}
