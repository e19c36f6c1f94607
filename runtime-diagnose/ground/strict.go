package ground

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What is shown as what the evidence says is close to its words: where it has the numbers and names of a line in another order, says that there
// is no other, or what came first, each word of it may be there and the sentence be false. Such claims stand apart.

var (
	// noneElse says that something is so of nothing else.
	noneElse = lazy.MustCompile(`(?i)\b(?:only|solely|just|nothing but|nobody (?:else|but)|no other|alone|single|own|itself|themselves)\b|只有|唯一|仅`)
	// sequence says what came before what.
	sequence = lazy.MustCompile(`(?i)(?:\b|,)(?:first|earlier|earliest|later|before|after(?:wards?)?|(?:and|,) then|until|still)\b|先|之前|之后|然后|随后|首先`)
	// compared are words by which something is said to be more or less than something else.
	compared = lazy.MustCompile(`(?i)\b(?:(?:more|fewer|less) [a-z]{3,}s|larger|smaller|greater|higher|lower|longer|shorter|within|below|above|beyond|at least|at most|plenty|than)\b|超过|少于|多于|以内`)
	// causal are words by which one thing is said to be why another is.
	causal = lazy.MustCompile(`(?i)\b(?:reasons?|why|because|due to|cause[sd]?|therefore|hence|thus|so|led|leads|made|makes|result(?:s|ed)?|since)\b|因为|由于|导致|因此|所以`)
	// roles are all members of one.
	roles = lazy.MustCompile(`(?i)\b(?:masters|workers|launchers|evaluators)\b`)
	// plainNot says that something is not so.
	plainNot = lazy.MustCompile(`(?i)\b(?:not|no|never|cannot|n['’]t|none)\b|n['’]t\b|不|未|没有|无法`)
	// stateOf is a state that something is said to be in.
	stateOf = lazy.MustCompile(`(?i)\b(?:is|was|are|were|been|still|already|now) (?:still |already |now |up and )?(running|ready|pending|alive|up|scheduled|available|bound|mounted|complete|terminated|waiting)\b`)
)

// loosely says why a claim whose words all stand in its evidence may be false nevertheless; empty: it says them as its evidence does.
func (g *grounds) loosely(c *claim) Reason {
	low := strings.ToLower(c.texts)
	for _, of := range []*lazy.Regexp{noneElse, sequence, compared} {
		for _, m := range of.FindAllString(c.unquoted, -1) {
			if !strings.Contains(low, strings.ToLower(m)) {
				return Word
			}
		}
	}
	if g.ofRoot(c.cites) && saysWithout(c.body, g.Says) {
		return Word // the rules say that they have not seen it
	}
	if m := roles.FindString(c.plain); m != "" && !strings.Contains(low, strings.ToLower(m)) {
		return Word
	}
	has := stemsOf(c.texts)
	for _, m := range stateOf.FindAllStringSubmatch(c.unquoted, -1) {
		if !has.has(m[1]) {
			return Word
		}
	}
	if plainNot.MatchString(c.texts) && !plainNot.MatchString(c.body) && !denies(c.body) && !troubled.MatchString(c.body) {
		return Word
	}
	_, told := affirmed(c.support)
	toldNot := stemsOf(told)
	if _, not := affirmed(c.body); slices.ContainsFunc(slices.Collect(strings.Lines(not)), func(of string) bool {
		words := append(tellingWords(of), looked(of)...)
		return len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return has.has(w) || toldNot.has(w) || containsToken(low, strings.ToLower(w)) })
	}) {
		return Word // what it denies, no line speaks of
	}
	if len(c.cites) > 1 && (forward.MatchString(c.unquoted) || causal.MatchString(c.unquoted)) && (!g.ofRoot(c.cites) || !g.ofEffect(c.cites) || slices.ContainsFunc(c.cites, func(id evidence.ID) bool { return !slices.Contains(g.Root, id) && !slices.Contains(g.Effects, id) })) {
		return Apart // which of them is the cause, nobody told
	}
	if len(c.cites) > 1 && causal.MatchString(c.unquoted) && !forward.MatchString(c.unquoted) && !backward.MatchString(c.unquoted) {
		return Apart // which of them is the cause cannot be told
	}
	if root, rest := g.sides(c.cites); g.ofRoot(c.cites) && g.ofEffect(c.cites) && !joint.MatchString(c.unquoted) && !forward.MatchString(c.unquoted) && !backward.MatchString(c.unquoted) && exclusive(c.unquoted, root, rest) && exclusive(c.unquoted, rest, root) {
		return Apart // what the one has to do with the other, only a verb says
	}
	if at := causal.FindStringIndex(c.unquoted); len(c.cites) == 1 && at != nil && !causal.MatchString(c.support) && inCommon(c.unquoted[:at[0]], c.texts) > 0 && inCommon(c.unquoted[at[1]:], c.texts) > 0 {
		return Apart // what of a line came of what, the line does not say
	}
	for _, m := range beingSo.FindAllStringSubmatch(c.unquoted, -1) {
		if onlyGoing(m[1], c.texts) {
			return Word // what was under way need not be done
		}
	}
	if g.mistimed(c) {
		return Apart
	}
	for _, id := range c.cites {
		if inverted(c.unquoted, g.items[id]) {
			return Apart
		}
	}
	return ""
}

// unseen is what the rules say that a finding is without: an out-of-memory report.
var unseen = lazy.MustCompile(`\bwithout an? ([a-z]+(?:-[a-z]+)+)`)

// saysWithout says whether a claim has what a finding is without, in its words or by their first letters.
func saysWithout(body, says string) bool {
	return slices.ContainsFunc(unseen.FindAllStringSubmatch(says, -1), func(m []string) bool {
		var first strings.Builder
		for word := range strings.SplitSeq(m[1], "-") {
			first.WriteByte(word[0])
		}
		low := strings.ToLower(strings.ReplaceAll(body, "-", " "))
		return !negation.MatchString(body) && (strings.Contains(low, first.String()) || strings.Contains(low, strings.ReplaceAll(m[1], "-", " ")))
	})
}

// endOfSentence ends a sentence of a line.
var endOfSentence = lazy.MustCompile(`[.;]\s+|\n`)

// ofDay is a time of day.
var ofDay = lazy.MustCompile(`\b\d{1,2}:\d{2}(?::\d{2})?\b`)

// mistimed says whether a part of a claim has the time of one piece of its evidence and the words of another.
func (g *grounds) mistimed(c *claim) bool {
	if len(c.cites) < 2 {
		return false
	}
	return slices.ContainsFunc(parts.Split(c.unquoted, -1), func(part string) bool {
		at := ofDay.FindString(part)
		most, own := 0, -1
		for _, id := range c.cites {
			text := g.items[id].Text
			n := inCommon(part, text)
			if most = max(most, n); at != "" && (containsToken(text, at) || strings.Contains(g.items[id].Told().UTC().Format("15:04:05"), at)) {
				own = max(own, n)
			}
		}
		return own >= 0 && own < most
	})
}

// inverted says whether a claim has two numbers or names of a line, that stand there once each, the other way round.
func inverted(plain string, of evidence.Item) bool {
	said, line := " "+strings.ToLower(plain)+" ", " "+strings.ToLower(of.Text)+" "
	last := -1
	for _, w := range looked(plain) {
		w = strings.ToLower(w)
		if strings.Count(said, w) != 1 || strings.Count(line, w) != 1 {
			continue
		}
		at := strings.Index(line, w)
		if at < last {
			return true
		}
		last = at
	}
	return false
}
