package ground

import (
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A claim that contradicts nothing, and that its evidence does not show, is no lie: it may be what everybody knows, or say
// in other words what was read. It is shown apart from what is supported and called unsupported, without its citations.

// MaxUnsupported is how many bytes of claims that nothing supports are shown.
const MaxUnsupported = 600

// longestUnsupported is how many bytes one of them may have.
const longestUnsupported = 240

// unproven are the reasons that say no more than that evidence does not show a claim.
var unproven = map[Reason]bool{NoCitation: true, Word: true, Topic: true}

// standsApart keeps a claim as one that is not supported, or says why it is not shown at all.
func (g *grounds) standsApart(body string, cites []evidence.ID, why Reason) Reason {
	body = squeeze(body)
	plain := rightAt.ReplaceAllString(body, "$1")
	room := MaxUnsupported
	for _, a := range g.apart {
		room -= len(a)
	}
	switch {
	case len(body) > longestUnsupported || len(body) > room:
		return TooLong
	case Injected(body), demands.MatchString(said.ReplaceAllString(strings.ReplaceAll(body, "I/O", " "), " ")):
		return Order
	case !g.Healthy && (goesOn.MatchString(body) && !g.said(goesOn.FindString(body), cites) || !negation.MatchString(body) && !troubled.MatchString(body) && g.better(plain, cites)), han(body) && (brings.MatchString(body) || denies(body) && !denies(g.support(cites))), g.deniesConcretes(body, cites):
		return Contradicts
	case g.repeats(body):
		return Copied
	case !legible(body), !han(body) && len(looked(body)) == 0 && !g.related(body, cites), len(cites) == 0 && len(looked(body)) > 0, g.strange(body):
		return why // of what nobody mentions
	case g.ofAnother(body, cites):
		return Member
	}
	if !slices.Contains(g.apart, body) {
		g.apart = append(g.apart, body)
	}
	return ""
}

// better says whether a claim says something to be well that its evidence does not say so.
func (g *grounds) better(body string, cites []evidence.ID) bool {
	so, _ := affirmed(g.support(cites))
	has := stemsOf(so)
	return universal(body, g.support(cites)) && positives.MatchString(body) || slices.ContainsFunc(positives.FindAllString(body, -1), func(m string) bool { return !has.has(m[strings.LastIndexByte(m, ' ')+1:]) })
}

// said says whether a word stands in what is cited, and no cause in that.
func (g *grounds) said(word string, cites []evidence.ID) bool {
	return len(cites) > 0 && !slices.ContainsFunc(cites, func(id evidence.ID) bool { return slices.Contains(g.Root, id) }) && stemsOf(g.texts(cites)).has(word)
}

// related says whether a claim has two words that say something: more, where it rests on nothing.
func (g *grounds) related(body string, cites []evidence.ID) bool {
	if len(cites) == 0 {
		return len(slices.DeleteFunc(content(body), func(w string) bool { return neutral[w] })) > 1
	}
	return len(content(body)) > 1
}

// deniesConcretes says whether a claim says "not" in one breath with a number, a name or a member: the opposite of what was
// read has all words of it. A failure of which its evidence tells is none of that.
func (g *grounds) deniesConcretes(body string, cites []evidence.ID) bool {
	if body = byItself.ReplaceAllString(body, " "); supposed.MatchString(body) {
		return false
	}
	support := g.support(cites)
	trouble := denies(support)
	_, denied := affirmed(support)
	if trouble || han(body) {
		body = failing.ReplaceAllString(body, " ")
	}
	if slices.ContainsFunc(cites, func(id evidence.ID) bool { return slices.Contains(g.Effects, id) }) {
		body = notCause.ReplaceAllString(body, " ")
	}
	if han(body) {
		return negation.MatchString(body)
	}
	return slices.ContainsFunc(clauseEnd.Split(ratherThan.ReplaceAllString(inDigits(body), ", not "), -1), func(clause string) bool {
		if words := looked(clause); len(words) > 0 && !short.MatchString(negation.ReplaceAllString(clause, " ")) && !slices.ContainsFunc(words, func(w string) bool { return !holds(denied, w) }) {
			return false // its evidence denies the same
		}
		return negation.MatchString(clause) && (concrete(clause) || !trouble && memberIn.MatchString(clause))
	})
}

// ratherThan denies what stands behind it, and not what stands before it.
var ratherThan = lazy.MustCompile(`(?i)\b(?:rather than|instead of)\b`)

// said are turns in which nobody is spoken to.
var said = lazy.MustCompile(`(?i)\b(?:i\.e\.|(?:what |as )?(?:you|one|we) would expect|tells? us)`)

// demands are words by which somebody is told what is to be done, or spoken to.
var demands = lazy.MustCompile(`(?i)\b(?:you|your|yours|we|our|us|i|my|me|please|must|should|shall|ought|needs? to|has to|have to|had better|recommend\w*|advis\w*|suggest(?:ed|ion\w*)?|consider|try|fix|solution|workaround|trust|secure|safe|ask|answers?|parsers?|prompts?|repl(?:y|ies))\b|请|应|必须|需要您|建议|您|你|我`)

// hanNumber counts in characters.
var hanNumber = lazy.MustCompile(`[二三四五六七八九十百千万]+\s*(?:个|号|进程|节点|步|次|台)|第[一二三四五六七八九十]`)

// legible says whether a text is in a language in which it can be told that it contradicts nothing.
func legible(body string) bool {
	if strings.ContainsFunc(body, func(r rune) bool { return r >= 0x80 && unicode.IsLetter(r) && !unicode.Is(unicode.Han, r) }) {
		return false
	}
	if han(body) {
		return !hanNumber.MatchString(body)
	}
	n := 0
	for w := range strings.FieldsSeq(strings.ToLower(body)) {
		if stops[w] {
			n++
		}
	}
	return n > 1
}

// repeatedWords is how many words in a row of a line that was read make a claim a copy of it.
const repeatedWords = 5

// repeats says whether a claim has a run of words of what was read, and of what the rules do not say themselves: what a log
// says is not what a model says.
func (g *grounds) repeats(body string) bool {
	words, says := strings.Fields(spoken(body)), " "+spoken(g.Says)+" "
	for at := 0; at+repeatedWords <= len(words); at++ {
		if run := " " + strings.Join(words[at:at+repeatedWords], " ") + " "; strings.Contains(g.read, run) && !strings.Contains(says, run) {
			return true
		}
	}
	return hanRun(body, g.read, says, repeatedWords)
}

// hanRun says whether a text has twice as many characters of Chinese in a row as a text of so many words has words that stand
// in a line which was read, and not in what the rules say.
func hanRun(body, read, says string, words int) bool {
	run := []rune{}
	for _, r := range body {
		if !unicode.Is(unicode.Han, r) {
			run = run[:0]
			continue
		}
		if run = append(run, r); len(run) >= 2*words {
			if text := string(run[len(run)-2*words:]); strings.Contains(read, text) && !strings.Contains(says, text) {
				return true
			}
		}
	}
	return false
}

// spoken is a text as words alone.
func spoken(text string) string {
	words := strings.Fields(strings.ToLower(text))
	for i, w := range words {
		words[i] = strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	}
	return strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
}

// plainTopics are what explanations speak of whatever happened.
var plainTopics = words("import numbers time shape")

// ofPeople are topics of which the rules' own words are no sign.
var ofPeople = words("power attack people")

// strange says whether a claim is about what nothing that was read is about: a switch, where nobody speaks of a network.
func (g *grounds) strange(body string) bool {
	var all strings.Builder
	for _, i := range g.Items {
		all.WriteString(i.Text + "\n")
	}
	read, found := about(all.String()), about(g.Says)
	var told strings.Builder
	for _, clause := range clauseEnd.Split(lossOf.ReplaceAllString(body, " "), -1) {
		if !negation.MatchString(clause) { // nothing points to the network
			told.WriteString(clause + "\n")
		}
	}
	for t := range about(told.String()) {
		if !plainTopics[t] && !read[t] && (ofPeople[t] || !found[t]) {
			return true
		}
	}
	return false
}

// memberIn is a member that a claim names, by rank or role.
var memberIn = lazy.MustCompile(`(?i)\branks? \d|\b(?:the|a) (?:master|worker|launcher|chief)|\d+\s*号进程|第\s*\d+\s*号|主节点`)

// ofAnother says whether a claim that names a member says of it what was read of another: more of its words are of lines
// of members that it does not name than of those it rests on.
func (g *grounds) ofAnother(body string, cites []evidence.ID) bool {
	if len(cites) == 0 || !memberIn.MatchString(body) && !slices.ContainsFunc(g.Names, func(n string) bool { return n != g.Job && n != "" && containsToken(body, n) }) {
		return false
	}
	words, signs := tellingWords(body), hanSigns(body)
	count := func(ids []evidence.ID) (n int) {
		support := g.support(ids)
		for _, sign := range signs {
			if sign.MatchString(support) {
				n++
			}
		}
		has := stemsOf(support)
		for _, w := range words {
			if has.has(w) {
				n++
			}
		}
		return n
	}
	own := count(cites)
	return slices.ContainsFunc(g.Items, func(i evidence.Item) bool {
		if i.Source.Pod == "" || slices.ContainsFunc(cites, func(id evidence.ID) bool { return g.items[id].Source.Pod == i.Source.Pod }) {
			return false
		}
		n := count([]evidence.ID{i.ID})
		return n > own && (n > 1 || len(signs) > 0)
	})
}
