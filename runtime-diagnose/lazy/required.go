package lazy

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// mostRequired bounds the texts of which one is required: to look for more takes longer than the expression.
const mostRequired = 64

// required are texts of which every match of an expression holds one. A text without any of them, as nearly all are, is
// told apart in a fraction of the time. The zero value requires nothing.
type required struct {
	folds bool       // capitals do not count
	first [256]uint8 // the group of texts that begin with a byte; zero: none does
	rests [][]string // of a group, what follows the first byte
}

// requiredBy finds out what an expression requires.
func requiredBy(text string) (r required) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return r
	}
	texts := textsOf(parsed.Simplify(), &r.folds)
	if worth(texts) == 0 {
		return r
	}
	if r.folds {
		for i, t := range texts {
			texts[i] = small(t)
		}
	}
	slices.Sort(texts)
	for _, t := range slices.Compact(texts) {
		group := &r.first[t[0]]
		if *group == 0 {
			r.rests = append(r.rests, nil)
			*group = uint8(len(r.rests))
			if r.folds && 'a' <= t[0] && t[0] <= 'z' {
				r.first[t[0]-'a'+'A'] = *group
			}
		}
		r.rests[*group-1] = append(r.rests[*group-1], t[1:])
	}
	return r
}

// textsOf are the texts of which a part of an expression requires one; none: nothing is known of it.
func textsOf(re *syntax.Regexp, folds *bool) []string {
	if all := exactly(re, folds); all != nil {
		return all
	}
	switch re.Op { //nolint:exhaustive // of the others nothing is known
	case syntax.OpCapture, syntax.OpPlus:
		return textsOf(re.Sub[0], folds)
	case syntax.OpRepeat:
		if re.Min > 0 {
			return textsOf(re.Sub[0], folds)
		}
	case syntax.OpAlternate:
		var all []string
		for _, branch := range re.Sub {
			texts := textsOf(branch, folds)
			if len(texts) == 0 || len(all)+len(texts) > mostRequired {
				return nil
			}
			all = append(all, texts...)
		}
		return all
	case syntax.OpConcat:
		var best []string
		run := []string{""} // what parts in a row are together
		for _, part := range re.Sub {
			all := exactly(part, folds)
			if next := product(run, all); next != nil {
				run = next
			} else if run = []string{""}; all != nil {
				run = all
			} else if texts := textsOf(part, folds); worth(texts) > worth(best) {
				best = texts
			}
			if worth(run) > worth(best) {
				best = run
			}
		}
		return best
	}
	return nil
}

// exactly is all that a part of an expression matches; nil: too much.
func exactly(re *syntax.Regexp, folds *bool) (out []string) {
	switch re.Op { //nolint:exhaustive // the others match too much
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpLiteral:
		if slices.Contains(re.Rune, utf8.RuneError) { // so are bytes that are no text
			return nil
		}
		if re.Flags&syntax.FoldCase != 0 {
			if *folds = true; slices.ContainsFunc(re.Rune, func(c rune) bool { return c >= utf8.RuneSelf }) {
				return nil
			}
		}
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		return oneOf(re.Rune)
	case syntax.OpCapture:
		return exactly(re.Sub[0], folds)
	case syntax.OpQuest:
		if all := exactly(re.Sub[0], folds); all != nil && len(all) < mostRequired {
			return append([]string{""}, all...)
		}
	case syntax.OpAlternate:
		for _, branch := range re.Sub {
			all := exactly(branch, folds)
			if all == nil || len(out)+len(all) > mostRequired {
				return nil
			}
			out = append(out, all...)
		}
		return out
	case syntax.OpConcat:
		out = []string{""}
		for _, part := range re.Sub {
			if out = product(out, exactly(part, folds)); out == nil {
				return nil
			}
		}
		return out
	}
	return nil
}

// product is each of some texts followed by each of others; nil: too many.
func product(heads, tails []string) (out []string) {
	if len(heads)*len(tails) > mostRequired {
		return nil
	}
	for _, head := range heads {
		for _, tail := range tails {
			out = append(out, head+tail)
		}
	}
	return out
}

// oneOf are the characters of a class that has few, all of ASCII.
func oneOf(ranges []rune) (out []string) {
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1] >= utf8.RuneSelf || int(ranges[i+1]-ranges[i]) >= mostRequired-len(out) {
			return nil
		}
		for c := ranges[i]; c <= ranges[i+1]; c++ {
			out = append(out, string(c))
		}
	}
	return out
}

// worth is how much texts tell apart: the shortest of them, and then how few they are; zero: nothing.
func worth(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	shortest := len(texts[0])
	for _, t := range texts[1:] {
		shortest = min(shortest, len(t))
	}
	return max(0, shortest*(mostRequired+1)-len(texts))
}

// in says whether a text holds what is required; where nothing is, it may.
func (r *required) in(s string) bool {
	if r.rests == nil {
		return true
	}
	for i := range len(s) {
		group := r.first[s[i]]
		if group == 0 {
			if r.folds && s[i] >= utf8.RuneSelf && foldsToASCII(s[i:]) {
				return true
			}
			continue
		}
		for _, rest := range r.rests[group-1] {
			if len(s)-i > len(rest) && (s[i+1:i+1+len(rest)] == rest || r.folds && equalFolded(s[i+1:i+1+len(rest)], rest)) {
				return true
			}
		}
	}
	return false
}

// foldsToASCII says that a text begins with one of the two letters beyond ASCII that are k and s where capitals do not
// count: the sign of the kelvin and the long s (https://pkg.go.dev/unicode#SimpleFold).
func foldsToASCII(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return c == '\u212a' || c == '\u017f'
}

// small is a text in which capitals of ASCII are small letters.
func small(s string) string {
	out := []byte(s)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}

// equalFolded says that a text is another of its length, in small letters, whatever its own are.
func equalFolded(s, other string) bool {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != other[i] {
			return false
		}
	}
	return true
}
