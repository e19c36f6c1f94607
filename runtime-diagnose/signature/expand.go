package signature

import (
	"regexp/syntax"
	"strings"
	"unicode"
)

// mostStrings bounds the expansion of one part of a pattern into single strings.
const mostStrings = 400

func product(a, b []string) []string {
	out := make([]string, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			out = append(out, x+y)
		}
	}
	return out
}

// eitherCase marks a letter that the pattern takes without case: no literal with a capital
// can rely on it. The mark is a shift into a plane that is not used.
const eitherCase = 0xF0000

// marked makes letters beyond ASCII into what no literal contains: the finder takes only
// ASCII without case.
func marked(r rune) rune {
	switch l := unicode.ToLower(r); {
	case l == unicode.ToUpper(r):
		return r
	case l > unicode.MaxASCII:
		return unicode.ReplacementChar
	default:
		return l + eitherCase
	}
}

func unmarked(r rune) rune {
	if r >= eitherCase {
		return r - eitherCase
	}
	return r
}

// expand lists every string an expression can match, if there are few; nil if there are many
// or endlessly many. Letters taken without case are marked.
func expand(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return []string{strings.Map(marked, string(re.Rune))}
		}
		return []string{string(re.Rune)}
	case syntax.OpCharClass:
		return expandClass(re.Rune)
	case syntax.OpCapture:
		return expand(re.Sub[0])
	case syntax.OpQuest:
		return withEmpty(expand(re.Sub[0]))
	case syntax.OpConcat:
		return expandConcat(re.Sub)
	case syntax.OpAlternate:
		return expandAlternatives(re.Sub)
	default:
		return nil
	}
}

func withEmpty(some []string) []string {
	if some == nil {
		return nil
	}
	return append(some, "")
}

func expandClass(ranges []rune) []string {
	var out []string
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(out) > 16 {
				return nil
			}
			out = append(out, string(r))
		}
	}
	return out
}

func expandConcat(subs []*syntax.Regexp) []string {
	out := []string{""}
	for _, sub := range subs {
		some := expand(sub)
		if some == nil || len(some)*len(out) > mostStrings {
			return nil
		}
		out = product(out, some)
	}
	return out
}

func expandAlternatives(subs []*syntax.Regexp) []string {
	var out []string
	for _, sub := range subs {
		some := expand(sub)
		if some == nil || len(some)+len(out) > mostStrings {
			return nil
		}
		out = append(out, some...)
	}
	return out
}
