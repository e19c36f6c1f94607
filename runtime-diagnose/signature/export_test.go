package signature

import (
	"regexp"
	"regexp/syntax"
	"sync"
)

var whole sync.Map // pattern → *regexp.Regexp

// MatchUngated runs the whole pattern of one signature, without its gate: where it matches,
// and the facts.
func MatchUngated(c *Catalog, id, text string) (start int, found map[string]string, ok bool) {
	pattern := c.ByID(id).Pattern
	re, known := whole.Load(pattern)
	if !known {
		re, _ = whole.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	m := re.(*regexp.Regexp).FindStringSubmatchIndex(text)
	if m == nil {
		return 0, nil, false
	}
	return m[0], facts(re.(*regexp.Regexp), text, m), true
}

// GateHolds proves what literals are derived for.
var GateHolds = gateHolds

// Alternatives is for tests.
var Alternatives = alternatives

// Shipped reads files as Builtin does: without the proofs.
var Shipped = shipped

// PartsOf is an alternative, and what is looked for before it is tried.
func PartsOf(pattern string) (matches, holds func(string) bool, err error) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, nil, err
	}
	parts := factorsIn(factorsOf(re))
	return regexp.MustCompile(pattern).MatchString, func(s string) bool {
		var f folded
		f.set(s)
		return f.holdsAll(parts)
	}, nil
}
