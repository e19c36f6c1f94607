package ground

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What belongs to what: every word and every number of a claim may stand in its evidence, and the number belong to
// another word there, or the verb to another object.

// tuples are lists of numbers in brackets; they are one value: [32000, 4096].
var tuples = lazy.MustCompile(`[\[(]+\s*\d+(?:\s*,\s*\d+)+\s*[\])]+`)

// piece is a number, a word or a name, or the end of a clause.
var piece = lazy.MustCompile(`\d+/[A-Za-z_][\w./-]*|\d+(?:[.,:×]\d+)*(?:e-?\d+)?%?|[A-Za-z_]\w*(?:[./-]\w+)*(?::\w+)?|[,;|!?()\n]|\.(?:\s|$)`)

// conjunctions end a clause as a comma does.
var conjunctions = words("and but while whereas although though because since so")

// empty are words that hold a sentence together: no number belongs to them.
var empty = words(`a an the this that these those it its of in on at to for from by with as and or but so then than when while where which who whose
us them out up too is are was were be been being has have had do does did will would can could may might not no there here only just per about over under between after before
nvidia com torch size rank ranks gpu gpus device devices`)

// mostNear is how far a word of a claim may stand from the number that it says something of, in words.
const mostNear = 2

// inFull are short names of what is measured.
var inFull = map[string]string{"lr": "rate", "mem": "memory", "grad": "gradient", "insufficient": "few", "used": "use", "uses": "use", "using": "use"}

// notFinite are values that stand where numbers do.
var notFinite = words("nan inf infinite infinity")

// clauses are the clauses of a text as stems of words and as numbers; amounts are in bytes and seconds.
func clauses(text string) (out [][]string) {
	text = strings.ReplaceAll(indexed.ReplaceAllString(text, " "), "(s)", "s") // GPU 3 is a name
	text = tuples.ReplaceAllStringFunc(text, func(t string) string {
		return " " + strings.Join(numbers.FindAllString(strings.ReplaceAll(t, ",", " "), -1), "×") + " "
	})
	text = ages.ReplaceAllStringFunc(text, func(age string) string {
		m := ages.FindStringSubmatch(age)
		return strconv.FormatFloat(3600*value(cmp.Or(m[1], "0"))+60*value(m[2])+value(cmp.Or(m[3], "0")), 'f', -1, 64) + " seconds"
	})
	var clause []string
	pieces := piece.FindAllString(text, -1)
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		low := strings.ToLower(p)
		switch r := rune(p[0]); {
		case strings.Contains(p, "/"), strings.Count(p, ".") > 2 && unicode.IsDigit(r): // a path, an image, a resource, an address
		case strings.HasSuffix(p, "%"), unicode.IsDigit(r) && strings.Contains(p, ":"): // of progress, and times
		case unicode.IsDigit(r):
			p = strings.ReplaceAll(p, ",", "")
			if i+1 < len(pieces) && units[strings.ToLower(pieces[i+1])] != 0 {
				i++
				p = "0~" + strconv.FormatFloat(value(p)*units[strings.ToLower(pieces[i])], 'f', -1, 64)
			}
			clause = append(clause, p)
		case !unicode.IsLetter(r) && r != '_', conjunctions[low]:
			out, clause = append(out, clause), nil
		default:
			for _, w := range strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune("./-_:", r) }) {
				switch {
				case unicode.IsDigit(rune(w[0])) && strings.HasSuffix(low, ":"+w):
					clause = append(clause, w)
				case !empty[w] && units[w] == 0 && !strings.ContainsFunc(w, unicode.IsDigit):
					clause = append(clause, stem(cmp.Or(inFull[w], w)))
				}
			}
		}
	}
	return append(out, clause)
}

// nearest are the numbers on both sides of a word in its clause, with at most so many words between.
func nearest(clause []string, at, most int) (out []string) {
	for _, step := range []int{-1, 1} {
		for i, words := at+step, 0; i >= 0 && i < len(clause) && words < most; i, words = i+step, words+1 {
			if unicode.IsDigit(rune(clause[i][0])) {
				out = append(out, clause[i])
				break
			}
		}
	}
	return out
}

// outOf is a part of a whole: what is said is said of the part.
var outOf = lazy.MustCompile(`(?i)(\d+(?:\.\d+)? ?(?:[kmgt]?i?b\b)?(?: [a-z]+)?)(?: of (?:the |its )?|/)\d+(?:\.\d+)?(?: ?[kmgt]i?b)?\b`)

// names are numbers that name something, and count nothing.
var names = lazy.MustCompile(`(?i)\b(?:pid|port|errno|id|xid|line|code|signal)[ =:]{1,2}(\d+)\b`)

// headed is a list behind what all of it is of: "dataset: 2000 shards, 412 GiB in all".
var headed = lazy.MustCompile(`(?m)\b([A-Za-z]\w+): ([^:\n]+,[^:\n]+)$`)

// misbound says whether a claim gives to a word a number that belongs to others in its evidence: "limited to 8", where
// 8 are requested and the limit is 24.
func misbound(plain, support string) bool {
	has := map[string][]string{}
	for _, clause := range clauses(outOf.ReplaceAllString(members.ReplaceAllString(support, " "), "$1")) {
		for i, w := range clause {
			if !unicode.IsDigit(rune(w[0])) {
				has[w] = append(has[w], nearest(clause, i, len(clause))...)
			}
		}
	}
	for _, m := range headed.FindAllStringSubmatch(support, -1) {
		for _, clause := range clauses(m[2]) {
			has[stem(m[1])] = append(has[stem(m[1])], slices.DeleteFunc(clause, func(w string) bool { return !unicode.IsDigit(rune(w[0])) })...)
		}
	}
	for _, m := range names.FindAllStringSubmatch(support, -1) {
		if counts, _ := regexp.MatchString(`(?i)(?:^|[^\w.=:#-] ?)`+m[1]+` (?:[a-z]+ ){0,2}[a-z]{2,}s\b`, plain); counts {
			if calls, _ := regexp.MatchString(`(?i)[a-z]+ `+m[1]+` `, plain); !calls {
				return true
			}
		}
	}
	low := strings.ToLower(support)
	plain = strings.ReplaceAll(plain, ": ", "; ")                      // what a claim goes on to say
	plain = titles.ReplaceAllStringFunc(plain, func(m string) string { // task 13 is a name where task:13 is one
		of := titles.FindStringSubmatch(m)
		w := strings.ToLower(of[1])
		if names.MatchString(m) && containsToken(low, w+" "+of[2]) {
			return " "
		}
		if slices.ContainsFunc([]string{":", "=", ": "}, func(is string) bool { return containsToken(low, w+is+of[2]) }) {
			return " "
		}
		return m
	})
	for _, clause := range clauses(outOf.ReplaceAllString(members.ReplaceAllString(plain, " "), "$1")) {
		for i, w := range clause {
			of := nearest(clause, i, mostNear)
			alike := func(n string) bool {
				return slices.ContainsFunc(has[w], func(m string) bool { return measured(n) == measured(m) || measured(n) && large(m) })
			}
			if slices.ContainsFunc(of, alike) && !slices.ContainsFunc(of, func(n string) bool {
				return slices.ContainsFunc(has[w], func(m string) bool { return sameNumber(n, m) })
			}) {
				return true
			}
		}
	}
	return false
}

// measured says whether a number is an amount of time or bytes: who counts says nothing of those.
func measured(n string) bool { return strings.HasPrefix(n, "0~") }

// large says whether a number without a unit may be one of bytes.
func large(n string) bool { return !measured(n) && digitsOnly(n) && value(n) >= 1<<20 }

func sameNumber(a, b string) bool {
	one, measured := strings.CutPrefix(a, "0~")
	other, too := strings.CutPrefix(b, "0~")
	switch {
	case a == b:
		return true
	case strings.Contains(a+b, "×"):
		return false
	case measured && (too || large(b)): // in other units, and rounded
		ratio := value(one) / value(other)
		return ratio > 0.99 && ratio < 1.01
	}
	return value(one) == value(other)
}

// governed is a word with its preposition, and up to three words behind that.
var governed = lazy.MustCompile(`(?i)\b(?:([a-z]{3,}) (to|from|by|before|after|onto|into)|(out) (of)) ((?:(?:the|its|a|an|any) )?\W?[\w./-]+(?::? [\w./-]+){0,2})`)

// infinitives are words whose "to" turns to no object.
var infinitives = words("fail failed fails failing failure unable able tried tries trying try attempted attempts attempt need needs needed want wants wanted refused declined began begins started starts about used has had have")

// governs are what the words of a text are turned to, from, by: stems of the words, by word and preposition.
func governs(text string) map[string][][]string {
	out := map[string][][]string{}
	for from := 0; ; {
		m := governed.FindStringSubmatchIndex(text[from:])
		if m == nil {
			return out
		}
		word, preposition := m[2:4], m[4:6]
		if m[2] < 0 {
			word, preposition = m[6:8], m[8:10]
		}
		if infinitives[strings.ToLower(text[from+word[0]:from+word[1]])] {
			from += preposition[1]
			continue
		}
		head := stem(text[from+word[0]:from+word[1]]) + " " + strings.ToLower(text[from+preposition[0]:from+preposition[1]])
		var object []string
		for w := range strings.FieldsSeq(text[from+m[10] : from+m[11]]) {
			if w = strings.Trim(strings.ToLower(w), "[](){}<>\"'`.,:;"); w != "" && !empty[w] {
				object = append(object, stem(w))
			}
		}
		out[head] = append(out[head], object)
		from += preposition[1]
	}
}

// misgoverned says whether a claim turns a word of its evidence to something else that stands there: "connects to
// ft-1", where ft-1 connects to ft-0.
func misgoverned(plain, support string) bool {
	has := governs(support)
	low := strings.ToLower(support)
	for head, objects := range governs(plain) {
		there := has[head]
		if len(there) == 0 {
			continue
		}
		for _, object := range objects {
			drawn := slices.ContainsFunc(object, func(w string) bool { return strings.Contains(low, w) })
			same := slices.ContainsFunc(there, func(o []string) bool {
				return len(o) == 0 || slices.ContainsFunc(o, func(w string) bool { return slices.Contains(object, w) })
			})
			if drawn && !same {
				return true
			}
		}
	}
	return false
}

func hasDigit(w string) bool { return strings.ContainsFunc(w, unicode.IsDigit) }

// parts are what is said in one breath: what holds of one part is said by one piece of evidence.
var parts = lazy.MustCompile(`(?i)[,;:，；。]\s|[，；。]|\b(?:and|but|while|whereas|when|which|who|that|although|though|as|until)\b|和|而|且|但`)

// together says whether each part of a claim stands in one of its pieces of evidence: a loss of one line and a step of
// another are of no line. What only words put together, and no number or name, is asked of members alone.
func (g *grounds) together(plain string, cites []evidence.ID) bool {
	if len(cites) < 2 {
		return true
	}
	var supports []string
	for _, id := range cites {
		supports = append(supports, g.support([]evidence.ID{id}))
	}
	whole, count := strings.Join(supports, ""), g.countedMembers(cites)
	plain = forward.ReplaceAllString(backward.ReplaceAllString(plain, " | "), " | ")
	for part := range strings.SplitSeq(parts.ReplaceAllString(plain, " | "), "|") {
		var values, want []string
		for _, w := range looked(part) {
			if holds(whole, w) && (w != strings.ToUpper(w) || hasDigit(w)) && !holds(count, w) {
				values = append(values, w)
			}
		}
		for _, w := range content(strings.ReplaceAll(part, "-", " ")) {
			if known(w, whole) && !plainWords[w] && !strings.Contains(part, strings.ToUpper(w)) {
				want = append(want, w)
			}
		}
		for _, m := range tried.FindAllStringSubmatch(part, -1) { // what failed, or could not be done, in one of them
			if w := strings.ToLower(m[1]); known(w, whole) {
				want = append(want, w)
			}
		}
		if len(values)+len(want) == 0 || !strings.ContainsFunc(part, unicode.IsDigit) {
			continue
		}
		if !slices.ContainsFunc(supports, func(support string) bool {
			return ofMembers(part, support) && (!unreadHan(part, support) || unreadHan(part, whole)) && !slices.ContainsFunc(values, func(w string) bool { return !holds(support, w) }) &&
				!slices.ContainsFunc(want, func(w string) bool { return !known(w, support) })
		}) {
			return false
		}
	}
	return true
}

// tried is what somebody could not do.
var tried = lazy.MustCompile(`(?i)\b(?:failed to|unable to|could not|cannot|did not) ([a-z]{4,})`)

// toBe are the words before a verb that is done to its subject.
var toBe = words("is are was were be been being get gets got gotten")

// determiners stand before what something is done to.
var determiners = words("the a an its his her their this that these those rank pod node worker job process")

// voices are the verbs of a text, by their stems, that are done to their subjects (passive) and by them (active).
func voices(text string) (passive, active map[string]bool) {
	passive, active = map[string]bool{}, map[string]bool{}
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;()[]\"", r) })
	for i, w := range words {
		if !strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "en") || len(w) < 5 {
			continue
		}
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch {
		case i > 0 && toBe[words[i-1]], next == "by":
			passive[stem(w)] = true
		case determiners[next]:
			active[stem(w)] = true
		}
	}
	return passive, active
}

// doneTo says whether a claim makes somebody do what was done to him: "killed by a signal", "killed the memory".
func doneTo(plain, support string) bool {
	to, by := voices(support)
	_, does := voices(plain)
	for verb := range does {
		if to[verb] && !by[verb] && !byIts(verb, plain, support) {
			return true
		}
	}
	return false
}

// byIts says whether who does something in a claim is who did it by the evidence: "preempted by pod 6b1f".
func byIts(verb, plain, support string) bool {
	said := strings.Fields(strings.ToLower(support))
	for i, w := range said {
		if stem(w) != verb || i+2 >= len(said) || said[i+1] != "by" {
			continue
		}
		claim := strings.Fields(strings.ToLower(plain))
		at := slices.IndexFunc(claim, func(c string) bool { return stem(c) == verb })
		for _, agent := range said[i+2 : min(i+5, len(said))] {
			if at > 0 && slices.Contains(claim[:at], agent) {
				return true
			}
		}
	}
	return false
}

// nth are members and steps in Chinese, and nthOf what else has a number there, with what it is called in evidence.
var (
	nth   = lazy.MustCompile(`第\s*(\d+(?:\.\d+)?)\s*步|(\d+(?:\.\d+)?)\s*号进程`)
	nthOf = []struct{ said, called *lazy.Regexp }{
		{lazy.MustCompile(`(?i)第\s*(\d+)\s*(?:轮|(?:个\s*)?epoch)`), lazy.MustCompile(`(?i)epoch[\s:=#\["-]*(\d+)`)},
		{lazy.MustCompile(`第\s*(\d+)\s*行`), lazy.MustCompile(`(?i)(?:lines?\s+|\.\w{1,4}:)(\d+)`)},
	}
)

// inOrder says whether the steps and processes that a claim in Chinese counts are those of its evidence.
func inOrder(plain, support string) bool {
	for _, m := range nth.FindAllStringSubmatch(plain, -1) {
		if m[1] != "" {
			if ok, _ := regexp.MatchString(`(?i)step[\s:=#]*`+regexp.QuoteMeta(m[1])+`\b`, support); !ok {
				return false
			}
		} else if !ofRank(support, m[2]) {
			return false
		}
	}
	for _, of := range nthOf {
		for _, m := range of.said.FindAllStringSubmatch(plain, -1) {
			if !slices.ContainsFunc(of.called.FindAllStringSubmatch(support, -1), func(c []string) bool { return value(c[1]) == value(m[1]) }) {
				return false
			}
		}
	}
	return true
}
