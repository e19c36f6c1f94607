package redact

import (
	"cmp"
	"maps"
	"math/bits"
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
	read  []int // by rule: up to where it has read
	asked []int // the rules of which that is known
	held  held  // whether "[masked]" stands in the text
	runs  []stretch
	words []stretch
	tail  stretch // of what stands at the end of a word and is not of it
	noEnd bool    // no private key ends behind what was read
	hits  []hit   // the gates that stand in the text, in order
	more  bool    // than are noted
	out   strings.Builder
	// looked is from where on a rule that found nothing has looked, up to where it answers, if it says so; else -1.
	looked int
}

// stretch is a part of the text in which nothing stands that would end it. Many secrets may seem to begin in one word
// of a megabyte, each beside its name: where the word ends must not be looked for once for each. Of each kind the last
// one is kept, for several may alternate.
type stretch struct {
	of       *bytesOf
	from, to int
}

// up is to where the stretch goes that holds a place, which end finds where it is not known.
func up(all *[]stretch, of *bytesOf, at int, end func() int) int {
	i := slices.IndexFunc(*all, func(s stretch) bool { return s.of == of })
	if i < 0 {
		i = len(*all)
		*all = append(*all, stretch{of: of, from: -1, to: -1})
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

// word is up to where something else than the bytes of a set stands, or what is masked already.
func (s *scan) word(of *bytesOf, at int) int {
	return up(&s.words, of, at, func() int {
		to := at
		for to < len(s.text) && of[s.text[to]] {
			if s.text[to] == masked[0] && to > at && strings.HasPrefix(s.text[to:], masked) {
				break
			}
			to++
		}
		return to
	})
}

// held is what is known of whether "[masked]" stands in a text: it is looked for once, when something is to be masked.
type held int8

const (
	notLooked held = iota
	holdsNone
	holdsSome
)

// holds says whether "[masked]" stands in the text.
func (s *scan) holds() bool {
	if s.held == notLooked {
		s.held = holdsNone
		if strings.Contains(s.text, masked) {
			s.held = holdsSome
		}
	}
	return s.held == holdsSome
}

// mask notes a span, but for what of it is masked already: half a "[masked]" at either end is none.
func (s *scan) mask(from, to int) {
	if !s.holds() {
		if from < to {
			s.spans = append(s.spans, span{from, to})
		}
		return
	}
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

// masksUpTo says that what was found last goes up to a place, or beyond it: a token may begin there though letters stand before it.
func (s *scan) masksUpTo(at int) bool {
	n := len(s.spans)
	return n > 0 && s.spans[n-1].from < at && at <= s.spans[n-1].to
}

type gate struct {
	text string
	// The first bytes of the text, eight at most, and which those are: most gates that begin alike are told apart by them at once.
	first, of uint64
	told      bool  // they tell all of it: letters alone, which no other byte is taken for
	form      *form // or
	rule      int
	find      func(*scan, int) int // of the rule
}

const grams = 1 << 16

// gram is a hash of the low three bytes of a word, capitals as small letters. The golden ratio spreads texts over all of it, so
// that where nothing begins hardly anything seems to.
func gram(word uint64) uint32 {
	const golden = 0x9E3779B9 << 8 & (1<<32 - 1)
	return uint32(word|0x202020) * golden >> 16
}

// eight are the first eight bytes of a text as a word, the first one the lowest.
func eight(text string) uint64 {
	t := text[:8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 | uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// three are the first three.
func three(text string) uint64 {
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16
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
	begins [grams / 64]uint64 // grams with which a gate begins: a set that stays in the first cache, as all of this does
	before [grams / 64]uint16 // how many of them are in the words of the set before
	from   []uint16           // by how many are before it: the first gate in all that begins with a gram
	all    []gate             // those that begin alike stand together, and behind them an empty one
}

var opening = newGates(rules)

func newGates(rules []rule) *gates {
	g, byGram := &gates{all: []gate{{}}}, map[uint32][]gate{}
	add := func(one gate) {
		for i := range min(8, len(one.text)) {
			one.first |= uint64(one.text[i]|0x20) << (8 * i)
			one.of |= 0xff << (8 * i)
		}
		one.told = len(one.text) <= 8 && lowers.only(one.text)
		h := gram(three(one.text))
		byGram[h] = append(byGram[h], one)
	}
	for i, r := range rules {
		for _, text := range r.gates {
			add(gate{text: text, rule: i, find: r.find})
		}
	}
	for i := range forms {
		add(gate{text: strings.ToLower(forms[i].prefix), form: &forms[i]})
	}
	for _, h := range slices.Sorted(maps.Keys(byGram)) {
		g.begins[h>>6] |= 1 << (h & 63)
		for w := h>>6 + 1; w < grams/64; w++ {
			g.before[w]++
		}
		g.from = append(g.from, uint16(len(g.all)))
		g.all = append(append(g.all, byGram[h]...), gate{})
	}
	return g
}

// first is the first gate that begins with a gram, with which one does.
func (g *gates) first(gram uint32) uint16 {
	word := gram >> 6
	return g.from[int(g.before[word])+bits.OnesCount64(g.begins[word]&(1<<(gram&63)-1))]
}

// next is where the first gate at a place or behind it stands; -1: none does. Six grams are in eight bytes.
func (g *gates) next(text string, from int) int {
	at := from
	for ; at+8 <= len(text); at += 6 {
		switch w := eight(text[at:]); {
		case g.begin(w) && g.stands(text[at:]):
			return at
		case g.begin(w>>8) && g.stands(text[at+1:]):
			return at + 1
		case g.begin(w>>16) && g.stands(text[at+2:]):
			return at + 2
		case g.begin(w>>24) && g.stands(text[at+3:]):
			return at + 3
		case g.begin(w>>32) && g.stands(text[at+4:]):
			return at + 4
		case g.begin(w>>40) && g.stands(text[at+5:]):
			return at + 5
		}
	}
	for ; at+3 <= len(text); at++ {
		if g.begin(three(text[at:])) && g.stands(text[at:]) {
			return at
		}
	}
	return -1
}

// begin says that a gate may begin with the low three bytes of a word.
func (g *gates) begin(word uint64) bool {
	h := gram(word)
	return g.begins[h>>6]>>(h&63)&1 != 0
}

// stands says that a text begins with a gate, where one begins with its gram.
func (g *gates) stands(text string) bool {
	first := firstOf(text)
	for at := g.first(gram(first)); g.all[at].of != 0; at++ {
		if g.all[at].is(first, text) {
			return true
		}
	}
	return false
}

// is says that a text, of which the first eight bytes are known, begins with the gate.
func (g *gate) is(first uint64, text string) bool {
	return first&g.of == g.first && (g.told || beginsWith(text, g.text))
}

// firstOf are the first eight bytes of a text, or as many as there are, in small letters but for some other bytes.
func firstOf(text string) (word uint64) {
	const small = 0x2020202020202020
	if len(text) >= 8 {
		return eight(text) | small
	}
	for i := range len(text) {
		word |= uint64(text[i]|0x20) << (8 * i)
	}
	return word
}

// merged are spans in order, those that touch as one.
func merged(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	byBegin := func(a, b span) int { return cmp.Compare(a.from, b.from) }
	if !slices.IsSortedFunc(spans, byBegin) { // most are found in order
		slices.SortFunc(spans, byBegin)
	}
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
	tabs            = set(" \t")
	inField         = tabs.others()
	behindName      = set(" \t\"'")    // before what separates it from its value
	spaces          = set(" \t\n\f\r") // a line tabulation is none that a header may have
)

// run is up to where the bytes of a set stand.
func (b *bytesOf) run(text string, at int) int {
	for at < len(text) && b[text[at]] {
		at++
	}
	return at
}

// until are the bytes of a word that ends at a blank or one of some characters.
func until(chars string) bytesOf {
	ends := blanks
	for i := range len(chars) {
		ends[chars[i]] = true
	}
	return ends.others()
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
