package signature

import (
	"fmt"
	"math"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
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
		set := rarest(textsOf(re), LeastLiteral)
		if set == nil {
			return nil, fmt.Errorf("pattern: no text of %d bytes or more is in everything that %q matches: it would be tried on every line", LeastLiteral, source)
		}
		out = append(out, set)
	}
	return out, nil
}

// rarest is the set whose texts together are least often in logs; nil if none has only texts of at least so many bytes.
func rarest(sets [][]string, least int) []string {
	var best []string
	rarest := math.Inf(1)
	for _, set := range sets {
		if shortest(set) < least {
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

// Gate says of a text that a pattern does not match it, without trying: it holds none of the texts of which every match
// holds one. Those may be shorter than literals are, because not every line of a log is asked.
type Gate struct{ texts func() []factor }

// NewGate is the gate of a pattern; what it looks for is derived when it is first asked.
func NewGate(pattern string) Gate {
	return Gate{sync.OnceValue(func() (of []factor) {
		for _, text := range gateOf(pattern) {
			of = append(of, newFactor(text))
		}
		return of
	})}
}

// MayMatch says whether the pattern may match a text; lower is the text in lower case.
func (g Gate) MayMatch(lower string) bool {
	texts := g.texts()
	return texts == nil || slices.ContainsFunc(texts, func(f factor) bool { return strings.Contains(lower, f.small) })
}

// holds is MayMatch of a folded line from a place on.
func (g Gate) holds(line *folded, from int) bool {
	texts := g.texts()
	return texts == nil || line.next(texts, from) >= 0
}

// gateOf are texts in lower case of which everything that a pattern matches holds one, whatever its case; nil: no such
// texts are known.
func gateOf(pattern string) (out []string) {
	for _, source := range alternatives(pattern) {
		re, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			return nil
		}
		set := rarest(textsOf(re), leastFactor)
		if set == nil {
			return nil
		}
		for _, text := range set {
			out = append(out, strings.ToLower(text))
		}
	}
	return least(out)
}
