package signature

import (
	"strings"
	"unicode/utf8"
)

// Expression is a pattern outside the catalog that is tried as those of signatures are: of its alternatives only those
// whose texts stand where it is looked for. Most are asked of many texts, and match few.
type Expression struct{ matcher *matcher }

// NewExpression is the expression of a pattern; it is taken apart when it is first asked.
func NewExpression(pattern string) Expression {
	return Expression{&matcher{pattern: pattern, needs: make([][]string, len(alternatives(pattern)))}}
}

// Text is one that several expressions are asked about.
type Text struct {
	text string
	line folded
}

// NewText prepares a text for them.
func NewText(text string) *Text {
	t := &Text{text: text}
	lower, beyond := text, strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
	if beyond { // letters of ASCII have forms there
		lower = strings.ToLower(text)
	}
	t.line.set(lower)
	t.line.beyond = beyond
	return t
}

// In is where the leftmost match stands in a text, as [regexp.Regexp.FindStringIndex] tells it.
func (e Expression) In(t *Text) []int {
	m := e.matcher
	m.once.Do(m.prepare)
	var best []int
	for i := range m.branches {
		if _, at := m.branches[i].tried(t.text, &t.line); at != nil && (best == nil || at[0] < best[0]) {
			best = at[:2]
		}
	}
	return best
}
