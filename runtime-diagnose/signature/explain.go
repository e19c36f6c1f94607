package signature

import (
	"cmp"
	"fmt"
	"slices"
)

// Reading is what one signature makes of a line.
type Reading struct {
	Signature *Signature
	Facts     map[string]string
	GivesWay  string // why another one on the line counts before it; empty: none does
}

// exceptionID is the signature that matches every exception and gives way to any other.
const exceptionID = "python-exception"

// MoreSpecific says that one signature knows a line that both match more specifically than the other, by their
// examples.
func MoreSpecific(one, other string) bool { return slices.Contains(precedence[one], other) }

// Explain says which signatures know a line, the one that counts first, and why others give way.
func (c *Catalog) Explain(line string, kinds ...Kind) []Reading {
	var out []Reading
	for _, m := range c.Match(line, kinds...) {
		out = append(out, Reading{Signature: m.Signature, Facts: m.Facts})
	}
	for i := range out {
		for j := range out {
			if why := givesWay(out[i].Signature, out[j].Signature); i != j && out[i].GivesWay == "" {
				out[i].GivesWay = why
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Reading) int {
		return cmp.Or(cmp.Compare(min(len(a.GivesWay), 1), min(len(b.GivesWay), 1)), cmp.Compare(a.Signature.ID, b.Signature.ID))
	})
	return out
}

// givesWay says why a signature counts less than another on the same line; "": it does not.
func givesWay(s, other *Signature) string {
	switch {
	case s.Role == Context || other.Role == Context:
		return ""
	case slices.Contains(other.Hides, s.ID):
		return fmt.Sprintf("%s explains it", other.ID)
	case slices.Contains(s.Hides, other.ID):
		return ""
	case MoreSpecific(other.ID, s.ID) && !other.LastResort && !s.LastResort && s.ID != exceptionID:
		return fmt.Sprintf("%s knows this line more specifically", other.ID)
	case MoreSpecific(s.ID, other.ID):
		return ""
	case s.LastResort && !other.LastResort, s.ID == exceptionID && !other.LastResort:
		return fmt.Sprintf("it counts only where nothing else does, and %s does", other.ID)
	case other.LastResort, other.ID == exceptionID:
		return ""
	case s.Role != Root && other.Role == Root:
		return fmt.Sprintf("%s may be the cause, and this one follows from one", other.ID)
	case s.Role == Root && other.Role != Root:
		return ""
	case s.DepthOf() < other.DepthOf():
		return fmt.Sprintf("%s is nearer to a cause", other.ID)
	}
	return ""
}
