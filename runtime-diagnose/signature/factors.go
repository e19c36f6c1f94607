package signature

import (
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
	mostFactors = 24
)

// factorsOf are texts without which an expression matches nothing: one of each set, in this order, each behind
// the one before; letters are taken without case (ASCII). To look for them takes a hundredth of the time
// of the expression, and most lines that hold one literal of a signature hold nothing else of it.
func factorsOf(re *syntax.Regexp) [][]string {
	switch re.Op {
	case syntax.OpLiteral:
		return factor(string(re.Rune))
	case syntax.OpCapture, syntax.OpPlus:
		return factorsOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return factorsOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var out [][]string
		for _, sub := range re.Sub {
			out = append(out, factorsOf(sub)...)
		}
		return out
	case syntax.OpAlternate:
		return eitherOf(re.Sub)
	default: // matches without any text of its own
	}
	return nil
}

// factor is one text, as far as it can be compared without case. Beyond ASCII letters have more than two forms.
func factor(text string) [][]string {
	if len(text) < leastFactor || strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsLetter(r) }) {
		return nil
	}
	return [][]string{{folded7(text)}}
}

// eitherOf is one set for a choice: of each alternative the texts that are longest at the shortest.
func eitherOf(subs []*syntax.Regexp) [][]string {
	var set []string
	for _, sub := range subs {
		best := -1
		all := factorsOf(sub)
		for i := range all {
			if best < 0 || shortest(all[i]) > shortest(all[best]) {
				best = i
			}
		}
		if best < 0 || len(set)+len(all[best]) > mostFactors {
			return nil
		}
		set = append(set, all[best]...)
	}
	slices.Sort(set)
	return [][]string{slices.Compact(set)}
}

func shortest(set []string) int {
	n := len(set[0])
	for _, s := range set {
		n = min(n, len(s))
	}
	return n
}

// holdsAll says that a folded text holds one of each set, in order.
func holdsAll(folded string, sets [][]string) bool {
	for _, set := range sets {
		end := -1
		for _, s := range set {
			// The end that leaves most behind it: the others may lie there.
			if at := strings.Index(folded, s); at >= 0 && (end < 0 || at+len(s) < end) {
				end = at + len(s)
			}
		}
		if end < 0 {
			return false
		}
		folded = folded[end:]
	}
	return true
}
