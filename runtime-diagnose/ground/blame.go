package ground

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// mayBlame says whether a claim names no other cause than the rules do: a line that says what caused the
// failure is a line that somebody wrote. Where the rules cite evidence of the cause, what is said to be the
// error, or to have caused something, rests on that.
func (g *grounds) mayBlame(s string, cites []evidence.ID, cause bool) bool {
	if len(g.Root) == 0 {
		return true
	}
	if g.ofRoot(cites) || !cause && len(cites) == 0 && g.background(s) {
		return true
	}
	if !cause && onlyLeavesOpen(strings.TrimSpace(brackets.ReplaceAllString(s, " "))) {
		return true
	}
	s = g.acquits(s)
	if plain := strings.TrimSpace(brackets.ReplaceAllString(s, " ")); !slices.ContainsFunc(tellingWords(plain[len(withoutNoCause(plain)):]), stemsOf(g.Says).has) {
		s = withoutNoCause(plain)
	}
	if !cause && (generally.MatchString(s) || onlyMaybe.MatchString(s) || guessed.MatchString(s)) {
		return true
	}
	s = notToBlame.ReplaceAllString(s, " ")
	// A template may show nothing of the cause: then the error may be said of what it shows.
	shown := slices.ContainsFunc(g.Root, func(id evidence.ID) bool { return g.has(string(id)) })
	return !(cause && shown) && !blames.MatchString(quotation.ReplaceAllString(s, " "))
}

// onlyMaybe says what can be so, and of nobody that it is.
var onlyMaybe = lazy.MustCompile(`(?i)\b(?:may|might|can|could|need not|would)\b|可能|也许|或许`)

// notToBlame is what is said not to be the cause.
var notToBlame = lazy.MustCompile(`(?i)(?:\b(?:not|never|no|nothing|nobody|hardly|rather than)\b|n['’]t\b)[^,;:.]{0,60}\b(?:caus(?:e[sd]?|ing)|because|due to|to blame|responsible|at fault|faults? of|reason)\b|(?:不是|并非|没有|不)[^，；。]{0,20}(?:导致|造成|引起|引发|原因|责任)`)

// What is so in general is told without a citation, without a number and of no member. Nothing that was read can contradict it.
var (
	generally  = lazy.MustCompile(`(?i)\b(?:usual(?:ly)?|often|typical(?:ly)?|normally|generally|commonly|in general|as a rule|most common|tends? to|can come from)\b|通常|一般|往往|常见`)
	indefinite = lazy.MustCompile(`^(?:A|An|Such|Any|Too (?:little|few|many|much)) `)
)

// background says whether a claim that cites nothing tells what is so in general.
func (g *grounds) background(body string) bool {
	return generally.MatchString(body) || indefinite.MatchString(body)
}

// acquitted is what is said to be no cause.
var acquitted = lazy.MustCompile(`(?i)\b(?:nothing|nobody|none)\b[^,;.]{0,60}\b(?:to blame|at fault|responsible)\b|\b(?:not|n['’]t|unlikely|hardly|never|no reason|need not|nor)(?: \w+){0,3} (?:to blame|at fault|responsible|the (?:cause|reason)|caused|due to|because of)\b`)

// acquits is a claim without what it says to be no cause.
func (g *grounds) acquits(s string) string {
	return acquitted.ReplaceAllString(s, " ")
}

// ofEffects says whether a claim rests on lines of consequences alone: it has nothing of the cause in it that could be turned round.
func (g *grounds) ofEffects(cites []evidence.ID) bool {
	return len(cites) > 0 && !slices.ContainsFunc(cites, func(id evidence.ID) bool { return !slices.Contains(g.Effects, id) })
}

// blames are words that say what brought something about.
var blames = lazy.MustCompile(`(?i)\b(?:caus(?:e[sd]?|ing)|because|due to|led to|leads to|leading to|result(?:s|ed)? (?:in|from)|trigger(?:s|ed)?|to blame|responsible|fault of|at fault|owing to|stems? from|reason (?:is|was|for))\b|导致|造成|引起|引发|因为|由于|原因|责任`)
