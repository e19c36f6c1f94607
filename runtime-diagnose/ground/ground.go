// Package ground decides what of a model's text may be shown: claims that the evidence they cite
// supports, and steps that the rules offered or that only read. Everything else is dropped, counted,
// and the count says why.
//
// Support is judged by rules: every quotation, number, pod, rank, node, host, path and time of a claim
// stands in the items that it cites; what it is about is what they are about; it does not turn them
// round, nor the verdict, nor cause and consequence; it orders nothing. Nothing that is kept can change
// a finding: the rules' fields are not among the values. Start reading at Keep.
package ground

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// Shown is what a model was shown, and what its claims are held against.
type Shown struct {
	Items []evidence.Item // with the IDs that stood in the prompt
	// Says is what the rules say of the cause, and Root what they cite for it: a claim that cites one of these
	// may say as much.
	Says string
	Root []evidence.ID
	// Effects are what the rules cite for consequences.
	Effects        []evidence.ID
	Job, Namespace string
	Kind           string   // of the job, as it is written: PyTorchJob
	Names          []string // of the job, its pods and their nodes: what a read-only command may be about
	Remedies       []string // the steps of the rules, in order
	Healthy        bool     // the verdict
	Prompt         string   // all that the model was shown
}

// Kept is what remains of an answer.
type Kept struct {
	Error, Analysis, Solution string         // sentences with their citations; empty where none is left
	Unsupported               []string       // sentences that nothing which was read supports or contradicts, without citations
	Cites                     []evidence.ID  // in the order they are first cited
	Sentences                 int            // in all
	Dropped                   int            // of them
	Why                       map[Reason]int // why they were dropped
}

// Supported is how many sentences are shown as what the evidence says.
func (k Kept) Supported() int { return k.Sentences - k.Dropped - len(k.Unsupported) }

// Reason is why a sentence is not shown.
type Reason string

// The reasons.
const (
	NoCitation  Reason = "no evidence for it"
	Invented    Reason = "cites what was not shown"
	Quotation   Reason = "quotes what its evidence does not hold"
	Number      Reason = "a number that its evidence does not hold"
	Name        Reason = "a name that its evidence does not hold"
	Member      Reason = "a rank that its evidence is not of"
	Word        Reason = "says more than its evidence"
	Copied      Reason = "repeats a line that the rules do not rest on"
	Topic       Reason = "about something else than its evidence"
	Apart       Reason = "joins what stands in different pieces of evidence"
	Contradicts Reason = "contradicts the finding"
	Otherwise   Reason = "says other than its evidence"
	Reversed    Reason = "turns cause and consequence round"
	Order       Reason = "orders something"
	Command     Reason = "a command or an address"
	NotOffered  Reason = "a step that the rules do not offer"
	Undecided   Reason = "as well supported with another number"
	TooLong     Reason = "no room"
)

// MaxText is how many bytes of each part are kept; annotations hold 8 KiB in all.
const MaxText = 1200

// mostSentences is how many sentences of one answer are looked at: what a model is asked for has ten.
const mostSentences = 64

// Keep holds the parsed answer against what the model was shown.
func Keep(a Answer, s Shown) Kept { return NewJudge(s).Keep(a) }

// Judge has read what a model was shown, and holds answers against it. It remembers what became of a sentence, because an
// answer that comes piece by piece is judged with each piece. It is not safe for concurrent use.
type Judge struct{ read grounds }

// NewJudge reads what a model was shown.
func NewJudge(s Shown) *Judge { return &Judge{read: *newGrounds(s)} }

// Keep holds the parsed answer against what was read.
func (j *Judge) Keep(a Answer) Kept {
	g := j.read
	k := Kept{Error: g.part(a.Error, true), Analysis: g.part(a.Analysis, false), Solution: g.steps(a.Solution)}
	k.Unsupported, k.Cites, k.Sentences, k.Dropped, k.Why = g.apart, g.cites, g.sentences, g.dropped, g.why
	return k
}

// Text is the kept answer in lines, for people.
func (k Kept) Text() string {
	var lines []string
	for _, part := range []struct{ name, text string }{{"Error: ", k.Error}, {"Analysis: ", k.Analysis}, {"Solution: ", k.Solution}} {
		if part.text != "" {
			lines = append(lines, part.name+part.text)
		}
	}
	return strings.Join(lines, "\n")
}

// LeftOut says how much is not shown as what the evidence says, and why, the most frequent reason first; empty where
// nothing is.
func (k Kept) LeftOut() string {
	var apart string
	if n := len(k.Unsupported); n > 0 {
		apart = fmt.Sprintf("%d of %d sentences %s", n, k.Sentences, map[bool]string{true: "is", false: "are"}[n == 1]) + " not supported by what was read"
	}
	if k.Dropped == 0 {
		return apart
	}
	reasons := slices.SortedFunc(maps.Keys(k.Why), func(a, b Reason) int {
		return cmp.Or(cmp.Compare(k.Why[b], k.Why[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, r := range reasons {
		parts = append(parts, fmt.Sprintf("%d %s", k.Why[r], r))
	}
	left := fmt.Sprintf("%d of %d sentences left out: %s", k.Dropped, k.Sentences, strings.Join(parts, "; "))
	if apart != "" {
		return apart + "; " + left
	}
	return left
}

type grounds struct {
	Shown
	items     map[evidence.ID]evidence.Item
	ranks     map[string]string // of pods
	nodes     map[string]string // of pods
	members   []string          // the pods of the job
	ofNames   *regexp.Regexp    // any of the names of the job, its members and their nodes
	who       map[string]bool   // the pods, nodes and roles of what was read
	named     map[string]string // of claims, with whole names
	read      string            // all that was read, as words
	cites     []evidence.ID
	apart     []string
	why       map[Reason]int
	sentences int
	dropped   int
	edits     int // of claims, that were tried

	rests   map[string]rest   // of sentences
	follows map[string]Reason // of claims and what they cite
	shown   map[string]bool   // of claims and what they cite, as follows, where only that was asked
	told    map[string]string // by items: what support says of them
	lines   map[evidence.ID][]lineRead
}

// rest is on which evidence a sentence rests, or why it is refused.
type rest struct {
	body  string
	cites []evidence.ID
	why   Reason
}

func newGrounds(s Shown) *grounds {
	g := &grounds{Shown: s, items: map[evidence.ID]evidence.Item{}, rests: map[string]rest{}, follows: map[string]Reason{}, shown: map[string]bool{}, told: map[string]string{}, lines: map[evidence.ID][]lineRead{}}
	g.Items = slices.Clone(s.Items)
	g.ofNames = anyName(s.Names)
	g.read = " " + spoken(Clean(s.Prompt)) + " "
	for _, item := range s.Items {
		g.read += spoken(Clean(item.Text)) + " | "
	}
	for i, item := range g.Items {
		if item.Text = Clean(item.Text); addressed.MatchString(item.Text) || markup.MatchString(item.Text) && chat.MatchString(item.Text) {
			item.Text = "" // a text that speaks to a model supports nothing
		}
		item = stamped(item)
		g.items[item.ID] = item
		g.Items[i] = item
	}
	g.who = map[string]bool{}
	for _, i := range g.Items {
		for _, w := range []string{i.Source.Pod, i.Source.Node, i.Source.Role} {
			g.who[strings.ToLower(w)] = true
		}
	}
	g.ranks, g.nodes, g.members, g.named = ranksOf(s, g.Items), nodesOf(g.Items), membersOf(g.Shown), map[string]string{}
	return g
}

func (g *grounds) drop(why Reason) {
	g.dropped++
	if g.why == nil {
		g.why = map[Reason]int{}
	}
	g.why[why]++
}

// part is what is left of claims. What is said to be the error has to be what the rules found.
func (g *grounds) part(text string, cause bool) string {
	var kept []string
	room := MaxText
	for _, s := range sentences(text) {
		g.sentences++
		if g.sentences > mostSentences {
			g.drop(TooLong)
			continue
		}
		body, cites, why := g.supports(s)
		blames := !g.mayBlame(s, cites, cause)
		if why == "" && blames {
			why = Contradicts
			if !cause { // its own line says so, and the rules took that for no cause
				blames, why = false, Word
			}
		}
		if why == "" && g.undecided(body, cites) {
			why = Undecided
		}
		if why == "" && len(s)+1 > room {
			why = TooLong
		}
		if doubtful[why] && (!blames || !cause && (why == NoCitation || g.ofEffects(cites))) {
			if why = g.standsApart(body, cites, why); why == "" {
				continue
			}
		}
		if !cause && (why == Order || why != "" && !brackets.MatchString(s)) {
			if offered := g.advised(s, body); len(offered) > 0 {
				for _, step := range offered { // what the rules offer, in their words
					g.showApart(step)
				}
				continue
			}
		}
		if why != "" {
			g.drop(why)
			continue
		}
		if !slices.ContainsFunc(cites, func(id evidence.ID) bool { return strings.Contains(s, string(id)) }) { // the model cited nothing; what it says was found all the same
			for _, id := range cites {
				s += " [" + string(id) + "]"
			}
		}
		room -= len(s) + 1
		kept = append(kept, s)
		g.cite(cites)
	}
	return strings.Join(kept, " ")
}

func (g *grounds) cite(ids []evidence.ID) {
	for _, id := range ids {
		if !slices.Contains(g.cites, id) {
			g.cites = append(g.cites, id)
		}
	}
}

var (
	brackets  = lazy.MustCompile(`\[([^\[\]\n]+)\]`)
	idShape   = lazy.MustCompile(`^[a-z]+/\S+$`)
	quotation = lazy.MustCompile("\"([^\"\n]{2,})\"|`([^`\n]+)`|“([^”\n]{2,})”|「([^」\n]{2,})」|‘([^’\n]{2,})’|«([^»\n]{2,})»|(?:^|[\\s(])'([^'\n]{3,})'(?:[\\s.,;:)]|$)")
)

// inList is the number of an item of a list, or of the row of a table, and the box of a task.
var inList = lazy.MustCompile(`^(?:\|?\s*\d{1,2}\s*[.)|]|\[[ xX]\])\s+`)

// beforeMark is the space that a citation leaves before the mark behind it.
var beforeMark = lazy.MustCompile(`\s+([.,;:!?。，；])(\s|$)`)

// supports says on which evidence a claim rests, or why it is refused; body is the claim without its citations.
func (g *grounds) supports(s string) (body string, cites []evidence.ID, why Reason) {
	r, ok := g.rests[s]
	if !ok {
		r.body, r.cites, r.why = g.restsOn(s)
		g.rests[s] = r
	}
	return r.body, r.cites, r.why
}

func (g *grounds) restsOn(s string) (body string, cites []evidence.ID, why Reason) {
	for _, m := range brackets.FindAllStringSubmatch(s, -1) {
		for _, id := range cited(m[1]) {
			switch {
			case g.has(id):
				cites = append(cites, evidence.ID(id))
			case idShape.MatchString(id):
				return "", nil, Invented
			}
		}
	}
	body = brackets.ReplaceAllStringFunc(s, func(b string) string {
		if slices.ContainsFunc(cited(b[1:len(b)-1]), func(id string) bool { return g.has(id) || idShape.MatchString(id) }) {
			return " "
		}
		return b
	})
	cites = g.withAlike(body, cites)
	body = beforeMark.ReplaceAllString(strings.TrimSpace(strings.TrimLeft(body, " \t>*-•#")), "$1$2")
	body = strings.Trim(inList.ReplaceAllString(body, ""), " |")
	switch {
	case commands(g.plainly(body)), markup.MatchString(body), encoded(body):
		return body, nil, Command
	case onlyLooks(body): // nothing is changed by that
	case orders.MatchString(noDemand.ReplaceAllString(body, " ")), asks.MatchString(body), ofOthers.MatchString(body) && wants.MatchString(body), isOrder(strings.TrimLeft(body, "0123456789.) ")), imperativeIn.MatchString(noDemand.ReplaceAllString(body, " ")), strings.HasSuffix(body, "?"):
		return body, nil, Order
	case g.ofUnharmedMember(body): // it may be well
	case !g.Healthy && !tellsOfHarm(body) && g.saysWell(prose(asserted(body)), cites):
		if len(cites) > 0 && (g.unharmed(cites) || g.ofUnharmed(cites) || g.ofSomethingElse(body, cites) || g.beforeIt(cites) && !success.MatchString(body) && !sinceThen.MatchString(body)) {
			return body, cites, Word
		}
		return body, nil, Contradicts
	case fields.MatchString(body):
		return body, nil, Order
	}
	said := len(cites) > 0
	if !said {
		if g.background(body) {
			return body, nil, NoCitation
		}
		if cites = g.find(body); len(cites) == 0 {
			return body, nil, NoCitation
		}
	}
	why = g.entails(body, cites)
	if why == Member && g.ofNobody(body, cites) {
		why = Word
	}
	if n, of := overlap(body, g.texts(cites)); why == Member && !said && (2*n < of || of == 0 && han(body) || allMembers.MatchString(asserted(body))) {
		why = NoCitation // it was said of nobody
	}
	return body, cites, why
}

// looks is an order to look at something, which changes nothing.
var looks = lazy.MustCompile(`(?i)^\W*(?:please |then |first,? |you (?:may|might|could|can|should) (?:want to |also )?)?(?:check|verify|inspect|look|see|compare|confirm|review|investigate|examine|find out|make sure|ensure|read)\b`)

// goesOnWith is where an order goes on with another.
var goesOnWith = lazy.MustCompile(`(?i)[,;:.，。；]\s*(?:(?:and|then|or) )*|\b(?:and|then|or) `)

// onlyLooks says whether a claim tells its reader to look at something, and to do nothing else.
func onlyLooks(body string) bool {
	return looks.MatchString(body) && !address.MatchString(body) && !asks.MatchString(body) && !wants.MatchString(body) &&
		!slices.ContainsFunc(goesOnWith.Split(body, -1), func(clause string) bool { return isOrder(clause) && !looks.MatchString(clause) })
}

// ofNobody says whether evidence is lines of a pasted log, of which nobody knows who wrote them, and what a claim says of members by their numbers was
// read: which of them wrote a line, nothing tells.
func (g *grounds) ofNobody(body string, cites []evidence.ID) bool {
	return len(g.members) == 0 && !slices.ContainsFunc(cites, func(id evidence.ID) bool {
		return !strings.HasPrefix(string(id), "log/") || g.rankOf(g.items[id]) != "" || members.MatchString(g.items[id].Text)
	}) && ofMembers(body, g.support(slices.Sorted(maps.Keys(g.items))))
}

// longestQuoted is how many words of a log may be quoted that no rule rests on: one message.
const longestQuoted = 16

// reports says whether a text of a log is one message that speaks to nobody, blames nobody and says nothing to be well.
func reports(q string) bool {
	return len(strings.Fields(q)) <= longestQuoted && !endOfSentence.MatchString(q) && !demands.MatchString(q) && !well.MatchString(failing.ReplaceAllString(q, "failed")) && !blames.MatchString(q) && !Injected(q) && len(Reported(q)) >= len(strings.TrimRight(q, " \t.,;:!?-–—|(（。；，：！？"))
}

// tellsFailure says whether such a text tells of a failure.
func tellsFailure(q string) bool {
	return (failing.MatchString(q) || short.MatchString(q)) && reports(q)
}

// withoutNames is a claim without the names of the job, its members and their nodes: lm-resume-worker-0 resumes nothing.
func (g *grounds) withoutNames(body string) string {
	if g.ofNames == nil {
		return body
	}
	return g.ofNames.ReplaceAllString(body, " ")
}

// inNoName is a claim with "it" for each of these names: whom llm-worker-0 is called like is nobody spoken to.
func (g *grounds) inNoName(body string) string {
	if g.ofNames == nil {
		return body
	}
	return g.ofNames.ReplaceAllString(body, "it")
}

// anyName is one of some names, as a word of its own: the job ft has no part in what is left.
func anyName(names []string) *regexp.Regexp {
	var quoted []string
	for _, n := range slices.SortedFunc(slices.Values(names), func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) }) {
		if n != "" {
			quoted = append(quoted, regexp.QuoteMeta(n))
		}
	}
	if len(quoted) == 0 {
		return nil
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(quoted, "|") + `)\b`)
}

func (g *grounds) has(id string) bool { _, ok := g.items[evidence.ID(id)]; return ok }

// find cites for a sentence that cites nothing: the pieces of evidence that hold what can be looked up in
// it, four at most. A sentence without anything to look up is about the piece that shares most words.
func (g *grounds) find(body string) []evidence.ID {
	want := looked(ofEach.ReplaceAllString(inDigits(body), "all "))
	var cites []evidence.ID
	left := slices.Clone(want)
	for len(left) > 0 && len(cites) < 4 {
		var best evidence.ID
		most, words, next := 0, 0, left
		for _, item := range g.Items {
			support := g.support([]evidence.ID{item.ID})
			var missing []string
			for _, w := range left {
				if !holds(support, w) {
					missing = append(missing, w)
				}
			}
			// Of those that hold as many, the one that shares most words.
			if n := len(left) - len(missing); n > 0 && n >= most {
				if m := inCommon(body, support); n > most || m > words {
					best, most, words, next = item.ID, n, m, missing
				}
			}
		}
		if most == 0 {
			break
		}
		cites, left = append(cites, best), next
	}
	if len(want) > 0 {
		return cites
	}
	var best evidence.ID
	most := 1 // one word in common is chance
	for _, item := range g.Items {
		if n, _ := overlap(body, g.support([]evidence.ID{item.ID})); n > most {
			best, most = item.ID, n
		}
	}
	if best == "" {
		return nil
	}
	return []evidence.ID{best}
}

// inCommon is how many words of a text a support has.
func inCommon(body, support string) (n int) {
	has := stemsOf(support)
	for _, w := range tellingWords(body) {
		if has.has(w) {
			n++
		}
	}
	return n
}

// ofEach is how many members a sentence speaks of together: "all 4 containers".
var ofEach = lazy.MustCompile(`(?i)\ball (?:of )?(?:the )?(\d{1,2}) `)
