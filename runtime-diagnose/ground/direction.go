package ground

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What came of what: a claim may have all words of its evidence and make a consequence of the cause.

// because tells cause from consequence by the words between them; the second group of what comes after
// is the cause.
var (
	forward  = lazy.MustCompile(`(?i)\b(?:left (?:no|the|little)|used up|ate up|drained|cost|drove|pushed|caused|causes|causing|led to|leads to|leading to|resulted in|results in|triggered|made|brought down|broke|killed|is why|was why|so that|so|therefore|hence|thus|thereby|and then|before|prior to|ahead of|earlier than|preceded|precedes|took down|followed by|brought about|(?:brought|took|pulled|dragged|knocked) (?:[\w-]+ ){1,5}down|left (?:[\w-]+ ){1,4}(?:without|unable|stuck|hanging)|gave rise to|provoked|prompted|induced|forced|culminated in|ended in)\b|[,;:] then\b|导致|造成|引起|引发|因此|所以|之前|先于|随后`)
	backward = lazy.MustCompile(`(?i)\b(?:when|as soon as|because(?: of)?|due to|caused by|after|following|follow(?:s|ed)(?: from| on)?|in the wake of|in response to|in reaction to|subsequent to|later than|on account of|thanks to|as a consequence of|upon|once|(?:as |is |was |just |only )?(?:a |the )?(?:result|consequence) of|resulted from|results from|triggered by|is a consequence of|was a consequence of|stems? from|owing to|since|killed by|broken by)\b|因为|由于|之后|是由|源于`)
)

// brings are verbs by which something brings something about.
var brings = lazy.MustCompile(`(?i)\b(?:made|makes|left (?:[\w-]+ ){1,4}(?:without|unable|stuck|hanging)|caused|causes|led to|leads to|triggered|triggers|brought (?:about|down)|forced|drove|provoked|induced|gave rise to|resulted in)\b|导致|造成|引起|引发`)

// wasMade is what was done, and brought nothing about by that: a call, a request.
var wasMade = lazy.MustCompile(`(?i)\b(?:is|was|are|were|been|being|be) made\b|\bmakes? (?:up )?\d|\b(?:lines?|calls?|statements?|places?|operations?|requests?|messages?) (?:that|which) (?:triggered|caused|raised|led to) `)

// calledCause calls what stands before it the cause.
var calledCause = lazy.MustCompile(`(?i)\b(?:is|was) the (?:\w+ )?(?:cause|reason|origin|culprit)\b|(?:是|才是|就是)(?:真正的?|根本的?|直接)?(?:原因|根因|根源)`)

// asCause is the "as" that opens a sentence with what brought the rest about.
var asCause = lazy.MustCompile(`^\W*As `)

// sides are what the root says, of a claim's evidence, and what the rest says.
func (g *grounds) sides(cites []evidence.ID) (root, rest string) {
	for _, id := range cites {
		if slices.Contains(g.Root, id) {
			root += g.support([]evidence.ID{id})
		} else {
			rest += g.support([]evidence.ID{id})
		}
	}
	return root, rest
}

// bringsAbout says whether a claim has something bring something about, and rests on one piece of evidence that says
// nothing of a cause.
func (g *grounds) bringsAbout(body string, cites []evidence.ID) bool {
	root, rest := g.sides(cites)
	body = withoutNoCause(body)
	return brings.MatchString(wasMade.ReplaceAllString(body, " ")) && (root == "" || rest == "") && !blames.MatchString(root+rest) && !brings.MatchString(root+rest)
}

// judged says whether what came of what in a claim is a matter that the rules decided: it rests on a consequence, or on the cause alone, or brings
// something about. What else was read may be behind the cause as well as before it.
func (g *grounds) judged(c *claim) bool {
	root, rest := g.sides(c.cites)
	return len(g.Effects) == 0 || g.ofEffect(c.cites) || root != "" && (rest == "" || brings.MatchString(c.plain))
}

// reversed says whether a claim makes a consequence the cause of what it followed. The sides are told by the words that
// only the root, or only a consequence, has.
func (g *grounds) reversed(body string, cites []evidence.ID) bool {
	root, rest := g.sides(cites)
	if root == "" || rest == "" {
		return false
	}
	reversed := func(cause, effect string, told bool) bool {
		blamed, followed := lean(cause, root, rest), lean(effect, root, rest)
		told = told && (blamed != 0 || !han(cause)) // the words of Chinese are not among those
		return blamed < 0 && (followed > 0 || told && exclusive(effect, root, rest)) || told && (blamed < 0 && followed == 0 || blamed == 0 && followed > 0)
	}
	for _, clause := range clauseMark.Split(notToBlame.ReplaceAllString(body, " "), -1) {
		if m := calledCause.FindStringIndex(clause); m != nil && lean(clause[:m[0]], root, rest) < 0 {
			return true
		}
	}
	body = inferred.ReplaceAllString(withoutNoCause(body), "")
	words := append(connectives(backward, body, true), connectives(forward, body, false)...)
	if m := asCause.FindStringIndex(body); m != nil {
		words = append(words, connective{m[0], m[1], true})
	}
	slices.SortFunc(words, func(a, b connective) int { return a.from - b.from })
	words = slices.CompactFunc(words, func(next, w connective) bool { return next.from < w.to }) // "because of" holds no other
	for i, w := range words {
		from, to := 0, len(body)
		if i > 0 {
			from = words[i-1].to
		}
		if i+1 < len(words) {
			to = words[i+1].from
		}
		cause, effect := body[from:w.from], body[w.to:to]
		if i > 0 && w.backward && words[i-1].backward && strings.ContainsAny(body[words[i-1].to:w.from], ",，") {
			cause = body[:words[i-1].from] // X after Y, because Z: that is why X
		}
		if w.backward {
			if at := strings.Index(effect, " with "); at > 0 && timely.MatchString(body[w.from:w.to]) {
				cause, effect = cause+effect[at:], effect[:at] // with what it failed, and not what came before
			}
			cause, effect = effect, cause
			if onlyTime.MatchString(body[:w.from]) || strings.HasSuffix(strings.TrimSpace(body[:w.from]), ":") { // Because of X, Y, behind a label perhaps
				if i := strings.IndexAny(body[w.to:], ",，"); i > 0 {
					cause, effect = body[w.to:w.to+i], body[w.to+i:]
				} else if i := strings.Index(body[w.to:], " there "); i > 0 {
					cause, effect = body[w.to:w.to+i], body[w.to+i:]
				}
			}
		}
		switch word := body[w.from:w.to]; {
		case !g.precedesCause(cites):
		case timely.MatchString(word):
			cause, effect = effect, cause // what only came before is no consequence
		case (brings.MatchString(word) || blames.MatchString(word)) && lean(cause, root, rest) > 0 && lean(effect, root, rest) < 0:
			return true // nor can anything have brought it about that came later
		}
		if reversed(cause, effect, len(words) == 1) {
			return true
		}
	}
	if m := inTurn.FindStringSubmatch(body); m != nil && len(content(amount.ReplaceAllString(m[2], " "))) > 0 && reversed(m[1], m[2], true) {
		return true
	}
	if len(words) == 0 && !joint.MatchString(body) { // what is told in one breath has the cause first
		at := halves(body)
		if g.ofEffect(cites) && reversed(body[:at[0]], body[at[1]:], false) {
			return true
		}
	}
	return false
}

// rightWay says whether a claim has the words of the cause before a word that says that something brings something about, or those of a consequence
// behind it, and not the other way round.
func (g *grounds) rightWay(body string, cites []evidence.ID) bool {
	root, rest := g.sides(cites)
	at := brings.FindAllStringIndex(body, -1)
	if root == "" || rest == "" || len(at) != 1 {
		return false
	}
	cause, effect := lean(body[:at[0][0]], root, rest), lean(body[at[0][1]:], root, rest)
	return cause > 0 || cause == 0 && effect < 0
}

// withoutNoCause is a claim without what it says at its end to be none of the causes: that brings nothing about.
func withoutNoCause(body string) string {
	if m := contrasted.FindStringIndex(body); m != nil && m[0] > 0 && forward.MatchString(body[m[0]:]) {
		return body[:m[0]]
	}
	return body
}

// onlyTime is nothing, or how much time went by.
var onlyTime = lazy.MustCompile(`(?i)^(?:\W*\b(?:about|around|roughly|some|only|just|nearly|almost|more|less|than|shortly|soon|long|right|immediately|half|quarter|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|few|several|couple|of|\d+(?:\.\d+)?|ms|milliseconds?|s|seconds?|min|minutes?|h|hours?|days?)\b)*\W*$`)

// timely are words that say no more than what came first.
var timely = lazy.MustCompile(`(?i)^(?:after|following|before|once|when|as soon as|later than|之前|之后|随后)$`)

// precedesCause says whether what a claim cites beside the cause was surely before it, by the clock.
func (g *grounds) precedesCause(cites []evidence.ID) bool {
	for _, id := range cites {
		if slices.Contains(g.Root, id) {
			continue
		}
		if slices.ContainsFunc(cites, func(o evidence.ID) bool {
			return slices.Contains(g.Root, o) && !g.before(id, o)
		}) {
			return false
		}
	}
	return true
}

// before says whether an item was surely written before another: by the clock, or as an earlier line of the same log.
func (g *grounds) before(id, other evidence.ID) bool {
	of, n, _ := strings.Cut(string(id), "#")
	same, m, _ := strings.Cut(string(other), "#")
	if of == same && digitsOnly(n) && digitsOnly(m) {
		return value(n) < value(m)
	}
	a, b := g.items[id].Told(), g.items[other].Told()
	return !a.IsZero() && !b.IsZero() && a.Before(b)
}

// inferred is what somebody makes of what he saw: no consequence of it.
var inferred = lazy.MustCompile(`(?i)[,;]? (?:so|hence|thus|therefore|which|and)? ?(?:this|that|it|which) (?:points?|suggests?|means?|indicates?|looks?|shows?|implies|fits?)\b.*$|[,;] (?:so|hence|thus|therefore) [^,;.]*\b(?:seems?|appears?|must have|should have|can|cannot|could|may|might|probably|likely|presumably|hardly)\b[^;.]*[.]?$`)

// inTurn tells what came first, and then what came afterwards.
var inTurn = lazy.MustCompile(`(?i)^(.+?)(?:,? and |[,;] )(.+?)\b(?:afterwards?|later|subsequently|thereafter|next)\b`)

// connective is a word between cause and consequence; behind a backward one stands the cause.
type connective struct {
	from, to int
	backward bool
}

func connectives(of *lazy.Regexp, body string, backward bool) (out []connective) {
	for _, m := range of.FindAllStringIndex(body, -1) {
		if !backward && toBe[lastWord(body[:m[0]])] {
			continue // was killed: by whom is said behind
		}
		if strings.EqualFold(body[m[0]:m[1]], "before") && above.MatchString(body[:m[0]]) {
			continue // where a line stands
		}
		out = append(out, connective{m[0], m[1], backward})
	}
	return out
}

// above stands before a "before" that says where a line stands.
var above = lazy.MustCompile(`(?i)\b(?:lines?|messages?|entry|entries)(?: (?:just|right|shortly|immediately|directly|printed|logged))? $`)

// halves is the middle of a text, between two words.
func halves(text string) []int {
	middle := len(text) / 2
	if i := strings.IndexByte(text[middle:], ' '); i >= 0 {
		return []int{middle + i, middle + i}
	}
	return []int{middle, len(text)}
}

// exclusive says whether a text has a word or a number of the one support that the other has not.
func exclusive(text, one, other string) bool {
	has, too := stemsOf(one), stemsOf(other)
	return slices.ContainsFunc(tellingWords(text), func(w string) bool { return has.has(w) && !too.has(w) })
}

// lean says whether a text is of the one support (above 0) or of the other (below).
func lean(text, one, other string) int {
	n := 0
	for _, w := range looked(text) {
		a, b := holds(one, w), holds(other, w)
		switch {
		case a && !b:
			n++
		case b && !a:
			n--
		}
	}
	has, too := stemsOf(one), stemsOf(other)
	for _, w := range tellingWords(text) {
		a, b := has.has(w), too.has(w)
		switch {
		case a && !b:
			n++
		case b && !a:
			n--
		}
	}
	for _, sign := range hanSigns(text) {
		a, b := sign.MatchString(one), sign.MatchString(other)
		switch {
		case a && !b:
			n++
		case b && !a:
			n--
		}
	}
	for _, m := range members.FindAllStringSubmatch(text, -1) {
		for _, rank := range numbers.FindAllString(m[1], -1) {
			a, b := ofRank(one, rank), ofRank(other, rank)
			switch {
			case a && !b:
				n += 2
			case b && !a:
				n -= 2
			}
		}
	}
	return n
}

// ofEffect says whether one of the items is cited for a consequence: of two lines of one cause none is turned round by the order
// in which a sentence names them.
func (g *grounds) ofEffect(cites []evidence.ID) bool {
	return slices.ContainsFunc(cites, func(id evidence.ID) bool { return slices.Contains(g.Effects, id) })
}

// ofRoot says whether one of the items is cited for the cause.
func (g *grounds) ofRoot(cites []evidence.ID) bool {
	return slices.ContainsFunc(cites, func(id evidence.ID) bool { return slices.Contains(g.Root, id) })
}
