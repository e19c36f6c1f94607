package ground

import (
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A line that says "checkpoint was not saved" holds every word of "the checkpoint was saved". So what evidence denies
// is taken out of it before it may support what says no "not" of its own, and a quotation may not begin behind one.

var (
	// denier is a word that turns round what stands behind it in its clause.
	denier = lazy.MustCompile(`(?i)\b(?:not|no|never|none|nor|neither|without|cannot|nobody|nothing|lacks?|missing|(?:failed|fails?|failing|failure|unable|refused|refuses|declined|trying|tried|tries|try|attempt(?:s|ed|ing)?|asked|wanted|wants?) to|please|consider|should|must|might|may|could|possible|possibly|[a-z]+n['’]t|(?:stop(?:s|ped)?|ceas(?:es|ed)) (?:to )?(?:be|being)|(?:errors?(?:\(s\))?|failed|fails|failure) (?:(?:while|when|in|during|on) )?[a-z]+ing|(?:before|prior to|instead of) [a-z]+ing)\b|\b0\s?(?:/|of|out of)\s?\d+\b`)
	// clauseEnd ends a clause, and with it what a denier turns round.
	clauseEnd = lazy.MustCompile(`[.;:,!?](?:\s|$)|[，；。：]|\n|\b(?:but|so|then|because|while|before)\b`)
	// short are words of a claim that deny as well, or that say that something was only tried.
	short = lazy.MustCompile(`(?i)\b(?:missing|lack\w*|absent|fail\w*|errors?|\w+error|\w*exception|out of|run(?:s|ning)? out|ran out|exhaust\w*|full|insufficient|shortage|short|denied|forbidden|refus\w*|reject\w*|unable|un[a-z]{5,}|in(?:valid|complete|accessible|compatible)|time[ds]?[ -]?out|timeout|\w*not ?found\w*|oom\w*|kill\w*|crash\w*|abort\w*|gone|lost|broken?|corrupt\w*|mismatch\w*|pending|wait\w*|need\w*|want\w*|require\w*|(?:re-?)?tr(?:ied|ies|ying)|attempt\w*|ask\w*|request\w*|stop\w*|closed|stuck|hung|few|too|partly|partially|half|in use)\b|占用|未|没|不|无|失败|错误|缺|满|耗尽|超|丢失|损坏|中断|退出|异常|崩溃|需要|尝试|等待`)
	// alone says that nobody else is meant, which hardly any line does.
	alone = lazy.MustCompile(`(?i)\bthe (?:only|sole)\b|\b(?:solely|alone|exclusively)\b|\bno (?:\w+ )?(?:but|except|other than|besides)\b|唯一`)
	// aloneNot says of one thing that it does not do by itself: that says nothing of others.
	aloneNot = lazy.MustCompile(`(?i)\balone (?:cannot|(?:does|do|did|is|was|can|could|would)(?: not|n['’]t))\b`)
	// onlyName is a member by its name or its rank, of which is said that nobody else is meant.
	onlyName = lazy.MustCompile(`(?i)\bonly (?:the )?(?:(rank|pod|node|worker|member)s? )?(\w(?:[\w.-]*\w)?)`)
	// joined is a name of several words behind the word for what it is the name of.
	joined = lazy.MustCompile(`(?i)\b(?:jobs?|runs?|pods?|nodes?|hosts?|namespaces?|workloads?|tenants?|users?|teams?|services?|experiments?|projects?|clusters?)\s+["'` + "`" + `]?([a-z0-9]+(?:[-_][a-z0-9]+)+)\b`)
)

// mostDenied is how many words behind a denier it turns round.
const mostDenied = 7

// valueNo is a setting that is off, and isNo a claim that it is.
var (
	valueNo = lazy.MustCompile(`(?i)\b([a-z_][\w-]*(?: [a-z][\w-]*)?) ?(?:[:=] ?["']?(?:false|off|disabled)\b|=(?:no|none)\b)|\b(restart)s:? 0\b`)
	isNo    = lazy.MustCompile(`(?i)\b(?:false|off|disabled)\b`)
)

// failedNoun is what failed: a write, a handshake.
var failedNoun = lazy.MustCompile(`(?i)\b([a-z]{4,}) (failed|fails|timed out)\b`)

// failedCall is a call before the error with which it failed: "connect: Connection refused".
var failedCall = lazy.MustCompile(`\b([a-z]{3,}): (?:[a-z]+: )?((?:[A-Za-z]+ ){0,3}?)(refused|denied|reset|timed out|unreachable|in use|not found|aborted|closed)\b`)

// affirmed is a text without what it denies; denied is what it denies.
func affirmed(text string) (rest, denied string) {
	both := affirmations.Of(text)
	return both[0], both[1]
}

// notDenied is what a claim says to be so.
func notDenied(text string) string { rest, _ := affirmed(text); return rest }

var affirmations = lazy.Remember(func(text string) [2]string {
	rest, denied := readAffirmed(text)
	return [2]string{rest, denied}
})

func readAffirmed(text string) (rest, denied string) {
	var left, gone strings.Builder
	text = readyColumn.ReplaceAllString(text, " ")
	text = valueNo.ReplaceAllStringFunc(text, func(m string) string {
		of := valueNo.FindStringSubmatch(m)
		gone.WriteString(of[1] + of[2] + "\n")
		return " ; "
	})
	text = failedNoun.ReplaceAllStringFunc(text, func(m string) string {
		of := failedNoun.FindStringSubmatch(m)
		if strings.HasSuffix(of[1], "ing") {
			return m
		}
		gone.WriteString(of[1] + "\n")
		return of[2]
	})
	text = failedCall.ReplaceAllStringFunc(text, func(m string) string {
		of := failedCall.FindStringSubmatch(m)
		gone.WriteString(of[1] + " " + of[2] + "\n")
		return ": " + of[3]
	})
	for {
		m := denier.FindStringIndex(text)
		if m == nil {
			left.WriteString(text)
			return left.String(), gone.String()
		}
		if i := strings.LastIndexByte(text[m[0]:m[1]], ' '); wentWrong.MatchString(text[m[0]:m[1]]) && i > 0 {
			m[1] = m[0] + i // what went wrong is denied itself: "Error creating: ..."
		}
		most := mostDenied
		if onlyTried.MatchString(text[m[0]:m[1]]) {
			most = 1 // the verb: what it was tried with is there
			if beDone.MatchString(text[m[1]:]) {
				most = 2
			}
		}
		end := len(text)
		if next := clauseEnd.FindStringIndex(text[m[1]:]); next != nil {
			end = m[1] + next[0]
		}
		for i, words := m[1], 0; i < end; i++ {
			if text[i] != ' ' && (i == m[1] || text[i-1] == ' ') {
				if words++; words > most {
					end = i
				}
			}
		}
		left.WriteString(text[:m[0]] + " ; ")
		gone.WriteString(text[m[1]:end] + "\n")
		text = text[end:]
	}
}

// readyColumn is how many containers of a pod are ready, in a column of kubectl: what stands behind it is the next column.
var readyColumn = lazy.MustCompile(`\b0/\d+ {2,}`)

// onlyTried says that somebody tried to do something.
var onlyTried = lazy.MustCompile(`(?i)^(?:(?:trying|tried|tries|try|attempt(?:s|ed|ing)?) to|cannot)$`)

// beDone is a "be" before the verb of what cannot be done.
var beDone = lazy.MustCompile(`(?i)^ be [a-z]`)

// wentWrong is an error in doing something.
var wentWrong = lazy.MustCompile(`(?i)^(?:error|fail|before|prior|instead).*ing$`)

// denies says whether a text turns something round, or says that something is lacking.
func denies(text string) bool {
	return isNo.MatchString(text) || denier.MatchString(text) || short.MatchString(text)
}

// deniedThere says whether a claim says to be so what its evidence says not to be so, or, not firmly, speaks of it as if it
// were: where an archive has its directory, where none was found.
func deniedThere(plain, support string, firmly bool) bool {
	rest, denied := affirmed(support)
	if denied == "" && !negatedWord.MatchString(support) {
		return false
	}
	so, not, first := stemsOf(rest), stemsOf(denied), heads(denied)
	for w := range first {
		if so[w] {
			delete(first, w)
		}
	}
	plain = beforeSo.ReplaceAllString(valueNo.ReplaceAllString(plain, " "), " ") // off there as well, or another setting
	turned := slices.DeleteFunc(turnedWords(support), func(w string) bool { return so.has(w) || not.has(w) })
	for from := 0; from < len(plain); {
		end := len(plain)
		next := end
		if m := clauseEnd.FindStringIndex(plain[from:]); m != nil {
			end, next = from+m[0], from+m[1]
		}
		if m := andCounts.FindStringIndex(plain[from:end]); m != nil {
			end, next = from+m[0], from+m[0]+len("and ")
		}
		clause := plain[from:end]
		if unsaid(clause, turned) || !denies(clause) && !underway.MatchString(clause) && !hedged.MatchString(clause) && ((!firmly || strings.Contains(clause, "已")) && unreadHanIn(clause, rest) && !unreadHan(clause, support) || affirms(clause, so, not, first, firmly)) {
			return true
		}
		from = next
	}
	return false
}

// beforeSo is what was not so yet.
var beforeSo = lazy.MustCompile(`(?i)\bbefore (?:it|they|he) (?:had|has|have|could) [^,;.]*`)

// andCounts is where a claim goes on to count others.
var andCounts = lazy.MustCompile(`\band (?:\d|(?:is|are|was|were|has|have|had) )`)

// heads are the stems of what is denied itself: the words right behind each "not".
func heads(denied string) stems {
	out := stems{}
	for line := range strings.Lines(denied) {
		if words := tellingWords(line); len(words) > 0 {
			out[stem(words[0])] = true
		}
	}
	return out
}

// underway says when something was, and not that it was so: "while loading the weights".
var underway = lazy.MustCompile(`(?i)^\s*[a-z]+ing\b`)

// hedged says that something may be so, or that somebody says it.
var hedged = lazy.MustCompile(`(?i)\b(?:suspect(?:s|ed)?|may|might|possibl[ey]|perhaps|likely|probably|suggests?|suggested|recommends?|recommended|advises?|advised|asks?|hints?|named)\b|可能|建议|提示`)

// negatedWord is a word that says by its beginning that something is not so. What begins with "un" and is no adjective only undoes: unscale.
var negatedWord = lazy.MustCompile(`(?i)\b(?:(?:in|im|dis|mis|non-?)([a-z]{5,})|un([a-z]{3,}(?:ed|able|ible|al|ar|wn|en|ent|ant|ful|y)))\b`)

// affirms says whether a clause uses the words of what is denied as if it were so: firmly by one that says that something is
// well, or is denied itself, or by two of them.
func affirms(clause string, so, not, first stems, firmly bool) bool {
	var is []string // what somebody is said to be: authenticated
	for _, m := range beingSo.FindAllStringSubmatch(clause, -1) {
		is = append(is, strings.ToLower(m[1]))
	}
	n := 0
	for _, w := range tellingWords(clause) {
		if not.has(w) && !so.has(w) {
			if n++; n == 2 && !firmly || slices.Contains(is, w) || positives.MatchString(w) || predicates.MatchString(w) {
				return true
			}
		}
		if first.has(w) && !strings.HasSuffix(w, "er") { // a writer is there where a write failed
			return true
		}
	}
	return false
}

var beingSo = lazy.MustCompile(`(?i)\b(?:is|was|are|were|been|being)(?: [a-z]+ly)? ([a-z]+ed)\b`)

// turnedWords are the words of a text that a beginning turns round, without it: "expected" of "unexpected".
func turnedWords(text string) (out []string) {
	for _, m := range negatedWord.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1]+m[2])
	}
	return out
}

// unsaid says whether a clause has a word without the beginning that turns it round in its evidence.
func unsaid(clause string, turned []string) bool {
	if len(turned) == 0 || negation.MatchString(clause) || plainNot.MatchString(clause) {
		return false
	}
	said := stemsOf(expectedIt.ReplaceAllString(clause, " "))
	return slices.ContainsFunc(turned, said.has)
}

// expectedIt is what somebody expected or needed: that it came so is not said.
var expectedIt = lazy.MustCompile(`(?i)\b(?:it|that|which|program|code|model|layer|loader|reader|writer|checker|where) (?:expect(?:s|ed)|wants?|wanted|support(?:s|ed)) (?:a |an |the )?[\d\w]`)

// predicates are verbs that say that something was done, beside positives.
var predicates = lazy.MustCompile(`(?i)^(?:found|finds|saved|stored|written|wrote|loaded|opened|connected|reached|reachable|left|allocated|mounted|pulled|created|started|read|sent|received|resolved|matched|supported|scheduled|placed|imported|installed|sufficient|enough)$`)

// unreadHanIn says whether a clause in Chinese says to be so what only the denied part of its evidence holds.
func unreadHanIn(clause, rest string) bool {
	return han(clause) && unreadHan(clause, rest)
}

// cutShort says whether a quotation leaves out the "not" before it, in every line that holds it, and what is said around
// it has none either. A name alone is no statement.
func cutShort(q, plain, support string) bool {
	if denies(q) || denies(plain) {
		return false
	}
	rest, _ := affirmed(support)
	return !strings.Contains(strings.ToLower(squeeze(rest)), strings.ToLower(q))
}

// beyond says why a claim says more than its evidence where each of its words stands there: it counts in figures that
// are not of ASCII, says that nobody else is meant, or speaks of another job.
func (g *grounds) beyond(plain, support string) Reason {
	for _, r := range plain {
		if r >= 0x80 && unicode.IsNumber(r) && !unicode.Is(unicode.Han, r) && !strings.ContainsRune(support, r) {
			return Number
		}
	}
	if m := onlyName.FindStringSubmatch(plain); m != nil && (m[1] != "" || slices.Contains(g.Names, m[2])) {
		if g.othersSay(plain, m[2]) {
			return Member
		}
		return Word
	}
	if plain := aloneNot.ReplaceAllString(plain, " "); alone.MatchString(plain) && !alone.MatchString(support) {
		if ofMember.MatchString(plain) {
			return Member
		}
		return Word
	}
	low := strings.ToLower(support)
	for _, m := range joined.FindAllStringSubmatch(plain, -1) {
		if name := strings.ToLower(m[1]); name != g.Job && name != g.Namespace && !slices.Contains(g.Names, name) && !containsToken(low, name) {
			return Name
		}
	}
	return ""
}

// othersSay says whether what a claim says of one member alone was read of another, in most of its words.
func (g *grounds) othersSay(plain, name string) bool {
	words := tellingWords(strings.ReplaceAll(plain, name, " "))
	return slices.ContainsFunc(g.Items, func(i evidence.Item) bool {
		return i.Source.Pod != "" && i.Source.Pod != name && !ofRank(g.support([]evidence.ID{i.ID}), name) && inCommon(plain, i.Text)*2 >= len(words)
	})
}

// ability is what somebody could do, or did after all; doubled is a "none" and a "not" of the same.
var (
	ability = lazy.MustCompile(`(?i)\b(?:can|could|able to|did|does)(?: (?:have|be|been|then|still|also|even|manage to))* ([a-z]{3,})`)
	doubled = lazy.MustCompile(`(?i)\b(?:0 (?:of|out of) \d+|none of|no|nobody|nothing|neither) [^,;:.]*\bnot\b`)
	notSo   = lazy.MustCompile(`(?i)(?:\bnot|n['’]t|\bnever)(?: (?:yet|really|actually|completely|been|be|have|get|got|a|an|the|in|on|at))* ([a-z]{3,})`)
)

// able says whether a claim has somebody able to do what its evidence does not say was done.
func able(body, texts string) bool {
	if !ability.MatchString(body) {
		return false
	}
	rest, denied := affirmed(texts)
	done, undone := stemsOf(rest), stemsOf(denied)
	for _, m := range ability.FindAllStringSubmatch(body, -1) {
		if w := strings.ToLower(m[1]); w != "not" && w != "never" && w != "only" && (!done.has(w) || undone.has(w)) {
			return true
		}
	}
	return false
}

// unlike says whether a claim says "not" of what its evidence says to be so, or that a lack is none.
func unlike(body, support, texts string) (why Reason) {
	if doubled.MatchString(body) {
		return Otherwise
	}
	if !notSo.MatchString(body) {
		return ""
	}
	rest, denied := affirmed(support)
	so, first := stemsOf(rest), heads(denied)
	said, unsaid := affirmed(texts)
	saidSo, saidNot := stemsOf(said), stemsOf(unsaid)
	turned := stemsOf(strings.Join(turnedWords(texts), " "))
	for _, at := range notSo.FindAllStringSubmatchIndex(body, -1) {
		w, phrase := strings.ToLower(body[at[2]:at[3]]), body[strings.LastIndexByte(body[:at[0]], ' ')+1:at[1]]
		// The lines say that it was so of somebody; that it was not so of others is the rules' word of no one.
		if turned.has(w) || failing.MatchString(phrase) && onlyGoing(w, texts) {
			continue // not known is unknown, and pulling is not pulled
		}
		if saidSo.has(w) && !saidNot.has(w) || !first.has(w) && so.has(w) && !failing.MatchString(phrase) {
			if sharesSubject(body, at, said+rest, w) {
				return Otherwise
			}
			why = Word // of something else, perhaps
		}
	}
	return why
}

// sharesSubject says whether a clause that denies a word has another one of a line that has it.
func sharesSubject(body string, at []int, support, w string) bool {
	from, to := 0, len(body)
	for _, m := range clauseMark.FindAllStringIndex(body, -1) {
		if m[1] <= at[0] {
			from = m[1]
		} else if m[0] >= at[1] {
			to = m[0]
			break
		}
	}
	said := slices.DeleteFunc(tellingWords(body[from:to]), func(s string) bool { return stem(s) == stem(w) || neutral[s] })
	if len(said) == 0 {
		return from == 0
	}
	if slices.ContainsFunc(looked(body[from:to]), func(n string) bool { return hasDigit(n) && !digitsOnly(n) && holds(support, n) }) {
		return true // it is told by its name
	}
	for line := range strings.Lines(support) {
		if has := stemsOf(line); has.has(w) && slices.ContainsFunc(said, has.has) {
			return true
		}
	}
	return false
}

// onlyGoing says whether a text has a word only as what was under way.
func onlyGoing(w, text string) bool {
	of, going := stem(w), false
	for _, word := range tellingWords(humps.ReplaceAllString(text, "$1 $2")) {
		if stem(word) == of && word != of {
			if !strings.HasSuffix(word, "ing") {
				return false
			}
			going = true
		}
	}
	return going
}

// ofMember is a word for a member of a job.
var ofMember = lazy.MustCompile(`(?i)\b(?:ranks?|pods?|nodes?|workers?|masters?|members?|ones?)\b`)

// opposites are words of which a claim has one, and its evidence the other.
var opposites = func() map[string][]string {
	m := map[string][]string{}
	for pair := range strings.FieldsSeq("send/receive sent/received upload/download start/stop started/stopped open/close opened/closed connect/disconnect connected/disconnected raise/lower raised/lowered increase/decrease increased/decreased gain/lose won/lost first/last minimum/maximum min/max above/below more/less fast/slow faster/slower early/late earlier/later up/down enable/disable enabled/disabled add/remove added/removed push/pull read/write client/server input/output allow/deny allowed/denied accept/reject accepted/rejected true/false old/new older/newer newest/oldest") {
		one, other, _ := strings.Cut(pair, "/")
		m[one], m[other] = append(m[one], other), append(m[other], one)
	}
	return m
}()

// thanSo compares amounts, to which "and 3 more" is no contrary, or has a word of which nothing is said: read-only.
var thanSo = lazy.MustCompile(`(?i)\b(?:less|more) than\b|\bread-only\b`)

// opposite says whether a claim has the opposite of a word of its evidence, and the evidence has only that.
func opposite(plain, support string) bool {
	low, has := " "+spoken(thanSo.ReplaceAllString(support, " "))+" ", stemsOf(support)
	plain = thanSo.ReplaceAllString(plain, " ")
	for _, w := range wordShape.FindAllString(strings.ToLower(plain), -1) {
		if len(opposites[w]) > 0 && !has.has(w) && !strings.Contains(low, w) && slices.ContainsFunc(opposites[w], func(o string) bool { return strings.Contains(low, " "+o+" ") && !containsToken(plain, o) }) {
			return true
		}
	}
	return false
}
