package ground

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// mayBlame says whether a claim names no other cause than the rules do: a line that says what caused the
// failure is a line that somebody wrote. Where the rules cite evidence of the cause, what is said to be the
// error, or to have caused something, rests on that.
func (g *grounds) mayBlame(s string, cites []evidence.ID, cause bool) bool {
	if len(g.Root) == 0 {
		return true
	}
	if slices.ContainsFunc(cites, func(id evidence.ID) bool { return slices.Contains(g.Root, id) }) {
		return true
	}
	// A template may show nothing of the cause: then the error may be said of what it shows.
	shown := slices.ContainsFunc(g.Root, func(id evidence.ID) bool { return g.has(string(id)) })
	return !(cause && shown) && !blames.MatchString(quotation.ReplaceAllString(s, " "))
}

// blames are words that say what brought something about.
var blames = regexp.MustCompile(`(?i)\b(?:caus(?:e[sd]?|ing)|because|due to|led to|leads to|leading to|result(?:s|ed)? (?:in|from)|trigger(?:s|ed)?|to blame|responsible|fault of|at fault|owing to|stems? from|reason (?:is|was|for))\b|导致|造成|引起|引发|因为|由于|原因|责任`)

// support is all that items say: their texts, who they are of, and what the rules say where they cite them.
func (g *grounds) support(cites []evidence.ID) string {
	var b strings.Builder
	said := false
	for _, id := range cites {
		item := g.items[id]
		b.WriteString(item.Text + "\n" + string(id) + "\n")
		for _, w := range []string{item.Source.Pod, item.Source.Container, item.Source.Role, item.Source.Node, item.Source.File} {
			b.WriteString(w + "\n")
		}
		if item.Source.Rank >= 0 && item.Source.Pod != "" {
			fmt.Fprintf(&b, "rank %d\n", item.Source.Rank)
		}
		b.WriteString(timesOf(item))
		if !item.At.IsZero() {
			b.WriteString(item.At.UTC().Format("2006-01-02 15:04:05 15:04\n"))
		}
		if !said && slices.Contains(g.Root, id) {
			b.WriteString(g.Says + "\n")
			said = true
		}
	}
	return b.String()
}

// texts are what items say, without what the platform says of whom they are.
func (g *grounds) texts(cites []evidence.ID) string {
	var b strings.Builder
	for _, id := range cites {
		b.WriteString(g.items[id].Text + "\n" + timesOf(g.items[id]))
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

var seenTimes = regexp.MustCompile(`\bx(\d+)\b`)

// entails says why items do not support what is said of them; empty: they do.
func (g *grounds) entails(body string, cites []evidence.ID) Reason {
	support, body := g.support(cites), inDigits(body)
	flat := strings.ToLower(squeeze(support))
	if g.copied(body, cites) {
		return Copied
	}
	plain, unquoted := body, quotation.ReplaceAllString(body, " ")
	for _, m := range quotation.FindAllStringSubmatch(body, -1) {
		q := squeeze(strings.Join(m[1:], ""))
		if !strings.Contains(flat, strings.ToLower(strings.TrimRight(q, ".,;"))) {
			return Quotation
		}
		if len(strings.Fields(q)) > mostQuoted && !slices.ContainsFunc(cites, func(id evidence.ID) bool {
			return (slices.Contains(g.Root, id) || slices.Contains(g.Effects, id)) && strings.Contains(strings.ToLower(squeeze(g.items[id].Text)), strings.ToLower(strings.TrimRight(q, ".,;")))
		}) {
			return Copied
		}
		if cutShort(strings.TrimRight(q, ".,;"), quotation.ReplaceAllString(body, " "), support) {
			return Contradicts
		}
		plain = strings.Replace(plain, m[0], " ", 1)
	}
	if !ofMembers(plain, support) || !inOrder(plain, support) || g.elsewhere(plain, cites) || g.notShown(plain, support) {
		return Member
	}
	for _, m := range amount.FindAllStringSubmatch(plain+" ", -1) {
		if strings.Contains(strings.TrimSpace(m[0]), " ") && units[strings.ToLower(m[2])] != 0 {
			if !sameAmount(support, m[1], m[2]) {
				return Number
			}
			plain = strings.Replace(plain+" ", m[0], " ", 1)
		}
	}
	for _, m := range called.FindAllStringSubmatch(plain, -1) {
		if w := strings.ToLower(m[1]); !stops[w] && !general[w] && !containsToken(support, w) && !strings.Contains(strings.ToLower(support), stem(w)) {
			return Name
		}
	}
	for _, w := range looked(plain) {
		if holds(support, w) || w == g.Job || w == g.Namespace {
			continue
		}
		if unicode.IsDigit(rune(w[0])) {
			return Number
		}
		return Name
	}
	if why := g.beyond(plain, support); why != "" {
		return why
	}
	open := asksOnly(plain, support)
	if !open {
		if why := g.turned(plain, support, g.texts(cites)); why != "" {
			return why
		}
	}
	if !open && strays(plain, support) {
		return Topic
	}
	if !open && unknown(lossOf.ReplaceAllString(plain, "$1"), support) {
		return Word
	}
	miscounted, turned := turnedHan(plain, g.texts(cites))
	if turned {
		return Contradicts
	}
	if !counted(plain, support) || mislabelled(plain, support) || mismeasured(body, support) || misbound(unquoted, g.texts(cites)) || miscountsMembers(unquoted, support) || mistitled(unquoted, support) || !wholes(unquoted, support) || miscounted {
		return Number
	}
	if !g.together(plain, cites) {
		return Apart
	}
	if why := g.several(plain, support, cites); why != "" {
		return why
	}
	if onlyOne(plain, g.texts(cites)) {
		return Word
	}
	if misset(plain, support) || otherLack(plain, g.texts(cites)) || notThat(plain, g.texts(cites)) || exchanged(plain, g.texts(cites)) || misgoverned(plain, support) || doneTo(plain, support) || g.ownDoing(plain, cites) {
		return Reversed
	}
	if n, of := overlap(plain, support); of > 0 && (n == 0 || n*3 < of) {
		return Topic
	} else if of == 0 && len(looked(plain)) == 0 && plain == body && len(about(plain)) == 0 {
		return NoCitation // nothing in it can be held against anything
	}
	return g.direction(plain, cites)
}

// mostCopied is how many words in a row a claim may have of a line that the rules do not rest on: an explanation has
// words of its own, and quotes in quotation marks.
const mostCopied = 6

// mostQuoted is how many words a quotation may have of such a line: more is somebody else's speech.
const mostQuoted = 10

// copied says whether a claim repeats, as if it said so itself, a line of a log or an event that no rule rests on.
func (g *grounds) copied(body string, cites []evidence.ID) bool {
	said := strings.Fields(quotation.ReplaceAllString(body, " | "))
	for _, id := range cites {
		if slices.Contains(g.Root, id) || slices.Contains(g.Effects, id) {
			continue
		}
		line := " " + squeeze(g.items[id].Text) + " "
		for i := 0; i+mostCopied <= len(said); i++ {
			if strings.Contains(line, " "+strings.Join(said[i:i+mostCopied], " ")+" ") {
				return true
			}
		}
	}
	return false
}

// noneOf says that there is none of something.
var noneOf = regexp.MustCompile(`(?i)\b(?:no|zero|without) ([a-z]{4,})\b`)

// asCounted writes "no restarts" as "0 restarts" where evidence counts them as 0.
func asCounted(body, support string) string {
	return noneOf.ReplaceAllStringFunc(body, func(m string) string {
		of := noneOf.FindStringSubmatch(m)[1]
		if ok, _ := regexp.MatchString(`(?i)\b`+of+`[ :=]{1,2}0\b|\b0 `+of+`\b`, support); ok {
			return "0 " + of
		}
		return m
	})
}

// turned says whether a claim says the opposite of its evidence.
func (g *grounds) turned(body, support, texts string) Reason {
	body = asCounted(body, support)
	rest := failing.ReplaceAllString(exhausted.ReplaceAllString(body, "exhausted"), " ")
	whole := support
	support = failing.ReplaceAllString(support, " ") // what failed did not succeed
	if !negation.MatchString(body) {
		has := stemsOf(support)
		for _, m := range positives.FindAllString(rest, -1) {
			if !has.has(m[strings.LastIndexByte(m, ' ')+1:]) {
				return Contradicts
			}
		}
	}
	if negation.MatchString(rest) && !negation.MatchString(support) && !(han(rest) && denies(whole)) || deniedThere(body, whole) || deniedThere(body, texts) || failing.MatchString(body) && !denies(whole) {
		return Contradicts
	}
	if able(body, texts) || unlike(body, whole, texts) || opposite(rest, whole) {
		return Contradicts
	}
	if m := succeeded.FindString(rest); m != "" && !strings.Contains(strings.ToLower(support), strings.ToLower(m)) {
		return Contradicts
	}
	return ""
}

// because tells cause from consequence by the words between them; the second group of what comes after
// is the cause.
var (
	forward  = regexp.MustCompile(`(?i)\b(?:left (?:no|the|little)|used up|ate up|drained|cost|drove|pushed|caused|causes|causing|led to|leads to|leading to|resulted in|results in|triggered|made|brought down|broke|killed|is why|was why|so that|so|therefore|hence|thus|thereby|then|before|prior to|ahead of|earlier than|preceded|precedes|took down|followed by|brought about|gave rise to|provoked|prompted|induced|forced|culminated in|ended in)\b|导致|造成|引起|引发|因此|所以|之前|先于|随后`)
	backward = regexp.MustCompile(`(?i)\b(?:when|as soon as|because(?: of)?|due to|caused by|after|following|follow(?:s|ed)(?: from| on)?|in the wake of|in response to|in reaction to|subsequent to|later than|on account of|thanks to|as a consequence of|upon|once|as a result of|resulted from|results from|triggered by|is a consequence of|was a consequence of|stems? from|owing to|since|killed by|broken by)\b|因为|由于|之后|是由|源于`)
)

// brings are verbs by which something brings something about.
var brings = regexp.MustCompile(`(?i)\b(?:made|makes|caused|causes|led to|leads to|triggered|triggers|brought (?:about|down)|forced|drove|provoked|induced|gave rise to|resulted in)\b|导致|造成|引起|引发`)

// asCause is the "as" that opens a sentence with what brought the rest about.
var asCause = regexp.MustCompile(`^\W*As `)

// direction says whether a claim makes a consequence the cause of what it followed.
func (g *grounds) direction(body string, cites []evidence.ID) Reason {
	// The sides are told by the words that only the root, or only a consequence, has.
	var root, rest string
	for _, id := range cites {
		if slices.Contains(g.Root, id) {
			root += g.support([]evidence.ID{id})
		} else {
			rest += g.support([]evidence.ID{id})
		}
	}
	if brings.MatchString(body) && (root == "" || rest == "") && !blames.MatchString(root+rest) && !brings.MatchString(root+rest) {
		return Reversed // of one piece of evidence, which says nothing of a cause
	}
	if root == "" || rest == "" {
		return ""
	}
	reversed := func(cause, effect string, told bool) bool {
		blamed, followed := lean(cause, root, rest), lean(effect, root, rest)
		return blamed < 0 && (followed > 0 || told && exclusive(effect, root, rest)) || told && (blamed < 0 && followed == 0 || blamed == 0 && followed > 0)
	}
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
		if w.backward {
			cause, effect = effect, cause
			if w.from == 0 { // Because of X, Y
				if i := strings.IndexAny(body, ",，"); i > w.to {
					cause, effect = body[w.to:i], body[i:]
				} else if i := strings.Index(body[w.to:], " there "); i > 0 {
					cause, effect = body[w.to:w.to+i], body[w.to+i:]
				}
			}
		}
		if reversed(cause, effect, len(words) == 1) {
			return Reversed
		}
	}
	if m := inTurn.FindStringSubmatch(body); m != nil && reversed(m[1], m[2], true) {
		return Reversed
	}
	if len(words) == 0 && !joint.MatchString(body) { // what is told in one breath has the cause first
		at := halves(body)
		if reversed(body[:at[0]], body[at[1]:], false) {
			return Reversed
		}
	}
	return ""
}

// inTurn tells what came first, and then what came afterwards.
var inTurn = regexp.MustCompile(`(?i)^(.+?)(?:,? and |[,;] )(.+?)\b(?:afterwards?|later|subsequently|thereafter|next)\b`)

// connective is a word between cause and consequence; behind a backward one stands the cause.
type connective struct {
	from, to int
	backward bool
}

func connectives(of *regexp.Regexp, body string, backward bool) (out []connective) {
	for _, m := range of.FindAllStringIndex(body, -1) {
		if !backward && toBe[lastWord(body[:m[0]])] {
			continue // was killed: by whom is said behind
		}
		out = append(out, connective{m[0], m[1], backward})
	}
	return out
}

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
	return slices.ContainsFunc(looked(text), func(w string) bool { return holds(one, w) && !holds(other, w) }) ||
		slices.ContainsFunc(tellingWords(text), func(w string) bool { return has.has(w) && !too.has(w) })
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
