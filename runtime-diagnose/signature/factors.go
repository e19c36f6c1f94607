package signature

import (
	"bytes"
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// leastFactor and mostFactors bound what is looked for before an expression is tried: shorter texts are in
// most lines, and long lists take as long as the expression.
const (
	leastFactor = 3
	mostFactors = 64
)

// factorsOf are textsOf with small letters. To look for them takes a hundredth of the time
// of the expression, and most lines that hold one literal of a signature hold nothing else of it.
func factorsOf(re *syntax.Regexp) [][]string {
	sets := textsOf(re)
	for i, set := range sets {
		folded := make([]string, len(set))
		for k, text := range set {
			folded[k] = folded7(text)
		}
		sets[i] = least(folded)
	}
	return sets
}

// textsOf are texts without which an expression matches nothing: one of each set, in this order, each behind
// the one before. What an expression takes without case has small letters and no others.
func textsOf(re *syntax.Regexp) [][]string {
	if set := listed(re); set != nil {
		return [][]string{set}
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return textsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return textsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		return runs(re.Sub)
	case syntax.OpAlternate:
		return eitherOf(re.Sub)
	default: // matches without any text of its own
	}
	return nil
}

// runs are those of parts that follow each other. The parser pulls what alternatives begin with before them: of
// "can't" and "cannot" neither half is worth looking for.
func runs(parts []*syntax.Regexp) [][]string {
	var out [][]string
	for i := 0; i < len(parts); {
		var set []string
		end := i
		for n := i + 1; n <= len(parts); n++ {
			longer := listed(&syntax.Regexp{Op: syntax.OpConcat, Sub: parts[i:n]})
			if longer != nil && (set == nil || shortest(longer) >= shortest(set)) {
				set, end = longer, n
			}
		}
		if set == nil {
			out = append(out, textsOf(parts[i])...)
			i++
			continue
		}
		out, i = append(out, set), end
	}
	return out
}

// listed are all texts that an expression matches, where they are few and long enough to be looked for; nil
// otherwise. They can be compared without case: beyond ASCII, letters that have one have more than two forms; those
// of Chinese have none.
func listed(re *syntax.Regexp) []string {
	set := least(texts(re))
	if len(set) > mostFactors {
		return nil
	}
	return set
}

// texts are listed with those that hold another one.
func texts(re *syntax.Regexp) []string {
	all := expand(re)
	if len(all) == 0 {
		return nil
	}
	var set []string
	for _, s := range all {
		if plain := strings.Map(unmarked, s); plain != s {
			s = folded7(plain)
		}
		if len(s) < leastFactor || strings.ContainsFunc(s, func(r rune) bool {
			return r == unicode.ReplacementChar || r >= utf8.RuneSelf && unicode.SimpleFold(r) != r
		}) {
			return nil
		}
		set = append(set, s)
	}
	return set
}

// least are the texts without those that hold another one.
func least(set []string) []string {
	slices.SortFunc(set, func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })
	var out []string
	for _, s := range set {
		if !slices.ContainsFunc(out, func(short string) bool { return strings.Contains(s, short) }) {
			out = append(out, s)
		}
	}
	return out
}

// eitherOf is one set for a choice: of each alternative the texts that are longest at the shortest.
func eitherOf(subs []*syntax.Regexp) [][]string {
	var set []string
	for _, sub := range subs {
		best := -1
		all := textsOf(sub)
		for i := range all {
			if best < 0 || shortest(all[i]) > shortest(all[best]) {
				best = i
			}
		}
		if best < 0 {
			return nil
		}
		set = append(set, all[best]...)
	}
	if set = least(set); len(set) > mostFactors {
		return nil
	}
	return [][]string{set}
}

func shortest(set []string) int {
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

// mostBegins bounds what is looked for instead of an expression.
const mostBegins = 8

// beginsOf are texts with small letters, one of which each match of an expression begins with; nil: it does not say,
// or they are too many or too short to be looked for.
func beginsOf(re *syntax.Regexp) []factor {
	var out []factor
	for _, text := range beginning(re) {
		if len(out) == mostBegins {
			return nil
		}
		out = append(out, newFactor(text))
	}
	return out
}

func beginning(re *syntax.Regexp) []string {
	if set := texts(re); set != nil {
		return set
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return beginning(re.Sub[0])
	case syntax.OpConcat:
		parts := re.Sub
		for len(parts) > 0 && (parts[0].Op == syntax.OpWordBoundary || parts[0].Op == syntax.OpNoWordBoundary) {
			parts = parts[1:]
		}
		for n := 2; n <= len(parts); n++ {
			if set := texts(&syntax.Regexp{Op: syntax.OpConcat, Sub: parts[:n]}); set != nil && len(set) <= mostBegins {
				return set
			}
		}
		if len(parts) > 0 {
			return beginning(parts[0])
		}
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			set := beginning(sub)
			if set == nil {
				return nil
			}
			all = append(all, set...)
		}
		return all
	default: // may begin with anything
	}
	return nil
}

// factor is a text that is looked for in a folded line, and where its first and its last gram are marked there.
type factor struct {
	small       string
	text        []byte // the same
	first, last uint32
}

func newFactor(text string) factor {
	text = folded7(text)
	return factor{text, []byte(text), markOf(text), markOf(text[len(text)-leastFactor:])}
}

func factorsIn(sets [][]string) [][]factor {
	out := make([][]factor, len(sets))
	for i, set := range sets {
		for _, text := range set {
			out[i] = append(out[i], newFactor(text))
		}
	}
	return out
}

// folded is a line with small letters, and marks of what stands in it by which most factors are ruled out. Its room
// is used again for the next line.
type folded struct {
	text   []byte
	marks  *marks
	beyond bool // it has more than ASCII
}

// marks are one byte for each mark that may be set: the turn in which it was.
type marks struct {
	turn uint8
	set  [1 << markBits]uint8
}

// next forgets what was marked.
func (m *marks) next() {
	if m.turn++; m.turn == 0 {
		*m = marks{turn: 1}
	}
}

func (f *folded) set(text string) {
	f.text = appendFolded(f.text[:0], text)
	if f.marks == nil {
		f.marks = &marks{}
	}
	m := f.marks
	m.next()
	var gram uint32
	var all byte
	for i, b := range f.text {
		all |= b
		if gram = gram>>8 | uint32(b)<<16; i >= leastFactor-1 {
			m.set[markOfGram(gram)] = m.turn
		}
	}
	f.beyond = all >= utf8.RuneSelf
}

// next is where the first of some texts stands at a place or behind it; -1: none does.
func (f *folded) next(of []factor, from int) int {
	first := -1
	for i := range of {
		if s := &of[i]; f.may(s) {
			rest := f.text[from:]
			if first >= 0 {
				rest = f.text[from:min(len(f.text), first+len(s.text)-1)]
			}
			if at := bytes.Index(rest, s.text); at >= 0 {
				first = from + at
			}
		}
	}
	return first
}

// markOf is that of the first gram of a text.
func markOf(text string) uint32 {
	return markOfGram(uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16)
}

func markOfGram(gram uint32) uint32 { return gram * 0x9E3779B1 >> (32 - markBits) }

// markBits are the bits of a mark.
const markBits = 10

func (f *folded) may(s *factor) bool {
	m := f.marks
	return m.set[s.first] == m.turn && m.set[s.last] == m.turn
}

// holdsAll says that a line holds one of each set, in order.
func (f *folded) holdsAll(sets [][]factor) bool {
	rest := f.text
	for _, set := range sets {
		end := -1
		for i := range set {
			s := &set[i]
			if !f.may(s) {
				continue
			}
			// The end that leaves most behind it: the others may lie there.
			if at := bytes.Index(rest, s.text); at >= 0 && (end < 0 || at+len(s.text) < end) {
				end = at + len(s.text)
			}
		}
		if end < 0 {
			return false
		}
		rest = rest[end:]
	}
	return true
}
