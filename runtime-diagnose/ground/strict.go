package ground

import (
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What is shown as what the evidence says is close to its words: where it has the numbers and names of a line in another order, says that there
// is no other, or what came first, each word of it may be there and the sentence be false. Such claims stand apart.

var (
	// noneElse says that something is so of nothing else.
	noneElse = lazy.MustCompile(`(?i)\b(?:only|solely|just|nothing but|nobody (?:else|but)|no other|alone|sole|exclusively|single|own|itself|themselves)\b|只有|唯一|仅`)
	// sequence says what came before what.
	sequence = lazy.MustCompile(`(?i)(?:\b|,)(?:first|last|latest|earlier|earliest|later|before|after(?:wards?)?|(?:and|,) then|until|still|already|no longer|(?:will|would|shall|about to|going to)(?: [a-z]+)?)\b|先|之前|之后|然后|随后|首先|此前|以前|仍|尚未|将[会要被再]`)
	// ableTo says what somebody can do.
	ableTo = lazy.MustCompile(`(?i)\b(?:can|could|able to)\b`)
	// compared are words by which something is said to be more or less than something else.
	compared = lazy.MustCompile(`(?i)\b(?:(?:more|fewer|less) [a-z]{3,}s|larger|smaller|greater|higher|lower|longer|shorter|within|below|above|beyond|at least|at most|plenty|than)\b|超过|少于|多于|以内`)
	// causal are words by which one thing is said to be why another is.
	causal = lazy.MustCompile(`(?i)\b(?:reasons?|why|because|due to|cause[sd]?|therefore|hence|thus|so|led|leads|made|makes|result(?:s|ed)?|since)\b|因为|由于|导致|因此|所以`)
	// leavesIt are words by which a line leaves something open.
	leavesIt = lazy.MustCompile(`(?i)\b(?:or|may|might|possibly|perhaps|probably|likely)\b`)
	// notOf is a "not" with what it turns round.
	notOf = lazy.MustCompile(`(?i)\b(?:not|no|never|cannot|without|[a-z]+n['’]t)(?: [\w.-]*\w){1,2}|\b(?:used up|exhausted|left)\b|(?:不|没有|未)(?:要求|需要|必须)|无需|不必`)
	// plainNot says that something is not so.
	plainNot = lazy.MustCompile(`(?i)\b(?:not|no|never|cannot|n['’]t|none)\b|n['’]t\b|不|未|没有|无法`)
)

// loosely says why a claim whose words all stand in its evidence may be false nevertheless; empty: it says them as its evidence does.
func (g *grounds) loosely(c *claim) Reason {
	low := strings.ToLower(c.texts)
	if c.ofAll || countsCited(c.body, c.texts) && len(g.unitsOf(c.cites)) > 1 {
		return Word // it is not so of each
	}
	rest, ordered := g.inStatedOrder(c)
	for _, of := range []*lazy.Regexp{noneElse, sequence, compared, universals, guessed, notOf} {
		for _, m := range of.FindAllString(rest, -1) {
			if !strings.Contains(low, strings.ToLower(m)) {
				return Word
			}
		}
	}
	if m := ableTo.FindString(rest); m != "" && !negation.MatchString(c.body) && !strings.Contains(strings.ToLower(notDenied(c.texts)), strings.ToLower(m)) {
		return Word
	}
	texts := withoutSystemErrors(low)
	if m := leavesIt.FindString(texts); m != "" && !containsToken(c.body, m) {
		return Word // of two things, or of what may be, the line does not say which is so
	}
	for _, m := range beingSo.FindAllStringSubmatch(c.unquoted, -1) {
		if onlyGoing(m[1], c.texts) {
			return Word // what was under way need not be done
		}
	}
	if !ordered && !g.asRead(c, false) || !g.toldWhy(c, rest) {
		return Apart
	}
	return ""
}

// endOfSentence ends a sentence of a line.
var endOfSentence = lazy.MustCompile(`[.;]\s+|\n`)
