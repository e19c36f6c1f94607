package ground

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// What belongs to what: every word and every number of a claim may stand in its evidence, and the number belong to
// another word there, or the verb to another object.

// tuples are lists of numbers in brackets; they are one value: [32000, 4096].
var tuples = regexp.MustCompile(`[\[(]+\s*\d+(?:\s*,\s*\d+)+\s*[\])]+`)

// piece is a number, a word or a name, or the end of a clause.
var piece = regexp.MustCompile(`\d+(?:[.,:×]\d+)*(?:e-?\d+)?%?|[A-Za-z_]\w*(?:[./-]\w+)*(?::\w+)?|[,;|!?()\n]|\.(?:\s|$)`)

// conjunctions end a clause as a comma does.
var conjunctions = words("and but while whereas although though because since so")

// empty are words that hold a sentence together: no number belongs to them.
var empty = words(`a an the this that these those it its of in on at to for from by with as and or but so then than when while where which who whose
us them out up is are was were be been being has have had do does did will would can could may might not no there here only just per about over under between after before
nvidia com torch size rank ranks gpu gpus device devices`)

// mostNear is how far a word of a claim may stand from the number that it says something of, in words.
const mostNear = 2

// clauses are the clauses of a text as stems of words and as numbers; amounts are in bytes and seconds.
func clauses(text string) (out [][]string) {
	text = indexed.ReplaceAllString(text, "$1 ") // GPU 3 is a name
	text = tuples.ReplaceAllStringFunc(text, func(t string) string {
		return " " + strings.Join(numbers.FindAllString(strings.ReplaceAll(t, ",", " "), -1), "×") + " "
	})
	var clause []string
	pieces := piece.FindAllString(text, -1)
	for i := 0; i < len(pieces); i++ {
		p := pieces[i]
		low := strings.ToLower(p)
		switch r := rune(p[0]); {
		case strings.HasSuffix(p, "%"), unicode.IsDigit(r) && strings.Contains(p, ":"): // of progress, and times
		case unicode.IsDigit(r):
			p = strings.ReplaceAll(p, ",", "")
			if i+1 < len(pieces) && units[strings.ToLower(pieces[i+1])] != 0 {
				i++
				p = strconv.FormatFloat(value(p)*units[strings.ToLower(pieces[i])], 'f', -1, 64)
			}
			clause = append(clause, p)
		case !unicode.IsLetter(r) && r != '_', conjunctions[low]:
			out, clause = append(out, clause), nil
		case strings.Contains(p, "/"): // a path, an image, a resource
		default:
			for _, w := range strings.FieldsFunc(low, func(r rune) bool { return strings.ContainsRune("./-_:", r) }) {
				switch {
				case unicode.IsDigit(rune(w[0])) && strings.HasSuffix(low, ":"+w):
					clause = append(clause, w)
				case !empty[w] && units[w] == 0 && !strings.ContainsFunc(w, unicode.IsDigit):
					clause = append(clause, stem(w))
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
var outOf = regexp.MustCompile(`(?i)(\d+(?:\.\d+)? ?(?:[kmgt]?i?b\b)?(?: [a-z]+)?) of (?:the |its )?\d+(?:\.\d+)?(?: ?[kmgt]i?b)?\b`)

// misbound says whether a claim gives to a word a number that belongs to others in its evidence: "limited to 8", where
// 8 are requested and the limit is 24.
func misbound(plain, support string) bool {
	has := map[string][]string{}
	for _, clause := range clauses(support) {
		for i, w := range clause {
			if !unicode.IsDigit(rune(w[0])) {
				has[w] = append(has[w], nearest(clause, i, len(clause))...)
			}
		}
	}
	for _, clause := range clauses(outOf.ReplaceAllString(members.ReplaceAllString(plain, " "), "$1")) {
		for i, w := range clause {
			if of := nearest(clause, i, mostNear); len(of) > 0 && len(has[w]) > 0 && !slices.ContainsFunc(of, func(n string) bool {
				return slices.ContainsFunc(has[w], func(m string) bool { return sameNumber(n, m) })
			}) {
				return true
			}
		}
	}
	return false
}

func sameNumber(a, b string) bool {
	if a == b || strings.Contains(a+b, "×") {
		return a == b
	}
	ratio := value(a) / value(b)
	return ratio > 0.99 && ratio < 1.01
}

// governed is a word with its preposition, and up to three words behind that.
var governed = regexp.MustCompile(`(?i)\b(?:([a-z]{3,}) (to|from|by|before|after|onto|into)|(out) (of)) ((?:(?:the|its|a|an|any) )?\W?[\w./-]+(?: [\w./-]+){0,2})`)

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
		for _, w := range strings.Fields(text[from+m[10] : from+m[11]]) {
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
