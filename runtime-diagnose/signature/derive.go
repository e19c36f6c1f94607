package signature

import (
	"fmt"
	"math"
	"regexp/syntax"
	"slices"
)

// literalsOf are, for each alternative of a pattern, texts of which every match of it holds one: those that a log
// holds least often. Letters are taken without case where a text has no capital. An alternative that can do without
// any text of LeastLiteral bytes would have to be tried on every line.
func literalsOf(pattern string) ([][]string, error) {
	var out [][]string
	for _, source := range alternatives(pattern) {
		re, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			return nil, fmt.Errorf("pattern: %w", err)
		}
		set := rarest(textsOf(re))
		if set == nil {
			return nil, fmt.Errorf("pattern: no text of %d bytes or more is in everything that %q matches: it would be tried on every line", LeastLiteral, source)
		}
		out = append(out, set)
	}
	return out, nil
}

// rarest is the set whose texts together are least often in logs; nil if none has only texts that can be found.
func rarest(sets [][]string) []string {
	var best []string
	rarest := math.Inf(1)
	for _, set := range sets {
		if shortest(set) < LeastLiteral {
			continue
		}
		often := 0.0
		for _, text := range set {
			often += commonness(text, nil)
		}
		if often < rarest {
			best, rarest = set, often
		}
	}
	return slices.Clone(best)
}

// Literals are texts of which every line that the pattern matches holds one.
func (s *Signature) Literals() []string {
	sets, err := literalsOf(s.Pattern)
	if err != nil {
		return nil
	}
	var all []string
	for _, set := range sets {
		all = append(all, set...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
