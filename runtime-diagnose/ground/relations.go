package ground

import (
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// Who did what to whom, what has which value, what is one of two: the words of a claim may all stand in its evidence, and
// be of each other there in another way.

// either are two that evidence leaves open.
var either = lazy.MustCompile(`(?i)([^,.;:()\n]+?)\bor\b([^,.;:()\n]+)`)

// onlyOne says whether a claim says one thing of two of which its evidence says that it is the one or the other.
func onlyOne(plain, support string) bool {
	said := stemsOf(plain)
	for _, m := range either.FindAllStringSubmatch(support, -1) {
		others := stemsOf(strings.Replace(support, m[0], " ", 1))
		if denier.MatchString(m[1]) {
			continue // no A or B: neither
		}
		of := func(part string) (has, lacks bool) {
			for _, w := range tellingWords(part) {
				if !others.has(w) {
					has, lacks = has || said.has(w) && !stops[w] && !plainWords[w], lacks || !said.has(w)
				}
			}
			return has, lacks
		}
		one, lacks := of(m[1])
		other, lacksToo := of(m[2])
		if one && !other && lacksToo || other && !one && lacks {
			return true
		}
	}
	return false
}

// lacking is what there is none of, up to a preposition.
var lacking = lazy.MustCompile(`(?i)\b(?:no|without|lacks?|lacking|missing) ((?:[a-z-]+ )*?[a-z-]+)(?: (?:of|for|to|in|on|at|from|with|by|as|that|which|is|was|are|were|and|or|left)\b| *(?:[^a-z -]|$))`)

// otherLack says whether a claim lacks what its evidence only names behind what it lacks: "no valid key", where there is
// no valid signature of the key.
func otherLack(plain, support string) bool {
	lacks, whole := stems{}, stems{}
	for _, m := range lacking.FindAllStringSubmatch(support, -1) {
		for _, w := range tellingWords(m[1]) {
			lacks[stem(w)] = true
		}
	}
	_, denied := affirmed(support)
	for _, w := range tellingWords(denied) {
		whole[stem(w)] = true
	}
	for _, m := range lacking.FindAllStringSubmatch(plain, -1) {
		words := tellingWords(m[1])
		if len(words) > 0 && len(lacks) > 0 {
			if last := words[len(words)-1]; !lacks.has(last) && whole.has(last) && (len(words) == 1 || slices.ContainsFunc(words, lacks.has)) {
				return true
			}
		}
	}
	return false
}

// deed is a verb of the past that is done to something.
var deed = lazy.MustCompile(`(?i)((?:[^,.;:\n]|\.\S)*?)\b([a-z]{4,}ed) ((?:the|a|an|its|this|that|all|their) (?:[a-z-]+ ){0,2}[a-z-]+|["'` + "`" + `]?[a-z]+[\w./-]*\d[\w./-]*)`)

// exchanged says whether a claim does something to who did it by its evidence.
func exchanged(plain, support string) bool {
	doers := map[string][]stems{}
	for _, m := range deed.FindAllStringSubmatch(support, -1) {
		doers[stem(m[2])] = append(doers[stem(m[2])], wordsOf(m[1]))
	}
	return slices.ContainsFunc(deed.FindAllStringSubmatch(plain, -1), func(m []string) bool {
		of, object := doers[stem(m[2])], wordsOf(m[3])
		return len(of) > 0 && !slices.ContainsFunc(of, func(doer stems) bool { return !meets(object, doer) })
	})
}

// wordsOf are the words of a text and its names, as stems.
func wordsOf(text string) stems {
	out := stems{}
	for _, w := range wordShape.FindAllString(strings.ToLower(text), -1) {
		if w = strings.Trim(w, ".:,-/=~+@"); len(w) > 2 && !holding[w] && !empty[w] {
			out[stem(w)] = true
		}
	}
	return out
}

func lastWord(text string) string {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

func meets(a, b stems) bool {
	for w := range a {
		if b[w] {
			return true
		}
	}
	return false
}

// breath ends what is counted in one breath in a claim in Chinese, and lineBreath in a line of evidence.
var (
	breath     = lazy.MustCompile(`[，；。：、,;:]|和|而|且|但|\. |\n`)
	lineBreath = lazy.MustCompile(`[,;] |\. |\n`)
)

// countsIn are the numbers of a text that are no part of a name, an amount or an age.
func countsIn(text string) []string {
	text = ages.ReplaceAllString(amount.ReplaceAllString(text+" ", " "), " ")
	return digitsOf.FindAllString(wordShape.ReplaceAllStringFunc(text, func(w string) string {
		if strings.IndexFunc(w, unicode.IsLetter) >= 0 {
			return " "
		}
		return w
	}), -1)
}

// notHan is a "not" in Chinese, right before what it turns round.
var notHan = lazy.MustCompile(`(?:没有|未能|无法|不能|并未|没能|未|没|不)$`)

// notAny is a "not" in Chinese before a verb and an "any".
var notAny = lazy.MustCompile(`(?:没有|未能|无法|不能|并未|没能|未|没|不)\p{Han}{0,4}(?:任何|一个|一条)\p{Han}{0,2}$`)

// turnedHan says whether a claim in Chinese gives to words a number that others have in its evidence, or says "not" of
// what stands there as so.
func turnedHan(plain, texts string) (miscounted, turned bool) {
	if strings.IndexFunc(plain, func(r rune) bool { return unicode.Is(unicode.Han, r) }) < 0 {
		return false, false
	}
	so, not := affirmed(texts)
	there := lineBreath.Split(texts, -1)
	turned = notOfHan(plain, so, not)
	for _, said := range breath.Split(indexed.ReplaceAllString(members.ReplaceAllString(nth.ReplaceAllString(plain, " "), " "), " "), -1) {
		var has []string
		for at := 0; at < len(said); {
			word := hanAt(said[at:])
			if needs := hanWords[word]; needs != nil {
				turned = turned || (notHan.MatchString(said[:at]) || notAny.MatchString(said[:at])) && needs.MatchString(so)
				for _, line := range there {
					if needs.MatchString(line) {
						has = append(has, countsIn(line)...)
					}
				}
			}
			at += max(len(word), len(string([]rune(said[at:])[0])))
		}
		miscounted = miscounted || len(has) > 0 && slices.ContainsFunc(countsIn(said), func(n string) bool {
			return !slices.ContainsFunc(has, func(m string) bool { return value(m) == value(n) })
		})
	}
	return miscounted, turned
}

// hanNot is a "not" in Chinese of what was done, up to what it was done with: the words between them say nothing of their own.
var hanNot = lazy.MustCompile(`(?:没有|并未|没能|未曾|从未|未|没)((?:\p{Han}|\s)*)([A-Za-z][\w.]*)?`)

// tellsOf are words for saying, of which a "not" turns nothing round.
var tellsOf = lazy.MustCompile(`显示|表明|说明|报告|记录|指出|提到|提示|写道|证据|日志|任何|其他|足够`)

// notOfHan says whether a claim in Chinese says "not" of what its evidence has as so, behind words that say nothing: 没有发生段错误.
func notOfHan(plain, so, not string) bool {
	for _, m := range hanNot.FindAllStringSubmatch(plain, -1) {
		between, name := m[1], m[2]
		for at := 0; at < len(between); {
			if between[at] == ' ' {
				at++
				continue
			}
			word := hanAt(between[at:])
			if word == "" || tellsOf.MatchString(word) {
				name = ""
				break
			}
			if needs := hanWords[word]; needs != nil {
				if at > 0 && needs.MatchString(so) && !needs.MatchString(not) {
					return true
				}
				name = ""
				break
			}
			at += len(word)
		}
		if w := strings.ToLower(name); len(w) > 2 && !holding[w] && !plainWords[w] && containsToken(so, w) && !containsToken(not, w) {
			return true
		}
	}
	return false
}

// notDone is what was not done to something, in a claim and in a line; the word before it says to what.
var (
	notDone  = lazy.MustCompile(`(?i)((?:[^,;:.]|\.\S)*?)\b(?:was|is|were|are|been|be) not (?:yet )?([a-z]{4,})`)
	notThere = lazy.MustCompile(`(?i)([\w./-]+)?["':]* ([a-z-]+) (?:(?:was|is|were|are) )?not ([a-z]{4,})`)
)

// notThat says whether a claim has something undone of which its evidence says so of something else: a script, where a
// command was not found.
func notThat(plain, texts string) bool {
	for _, m := range notDone.FindAllStringSubmatch(plain, -1) {
		subject, said, of := wordsOf(m[1]), false, false
		for _, t := range notThere.FindAllStringSubmatch(texts, -1) {
			if stem(t[3]) == stem(m[2]) && !toBe[strings.ToLower(t[2])] {
				said = true
				of = of || meets(subject, wordsOf(t[1]+" "+t[2]))
			}
		}
		if said && !of && meets(subject, wordsOf(texts)) {
			return true
		}
	}
	return false
}
