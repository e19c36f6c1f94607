package ground

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// What belongs to what: every word and every number of a claim may stand in its evidence, and the number belong to
// another word there, or the verb to another object.

// empty are words that hold a sentence together: no number belongs to them.
var empty = words(`a an the this that these those it its of in on at to for from by with as and or but so then than when while where which who whose
us them out up too is are was were be been being has have had do does did will would can could may might not no there here only just per about over under between after before
nvidia com torch size rank ranks gpu gpus device devices`)

// notFinite are values that stand where numbers do.
var notFinite = words("nan inf infinite infinity")

// outOf is a part of a whole: what is said is said of the part.
var outOf = lazy.MustCompile(`(?i)(\d+(?:\.\d+)? ?(?:[kmgt]?i?b\b)?(?: [a-z]+)?)(?: of (?:the |its )?|/)\d+(?:\.\d+)?(?: ?[kmgt]i?b)?\b`)

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
		{lazy.MustCompile(`(?i)第\s*(\d+)(?:/\d+)?\s*(?:轮|(?:个\s*)?epoch)`), lazy.MustCompile(`(?i)epoch[\s:=#\["-]*(\d+)`)},
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
