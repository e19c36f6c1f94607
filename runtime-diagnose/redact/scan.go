package redact

import (
	"cmp"
	"slices"
	"strings"
)

// Most lines hold no secret, and asking each rule of each line takes as long as everything else that is
// done with it. So the gates of all rules are looked for in one pass: by a table of the first three bytes
// of each. A rule is asked only where one of its gates stands, about what stands there.

// span is what is to be masked.
type span struct{ from, to int }

// rule finds one kind of secret.
type rule struct {
	gates []string // in lower case, of three bytes or more: one of them stands where a secret is, or is named
	// find is asked where a gate stands. It adds what it found and answers up to where it has read: the same
	// rule is not asked again before.
	find func(s *scan, at int) (read int)
}

// scan is one pass over a line.
type scan struct {
	text  string
	spans []span
}

// mask notes a span, but for what of it is masked already: half a "[masked]" at either end is none.
func (s *scan) mask(from, to int) {
	for i := max(0, from-len(masked)+1); i < from; i++ {
		if strings.HasPrefix(s.text[i:], masked) {
			from = i + len(masked)
		}
	}
	for i := max(from, to-len(masked)+1); i < to; i++ {
		if strings.HasPrefix(s.text[i:], masked) && i+len(masked) > to {
			to = i
		}
	}
	if from < to && strings.ReplaceAll(s.text[from:to], masked, "") != "" {
		s.spans = append(s.spans, span{from, to})
	}
}

type gate struct {
	text string
	form *form // or
	rule int
}

const grams = 1 << 15

// gram is a hash of three bytes in lower case.
func gram(a, b, c byte) int {
	return (int(lower[a])<<10 ^ int(lower[b])<<5 ^ int(lower[c])) & (grams - 1)
}

// lower is the lower case of ASCII letters; other bytes are themselves.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] |= 0x20
		}
	}
	return t
}()

// gates are all gates by their first three bytes.
type gates struct {
	at  [grams]uint16 // gram → index in all; 0: no gate begins so
	all [][]gate
}

var opening = newGates(rules)

func newGates(rules []rule) *gates {
	g := &gates{all: [][]gate{nil}}
	for i, r := range rules {
		for _, text := range r.gates {
			g.add(gate{text: text, rule: i})
		}
	}
	for i := range forms {
		g.add(gate{text: strings.ToLower(forms[i].prefix), form: &forms[i]})
	}
	return g
}

func (g *gates) add(one gate) {
	h := gram(one.text[0], one.text[1], one.text[2])
	if g.at[h] == 0 {
		g.at[h] = uint16(len(g.all))
		g.all = append(g.all, nil)
	}
	g.all[g.at[h]] = append(g.all[g.at[h]], one)
}

// find is what is to be masked in a text, in order and without overlaps.
func find(text string) []span {
	var s scan
	var read []int // by rule; made where the first gate stands
	s.text = text
	for i := 0; i+2 < len(text); i++ {
		found := opening.at[gram(text[i], text[i+1], text[i+2])]
		if found == 0 {
			continue
		}
		for _, g := range opening.all[found] {
			if !beginsWith(text[i:], g.text) {
				continue
			}
			if g.form != nil {
				byForm(&s, g.form, i)
				continue
			}
			if read == nil {
				read = make([]int, len(rules))
			}
			if i >= read[g.rule] {
				read[g.rule] = rules[g.rule].find(&s, i)
			}
		}
	}
	if len(s.spans) < 2 {
		return s.spans
	}
	slices.SortFunc(s.spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := s.spans[:1]
	for _, next := range s.spans[1:] {
		if last := &out[len(out)-1]; next.from <= last.to {
			last.to = max(last.to, next.to)
		} else {
			out = append(out, next)
		}
	}
	return out
}

// beginsWith compares with a prefix in lower case.
func beginsWith(text, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower[text[i]] != prefix[i] {
			return false
		}
	}
	return true
}

// Sets of bytes.
type bytesOf [256]bool

func set(chars string) (b bytesOf) {
	for i := 0; i < len(chars); i++ {
		b[chars[i]] = true
		if i+2 < len(chars) && chars[i+1] == '-' {
			for c := chars[i]; c <= chars[i+2]; c++ {
				b[c] = true
			}
			i += 2
		}
	}
	return b
}

var (
	digits          = set("0-9")
	letters         = set("a-zA-Z")
	uppers          = set("A-Z")
	lowers          = set("a-z")
	alnum           = set("a-zA-Z0-9")
	hex             = set("0-9a-fA-F")
	uppersAndDigits = set("A-Z0-9")
	word            = set("a-zA-Z0-9_")
	urlSafe         = set("a-zA-Z0-9_\x2d")
	dotted          = set("a-zA-Z0-9_.\x2d")
	base64s         = set("a-zA-Z0-9+/")
	tokenish        = set("a-zA-Z0-9_.~+/=\x2d")
	blanks          = set(" \t\n\f\r\v")
)

// run is up to where the bytes of a set stand.
func (b *bytesOf) run(text string, at int) int {
	for at < len(text) && b[text[at]] {
		at++
	}
	return at
}

// runBack is from where the bytes of a set stand.
func (b *bytesOf) runBack(text string, at int) int {
	for at > 0 && b[text[at-1]] {
		at--
	}
	return at
}

// has says whether a byte of the set stands in a text.
func (b *bytesOf) has(text string) bool {
	for i := range len(text) {
		if b[text[i]] {
			return true
		}
	}
	return false
}

// only says whether nothing else stands there.
func (b *bytesOf) only(text string) bool { return b.run(text, 0) == len(text) }
