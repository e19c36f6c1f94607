package ground

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// support is all that items say: their texts, who they are of, and what the rules say where they cite them.
func (g *grounds) support(cites []evidence.ID) string {
	key := joinedIDs(cites)
	text, ok := g.told[key]
	if !ok {
		text = g.supportOf(cites)
		g.told[key] = text
	}
	return text
}

func joinedIDs(ids []evidence.ID) (out string) {
	for _, id := range ids {
		out += "\n" + string(id)
	}
	return out
}

func (g *grounds) supportOf(cites []evidence.ID) string {
	var b strings.Builder
	said := false
	for _, id := range cites {
		item := g.items[id]
		of, _, _ := strings.Cut(string(id), "#") // the number of a line is none of what it says
		b.WriteString(item.Text + "\n" + of + "\n")
		for _, w := range []string{item.Source.Pod, item.Source.Container, item.Source.Role, item.Source.Node, item.Source.File} {
			b.WriteString(w + "\n")
		}
		if item.Source.Role != "" && item.Source.Rank >= 0 {
			fmt.Fprintf(&b, "%s %d\n", item.Source.Role, item.Source.Rank)
		}
		if rank := g.rankOf(item); rank != "" {
			b.WriteString("rank " + rank + "\n")
		}
		b.WriteString(timesOf(item) + restated(item.Text))
		if !item.At.IsZero() {
			b.WriteString(item.At.UTC().Format("2006-01-02 15:04:05 15:04 15:04:05.000000\n"))
		}
		if !said && slices.Contains(g.Root, id) {
			b.WriteString(g.Says + "\n")
			said = true
		}
	}
	b.WriteString(g.countedMembers(cites))
	return b.String()
}

// texts are what items say, without what the platform says of whom they are.
func (g *grounds) texts(cites []evidence.ID) string {
	var b strings.Builder
	for _, id := range cites {
		b.WriteString(g.items[id].Text + "\n" + elided(g.items[id].Text) + timesOf(g.items[id]))
	}
	return b.String()
}

// timesOf says how often an item was seen, by its count and by what kubectl writes: x14.
func timesOf(item evidence.Item) string {
	var b strings.Builder
	if item.Times > 1 {
		fmt.Fprintf(&b, "%d times\n", item.Times)
	}
	for _, m := range seenTimes.FindAllStringSubmatch(item.Text, -1) {
		b.WriteString(m[1] + " times\n")
	}
	return b.String()
}

var seenTimes = lazy.MustCompile(`\bx(\d+)\b`)

// claim is a sentence as it is held against what it cites.
type claim struct {
	body, plain, unquoted string // as it was written; without quotations, and amounts that were found; without quotations
	support, texts        string // all that its evidence says; without what the platform says of whom it is
	cites                 []evidence.ID
	elsewhere             bool // a name of it stands in other evidence
	ofAll                 bool // it is said of all that are cited
}

// entails says why items do not support what is said of them; empty: they do. What contradicts them is said before what
// only cannot be shown from them.
func (g *grounds) entails(body string, cites []evidence.ID) Reason {
	key := body + joinedIDs(cites)
	why, ok := g.follows[key]
	if !ok {
		why = g.entailed(body, cites)
		g.follows[key] = why
	}
	return why
}

func (g *grounds) entailed(body string, cites []evidence.ID) Reason {
	c := g.claim(body, cites)
	if onlyLeavesOpen(c.body) {
		return Word // of whom it asks something, it says nothing
	}
	if g.shownOfEach(body, cites) {
		return ""
	}
	for _, why := range []func(*claim) Reason{g.foreign, g.contradicted, g.unproven, g.loosely} {
		if why := why(c); why != "" {
			return why
		}
	}
	return ""
}

// shows says whether items support what is said of them. Why they do not is not asked, so that what costs least is tried first.
func (g *grounds) shows(body string, cites []evidence.ID) bool {
	key := body + joinedIDs(cites)
	if why, ok := g.follows[key]; ok {
		return why == ""
	}
	so, ok := g.shown[key]
	if !ok {
		c := g.claim(body, cites)
		so = g.shownOfEach(body, cites) || g.foreign(c) == "" && g.loosely(c) == "" && g.unproven(c) == "" && g.contradicted(c) == ""
		g.shown[key] = so
	}
	return so
}

func (g *grounds) claim(body string, cites []evidence.ID) *claim {
	c := &claim{cites: cites, support: g.support(cites), texts: g.texts(cites)}
	body = signalVerb.ReplaceAllString(inDigits(g.inNames(body)), "$1")
	body = inEach(inFigures(body))
	body = timePassed.ReplaceAllString(ofUnit.ReplaceAllString(body, "$1 $2"), "$1")
	if m := ofEach.FindStringSubmatch(body); m != nil && strings.HasPrefix(g.countedMembers(cites), m[1]+" ") {
		body, c.ofAll = strings.Replace(body, m[0], "the ", 1), true // they are all cited
	}
	if m := hanMembers.FindStringSubmatch(body); m != nil && strings.HasPrefix(g.countedMembers(cites), m[1]+" ") {
		body, c.ofAll = strings.Replace(body, m[1], " ", 1), true
	}
	c.body = unshortened(ungrouped(uncalculated(body, c.support), c.support), c.support)
	return c
}

// ofUnit is an amount that is joined to its unit: 30-minute.
var ofUnit = lazy.MustCompile(`(?i)\b(\d+(?:\.\d+)?)-(ms|milliseconds?|seconds?|minutes?|hours?|[kmgt]i?b|bytes?)\b`)

// twoAmounts are the ends of a range with one unit: between 8 and 17 seconds.
var twoAmounts = lazy.MustCompile(`(?i)\b(between|from|after|some|about|roughly) (\d+(?:\.\d+)?)( (?:and|to|or) |-|–)(\d+(?:\.\d+)?) (ms|milliseconds?|secs?|seconds?|mins?|minutes?|hours?|[kmgt]i?b|bytes?)\b`)

// sameUnit is a time behind another whose unit it shares: the one after 8 seconds, the other after 17.
var sameUnit = lazy.MustCompile(`(?i)\b(\d+(?:\.\d+)?) (ms|milliseconds?|secs?|seconds?|mins?|minutes?|hours?)(\b[^.;\d]* (?:after|in) )(\d+(?:\.\d+)?)([.,;]|$)`)

// inEach writes the unit behind both.
func inEach(body string) string {
	return sameUnit.ReplaceAllString(twoAmounts.ReplaceAllString(body, "$1 $2 $5 to $4 $5"), "$1 $2$3$4 $2$5")
}

// hanMembers are members that are counted in Chinese.
var hanMembers = lazy.MustCompile(`(?i)` + hanMember)

const hanMember = `(\d+)\s*(?:个|台)\s*(?:pod|进程|节点|成员|容器|worker|rank)`

// signalVerb is a signal as what was done to somebody: SIGKILLed.
var signalVerb = lazy.MustCompile(`\b(SIG[A-Z]+)(?:ed|['’]d)\b`)

// foreign says why a claim has what its evidence has not: a quotation, a member, a number, a name. What was found is
// taken out of it.
func (g *grounds) foreign(c *claim) Reason {
	flat := strings.ToLower(squeeze(c.support))
	if g.copied(c.body, c.cites) {
		return Copied
	}
	c.plain, c.unquoted = c.body, quotation.ReplaceAllString(c.body, " ")
	for _, m := range quotation.FindAllStringSubmatch(c.body, -1) {
		q := squeeze(strings.Join(m[1:], ""))
		if of := strings.ToLower(strings.TrimRight(q, ".,;")); !strings.Contains(flat, of) || letters(of) && !beginsWord(flat, of) {
			if g.neverRead(c.body, m[0], q) {
				return Word
			}
			if m[2] != "" && len(strings.Fields(q)) < mostCode && !slices.ContainsFunc(strings.Fields(q), func(w string) bool { return !containsToken(c.support, strings.Trim(w, "-:=,;")) }) {
				return Word // code is put so, whatever stands between its words
			}
			if m[2] != "" && !strings.Contains(q, " ") && slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return containsToken(i.Text, strings.Trim(q, "()")) }) {
				return Word // a name of other lines
			}
			if letters(strings.ReplaceAll(q, " ", "")) && q == strings.ToLower(q) && !strings.Contains(q, "-") && len(strings.Fields(q)) < mostCode {
				return Word // words, and no message
			}
			return Quotation
		}
		if (len(strings.Fields(q)) >= mostCopied || hanRun(q, q, g.Says, repeatedWords)) && !slices.ContainsFunc(c.cites, func(id evidence.ID) bool {
			line, q := strings.ToLower(squeeze(g.items[id].Text)), strings.ToLower(strings.TrimRight(q, ".,;"))
			return slices.Contains(g.Root, id) && strings.Contains(line, q) || slices.Contains(g.Effects, id) && len(strings.Fields(q)) <= mostQuoted && strings.HasPrefix(line, q)
		}) {
			if reports(q) {
				return Word // it says that it quotes, and what
			}
			return Copied
		}
		if at := strings.Index(c.body, m[0]); at >= 0 && m[2] == "" && deniesNext.MatchString(c.body[:at]) {
			return Otherwise
		}
		if cutShort(strings.TrimRight(q, ".,;"), c.unquoted, c.support) {
			return Contradicts
		}
		c.plain = strings.Replace(c.plain, m[0], " ", 1)
	}
	of := g.withoutRoot(c.plain, referredTo)
	if (g.notShown(of, c.support) || !ofMembers(of, c.support)) && (g.tellsOfOwn(of, c.cites) || g.ofEffects(c.cites) && g.namesFound(of)) {
		g.withFound(c)
	}
	if g.elsewhere(of, c.cites) || g.notShown(of, c.support) || g.misplaced(c.plain) {
		if rest := roleAside.ReplaceAllString(of, " "); rest != of && !g.elsewhere(rest, c.cites) && !g.notShown(rest, c.support) && !g.misplaced(c.plain) {
			return Word // of that member nothing is said
		}
		return Member
	}
	if g.ofAbsent(of) {
		return Word
	}
	if !ofMembers(of, c.support) || !inOrder(of, c.support) {
		if counted := countedThings.ReplaceAllString(of, "$1$2"); counted != of && ofMembers(counted, c.support) {
			return Number // not of a member, but of a step
		}
		return Member
	}
	for _, m := range amount.FindAllStringSubmatch(c.plain+" ", -1) {
		if strings.Contains(strings.TrimSpace(m[0]), " ") && units[strings.ToLower(m[2])] != 0 {
			if unit := strings.ToLower(m[2]); !sameAmount(c.support, m[1], m[2]) && !g.between(c.cites, m[1], unit) {
				return Number
			}
			c.plain = strings.Replace(c.plain+" ", m[0][:strings.Index(m[0], m[2])+len(m[2])], " ", 1) // and not the comma behind it
		}
	}
	pods := map[string]bool{}
	for _, id := range c.cites {
		pods[g.items[id].Source.Pod] = true
	}
	for _, w := range looked(c.plain) {
		if holds(c.support, w) || w == g.Job || w == g.Namespace {
			continue
		}
		switch {
		case unicode.IsDigit(rune(w[0])):
			return Number
		case !slices.ContainsFunc(g.Items, func(i evidence.Item) bool { return holds(i.Text, w) && (i.Source.Pod == "" || pods[i.Source.Pod]) }):
			return Name
		}
		c.elsewhere = true
	}
	c.elsewhere = c.elsewhere || g.readElsewhere(c.plain, c.cites)
	return g.beyond(c.plain, c.support)
}

// roleAside is a member by its role, of whom nothing is said to have become: one that somebody waits for.
var roleAside = lazy.MustCompile(`(?i)\b(?:wait\w* (?:for|on)|until|to reach|to join|to find|to contact|rendezvous (?:on|with|of)|because of) the (?:failed |real )?(?:master|worker|launcher|chief)\b|^\W*the (?:master|worker|launcher|chief) (?:has|had) nothing to do with\b`)

// deniesNext stands before a message that is said not to be there.
var deniesNext = lazy.MustCompile(`(?i)(?:\b(?:not|no|nor|without(?: an?| any)?|neither|(?:never|not) (?:logs?|logged|prints?|printed|says?|said|writes?|wrote))|没有(?:出现|打印|记录|写出|报告)?|未(?:出现|打印|记录|报告))\s*$`)

// neverRead says whether a claim says of a message that it is not there, and nothing that was read has it.
func (g *grounds) neverRead(body, quoted, message string) bool {
	at := strings.Index(body, quoted)
	message = strings.ToLower(strings.TrimRight(message, ".,;"))
	return at >= 0 && deniesNext.MatchString(body[:at]) && !slices.ContainsFunc(g.Items, func(i evidence.Item) bool {
		return strings.Contains(strings.ToLower(squeeze(i.Text)), message)
	})
}

// countedThings are things with a number that are no members of a job: which step it was may be written otherwise.
var countedThings = lazy.MustCompile(`(?i)\b(?:stages?|steps?|epochs?|attempts?|layers?|lines?)[\s#]+(\d+)\b|第\s*(\d+)\s*(?:[步行层次轮]|阶段|个)`)

// contradicted says why a claim says other than its evidence does.
func (g *grounds) contradicted(c *claim) Reason {
	ofListed := g.ofListed(g.ranksInNames(c.plain), c.cites)
	if ofListed == Member {
		return Member
	}
	loose := g.turned(g.withoutContrast(asserted(c.plain), c.cites), c.support, c.texts, g.ofRoot(c.cites))
	if loose == Otherwise && !supposes(c.body) {
		return loose
	}
	miscounted, turned := turnedHan(c.plain, c.texts)
	switch {
	case turned && !denies(c.texts), mislabelled(c.plain, c.support), misgoverned(c.plain, c.support), ofSomeNodes(c.unquoted, c.support), doneTo(c.plain, c.support):
		return Otherwise
	case g.ownDoing(c.plain, c.cites), g.judged(c) && (g.bringsAbout(c.plain, c.cites) || g.reversed(c.plain, c.cites)):
		return Reversed
	case g.ofOtherContainer(g.withoutContrast(c.plain, c.cites), c.cites):
		return Member
	case loose != "", turned, miscounted:
		return Word
	case ofListed != "":
		return Apart
	case (len(c.cites) > 1 || ofSpecs(c.cites)) && allMembers.MatchString(asserted(c.plain)):
		return Word // of several it was read, or of what all are made by
	case eachIs.MatchString(asserted(c.plain)) && universal(asserted(c.plain), c.support):
		return Word // it tells how a program is made, and not what became of all
	case allMembers.MatchString(asserted(c.plain)) && universal(asserted(c.plain), c.support):
		return Member
	}
	return g.several(c.plain, c.support, c.cites)
}

// eachIs is what each member does by its program.
var eachIs = lazy.MustCompile(`(?i)\b(?:each|every) (?:rank|member|process|worker|replica) (?:computes|expects|needs|has to|must|takes|reads|opens|writes|loads|gets|holds|sends|keeps)\b|\b(?:same|alike|identical) (?:on|for|in) (?:each|every|all) (?:ranks?|members?|process(?:es)?|workers?)\b|\bexpects each\b`)

// ofSpecs says whether a claim cites specifications alone: those of members are of one template.
func ofSpecs(cites []evidence.ID) bool {
	return len(cites) > 0 && !slices.ContainsFunc(cites, func(id evidence.ID) bool { return !strings.HasSuffix(string(id), "/spec") })
}

// guessed is a claim that says of itself that it is a guess.
var guessed = lazy.MustCompile(`(?i)\b(?:probably|likely|perhaps|maybe|possibl[ey]|presumably|may|might|could have|seems?|appears?|suggests?)\b|可能|也许|大概`)

// unproven says why a claim cannot be shown from its evidence, which does not contradict it.
func (g *grounds) unproven(c *claim) Reason {
	switch {
	case c.elsewhere, unsaidWords(c.plain, c.support), g.otherDevice(c), g.ofAnotherOwner(c), g.ofUncitedContainer(c), g.calledOtherwise(c.plain, c.texts), g.ofOtherSubject(c), g.otherLayer(c), g.endedOtherwise(c), switched(c.body, c.texts):
		return Word
	case len(looked(c.plain)) == 0 && c.plain == c.body && len(about(c.plain)) == 0:
		if _, of := overlap(c.plain, c.support); of == 0 {
			return NoCitation // nothing in it can be held against anything
		}
	}
	return ""
}

// troubled is a claim that tells of a failure: what went well before it is no contradiction.
var troubled = lazy.MustCompile(`(?i)\b(?:exit(?:s|ed)|fail\w*|kill(?:s|ed)|crash\w*|abort\w*|timed out|gave up|gives up|lost|missing|consequence|symptom)\b`)

// turned says whether a claim says the opposite of its evidence.
func (g *grounds) turned(body, support, texts string, ofRoot bool) (loose Reason) {
	if denies(support) {
		body = noneHas.ReplaceAllString(body, "0 of $1 lack")
	}
	rest := progressed.ReplaceAllString(failing.ReplaceAllString(exhausted.ReplaceAllString(fineUntil.ReplaceAllString(body, "until"), "exhausted"), " "), " ")
	whole := support
	support = failing.ReplaceAllString(support, " ") // what failed did not succeed
	if !negation.MatchString(body) && !troubled.MatchString(body) {
		has := stemsOf(support)
		for _, m := range positives.FindAllString(rest, -1) {
			if !has.has(m[strings.LastIndexByte(m, ' ')+1:]) {
				loose = Word
			}
		}
	}
	if m := succeeded.FindString(rest); deniedThere(body, whole, true) || deniedThere(body, texts, true) {
		return Otherwise
	} else if not := unlike(body, whole, texts); not == Otherwise {
		if ofRoot {
			return not
		}
		return Word
	} else if opposite(rest, whole) || m != "" && !strings.Contains(strings.ToLower(support), strings.ToLower(m)) && !(hanWords[m] != nil && hanWords[m].MatchString(support)) {
		if ofRoot {
			return Otherwise
		}
		return Word // of what did not fail, it may be so
	}
	if deniedThere(body, whole, false) || able(body, texts) {
		return Word
	}
	return loose
}

// supposes says whether a claim tells what is so in general, or what would or may be: it asserts nothing of what was read.
func supposes(body string) bool { return generally.MatchString(body) || wouldBe.MatchString(body) }

var wouldBe = lazy.MustCompile(`(?i)\b(?:would|may|might)\b`)

// timePassed says how much time went by, and no test.
var timePassed = lazy.MustCompile(`(?i)\b((?:ms|milliseconds?|s|secs?|seconds?|mins?|minutes?|hours?) (?:had )?)passed\b`)

// noneHas says of none of several that they have or are what they would need.
var noneHas = lazy.MustCompile(`(?i)\bnone of (?:the )?((?:\d+ )?[a-z]+) (?:has|have|had|offers?|provides?) (?:enough|sufficient)\b`)
