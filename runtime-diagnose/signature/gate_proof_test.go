package signature

import (
	"regexp/syntax"
	"strings"
)

// gateHolds proves that whatever the pattern matches contains one of the literals, letters
// taken without case where a literal has no capital. It may fail to prove what is true; then
// the pattern has to be written more plainly.
func gateHolds(pattern string, literals []string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	return proves(re, literals)
}

// proves says that every match of the expression contains a literal.
func proves(re *syntax.Regexp, literals []string) bool {
	if all := expand(re); all != nil && allContain(all, literals) {
		return true
	}
	switch re.Op {
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !proves(sub, literals) {
				return false
			}
		}
		return true
	case syntax.OpConcat:
		return runProves([]string{""}, re.Sub, literals)
	case syntax.OpCapture, syntax.OpPlus:
		return proves(re.Sub[0], literals)
	case syntax.OpRepeat:
		return re.Min > 0 && proves(re.Sub[0], literals)
	default:
		return false
	}
}

// runProves says that every match of the parts, which follow one of the strings of run,
// contains a literal: in one part, in a run of parts that expand to few strings, or in each
// of some alternatives behind such a run. The parser pulls common prefixes apart from what
// follows them, alternative by alternative.
func runProves(run []string, parts []*syntax.Regexp, literals []string) bool {
	for _, part := range parts {
		if proves(part, literals) {
			return true
		}
		some := expand(part)
		switch {
		case some == nil:
			if alternativesProve(run, part, literals) {
				return true
			}
			run = []string{""}
		case len(some)*len(run) > mostStrings:
			run = some
		default:
			run = product(run, some)
		}
		if allContain(run, literals) {
			return true
		}
	}
	return false
}

// alternativesProve says that a part is a choice and each of its alternatives, behind the
// run of strings before it, proves.
func alternativesProve(run []string, part *syntax.Regexp, literals []string) bool {
	for part.Op == syntax.OpCapture {
		part = part.Sub[0]
	}
	if part.Op != syntax.OpAlternate {
		return false
	}
	for _, sub := range part.Sub {
		parts := []*syntax.Regexp{sub}
		if sub.Op == syntax.OpConcat {
			parts = sub.Sub
		}
		if !runProves(run, parts, literals) {
			return false
		}
	}
	return true
}

func allContain(all, literals []string) bool {
	for _, s := range all {
		if !containsAny(s, literals) {
			return false
		}
	}
	return len(all) > 0
}

// containsAny looks for literals with capitals as they stand, and for the others in the
// string without case.
func containsAny(s string, literals []string) bool {
	folded := ""
	for _, l := range literals {
		if hasCapital(l) {
			if strings.Contains(s, l) {
				return true
			}
			continue
		}
		if folded == "" {
			folded = folded7(strings.Map(unmarked, s))
		}
		if strings.Contains(folded, folded7(l)) {
			return true
		}
	}
	return false
}
