package ground

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What is said of several pieces of evidence together stands in none of them: it is so of each, or of one before the other. So it is taken apart, each part
// is held against one piece alone, and what joins them against where and when these were written.

// severally says something of several together: with a number, or of all.
var severally = lazy.MustCompile(`(?i)\b(?:(all|both|each|every(?: one)?)(?: of)?(?: (?:the|these|those|its))?(?: (\d+))?(?: (?:other|remaining))?|(?:the )?(?:(?:other|remaining) )?(\d+)(?: of (?:the |its )?\d+)?(?: (?:other|remaining))?) (?:training )?(ranks|pods|workers|nodes|members|containers|process(?:es)?|replicas|clients|attempts|tasks|logs|lines|messages|of them)\b`)

// unitsOf are the pieces of evidence by the members that they are of; of each piece its own where it is of none.
func (g *grounds) unitsOf(cites []evidence.ID) (out [][]evidence.ID) {
	of := map[string]int{}
	for _, id := range cites {
		pod := g.items[id].Source.Pod
		if at, ok := of[pod]; ok && pod != "" {
			out[at] = append(out[at], id)
			continue
		}
		of[pod] = len(out)
		out = append(out, []evidence.ID{id})
	}
	return out
}

// shownOfEach says whether what a claim says of several is shown of as many members, by each one's evidence alone; of all it is where all that the
// job has are cited.
func (g *grounds) shownOfEach(body string, cites []evidence.ID) bool {
	if len(cites) < 2 {
		return false
	}
	body = inDigits(g.inNames(body))
	m := severally.FindStringSubmatchIndex(body)
	if m == nil {
		return false
	}
	group := func(n int) string { return body[max(m[2*n], 0):max(m[2*n+1], 0)] }
	units, all, n := g.unitsOf(cites), group(1), group(2)+group(3)
	switch {
	case len(units) < 2, n != "" && value(n) != float64(len(units)), strings.EqualFold(all, "both") && len(units) != 2:
		return false
	case all != "" && !ofThose.MatchString(body[m[0]:m[9]]) && g.items[cites[0]].Source.Pod != "" && len(g.members) > len(units):
		return false
	}
	rest := squeeze(body[:m[0]] + strings.TrimPrefix(body[m[8]:], "of them"))
	return !slices.ContainsFunc(units, func(unit []evidence.ID) bool { return !g.shows(rest, unit) })
}

// ofThose are those that were spoken of, and no others.
var ofThose = lazy.MustCompile(`(?i)\b(?:these|those|them)\b`)

// countsCited says whether a claim counts members that its evidence does not count.
func countsCited(body, texts string) bool {
	m := severally.FindStringSubmatch(body)
	return m != nil && m[1] == "" && !holds(texts, m[3])
}

// inTime says what came before what, with how much later it was, and failedFirst what was before all else.
var (
	inTime      = lazy.MustCompile(`(?i)(?:,? (?:and|but))?(?: ?\b(?:only|just|about|around|some|roughly|approximately|already))*(?: ?\b(\d+(?:\.\d+)?) (ms|milliseconds?|s|seconds?|minutes?|hours?))?,? ?\b(after|before|later than|earlier than|later|afterwards|earlier)\b`)
	failedFirst = lazy.MustCompile(`(?i)\b(?:failed first|was the first (?:\w+ )?to fail|the first failure (?:is|was))\b`)
)

// sideOf are the pieces of evidence in one line of which all that one side of a claim has of its evidence stands.
func (g *grounds) sideOf(side string, c *claim) []evidence.ID {
	all := g.linesRead(c.cites)
	said := slices.DeleteFunc(inLine(side), func(w string) bool {
		return !g.who[w] && !digitsOnly(w) && !numberedMember.MatchString(w) && !slices.ContainsFunc(all, func(l lineRead) bool { return l.of[w] || slices.Contains(l.words, w) })
	})
	if len(said) == 0 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.cites), func(id evidence.ID) bool {
		return !slices.ContainsFunc(g.linesOf(id), func(l lineRead) bool { return l.has(said) })
	})
}

// inStatedOrder is a claim without what it says to have come before what, where its evidence was written in that order, and as far apart. What one side
// calls by no word of the evidence is the rest of what is cited, or what the rules found, if it is so far apart.
func (g *grounds) inStatedOrder(c *claim) (rest string, so bool) {
	if m := failedFirst.FindStringIndex(c.unquoted); m != nil && g.cameFirst(c.cites) {
		return c.unquoted[:m[0]] + c.unquoted[m[1]:], false
	}
	at := inTime.FindAllStringSubmatchIndex(c.unquoted, -1)
	if len(at) != 1 {
		return c.unquoted, false
	}
	m := at[0]
	word, far := strings.ToLower(c.unquoted[m[6]:m[7]]), m[2] >= 0
	rest = c.unquoted[:m[0]] + ", " + c.unquoted[m[1]:]
	left, right := c.unquoted[:m[0]], c.unquoted[m[1]:]
	if word == "later" || word == "afterwards" || word == "earlier" {
		left, right = rest, ""
	}
	one, other := g.sideOf(left, c), g.sideOf(right, c)
	for _, side := range []*[]evidence.ID{&one, &other} {
		if len(*side) > 0 || !far {
			continue
		}
		if *side = slices.DeleteFunc(slices.Clone(c.cites), func(id evidence.ID) bool { return slices.Contains(one, id) || slices.Contains(other, id) }); len(*side) == 0 {
			*side = g.Root[:min(1, len(g.Root))]
		}
	}
	if len(one) == 0 || len(other) == 0 || slices.ContainsFunc(c.cites, func(id evidence.ID) bool { return !slices.Contains(one, id) && !slices.Contains(other, id) }) {
		return c.unquoted, false
	}
	early, late := one, other
	if word != "before" && word != "earlier than" && word != "earlier" {
		early, late = other, one
	}
	for _, a := range early {
		for _, b := range late {
			if !g.before(a, b) || far && !lies(g.items[b].Told().Sub(g.items[a].Told()), c.unquoted[m[2]:m[3]], strings.ToLower(c.unquoted[m[4]:m[5]])) {
				return c.unquoted, false
			}
		}
	}
	return rest, true
}

// cameFirst says whether evidence is of the one member of the cause, and was written before all that came of it.
func (g *grounds) cameFirst(cites []evidence.ID) bool {
	for _, id := range slices.Concat(cites, g.Root) {
		if pod := g.items[id].Source.Pod; pod == "" || pod != g.items[cites[0]].Source.Pod {
			return false
		}
	}
	return len(g.Root) > 0 && !slices.ContainsFunc(g.Effects, func(id evidence.ID) bool {
		return g.items[id].Source.Pod != g.items[g.Root[0]].Source.Pod && !g.before(g.Root[0], id)
	})
}
