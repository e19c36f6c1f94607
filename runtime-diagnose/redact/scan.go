package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
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
	read  []int // by rule: up to where it has read
	runs  []stretch[*bytesOf]
	words []stretch[string]
	tail  stretch[string] // of what stands at the end of a word and is not of it
	noEnd bool            // no private key ends behind what was read
}

// stretch is a part of the text in which nothing stands that would end it. Many secrets may seem to begin in one word
// of a megabyte, each beside its name: where the word ends must not be looked for once for each. Of each kind the last
// one is kept, for several may alternate.
type stretch[K comparable] struct {
	of       K
	from, to int
}

// up is to where the stretch goes that holds a place, which end finds where it is not known.
func up[K comparable](all *[]stretch[K], of K, at int, end func() int) int {
	i := slices.IndexFunc(*all, func(s stretch[K]) bool { return s.of == of })
	if i < 0 {
		i = len(*all)
		*all = append(*all, stretch[K]{of: of, from: -1, to: -1})
	}
	if known := &(*all)[i]; at < known.from || at >= known.to {
		known.from, known.to = at, end()
	}
	return (*all)[i].to
}

// run is up to where the bytes of a set stand.
func (s *scan) run(of *bytesOf, at int) int {
	return up(&s.runs, of, at, func() int { return of.run(s.text, at) })
}

// word is up to where none of some characters stands, nor a blank, nor what is masked already.
func (s *scan) word(stops string, at int) int {
	return up(&s.words, stops, at, func() int {
		to := at
		for to < len(s.text) && !blanks[s.text[to]] && strings.IndexByte(stops, s.text[to]) < 0 {
			if s.text[to] == masked[0] && to > at && strings.HasPrefix(s.text[to:], masked) {
				break
			}
			to++
		}
		return to
	})
}

// scans are used again: most lines in which a gate stands hold no secret either.
var scans = sync.Pool{New: func() any { return &scan{read: make([]int, len(rules))} }}

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
	bare := from
	for bare < to && strings.HasPrefix(s.text[bare:to], masked) {
		bare += len(masked)
	}
	if bare < to {
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
	begins [grams / 64]uint64 // grams with which a gate begins: a set that stays in the first cache
	at     [grams]uint16      // gram → index in all; 0: no gate begins so
	all    [][]gate
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
	g.begins[h>>6] |= 1 << (h & 63)
	if g.at[h] == 0 {
		g.at[h] = uint16(len(g.all))
		g.all = append(g.all, nil)
	}
	g.all[g.at[h]] = append(g.all[g.at[h]], one)
}

// next is where the first gate at a place or behind it stands; -1: none does. The gram of a place is that of the one
// before, moved on.
func (g *gates) next(text string, from int) int {
	if from+2 >= len(text) {
		return -1
	}
	rolling := uint(lower[text[from]])<<5 ^ uint(lower[text[from+1]])
	for i := from + 2; i < len(text); i++ {
		rolling = (rolling<<5 ^ uint(lower[text[i]])) & (grams - 1)
		if g.begins[rolling>>6]>>(rolling&63)&1 != 0 && g.stands(rolling, text[i-2:]) {
			return i - 2
		}
	}
	return -1
}

// stands says that a text, which begins with a gram, begins with a gate.
func (g *gates) stands(gram uint, text string) bool {
	for i := range g.all[g.at[gram]] {
		if beginsWith(text, g.all[g.at[gram]][i].text) {
			return true
		}
	}
	return false
}

// find is what is to be masked in a text, in order and without overlaps.
func find(text string) []span {
	at := opening.next(text, 0)
	if at < 0 {
		return nil // nothing here can be a secret: no rule has to be asked
	}
	s := scans.Get().(*scan)
	defer scans.Put(s)
	s.text, s.spans, s.runs, s.words, s.noEnd = text, nil, s.runs[:0], s.words[:0], false
	s.tail.to = -1
	clear(s.read)
	for ; at >= 0; at = opening.next(text, at+1) {
		s.ask(at)
	}
	s.text = ""
	return merged(s.spans)
}

// ask asks the rules whose gates stand at a place.
func (s *scan) ask(at int) {
	for _, g := range opening.all[opening.at[gram(s.text[at], s.text[at+1], s.text[at+2])]] {
		switch {
		case !beginsWith(s.text[at:], g.text):
		case g.form != nil:
			byForm(s, g.form, at)
		case at >= s.read[g.rule]:
			s.read[g.rule] = rules[g.rule].find(s, at)
		}
	}
}

// merged are spans in order, those that touch as one.
func merged(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	out := spans[:1]
	for _, next := range spans[1:] {
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

// holds says whether a text in lower case stands somewhere in another.
func holds(text, what string) bool {
	for at := 0; at+len(what) <= len(text); at++ {
		if lower[text[at]] == what[0] && beginsWith(text[at:], what) {
			return true
		}
	}
	return false
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
	inSentence      = ofSpoken.others()
	blanks          = set(" \t\n\f\r\v")
	spaces          = set(" \t\n\f\r") // a line tabulation is none that a header may have
)

// run is up to where the bytes of a set stand.
func (b *bytesOf) run(text string, at int) int {
	for at < len(text) && b[text[at]] {
		at++
	}
	return at
}

// others are all other bytes.
func (b *bytesOf) others() (out bytesOf) {
	for c := range b {
		out[c] = !b[c]
	}
	return out
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
