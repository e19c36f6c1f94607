package ground

import (
	"slices"
	"strings"
	"unicode"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// Who did what to whom, what has which value, what is one of two: the words of a claim may all stand in its evidence, and
// be of each other there in another way.

func lastWord(text string) string {
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
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

// turnedHan says whether a claim in Chinese gives to words a number that others have in its evidence, or may say, or says "not" of
// what stands there as so.
func turnedHan(plain, texts string) (miscounted, turned bool) {
	if strings.IndexFunc(plain, func(r rune) bool { return unicode.Is(unicode.Han, r) }) < 0 {
		return false, false
	}
	so, not := affirmed(texts)
	there := lineBreath.Split(texts, -1)
	turned = notOfHan(plain, so, not)
	miscounted = hanDoubled.MatchString(plain) || hanUntold.MatchString(plain)
	for _, said := range breath.Split(indexed.ReplaceAllString(members.ReplaceAllString(nth.ReplaceAllString(plain, " "), " "), " "), -1) {
		var has []string
		for at := 0; at < len(said); {
			word := hanAt(said[at:])
			if needs := hanWords[word]; needs != nil {
				denied, broad := (notHan.MatchString(said[:at]) || notAny.MatchString(said[:at])) && needs.MatchString(so), hanBroad.MatchString(word)
				miscounted, turned = miscounted || denied && broad, turned || denied && !broad
				for _, line := range there {
					if !broad && needs.MatchString(line) {
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

// hanBroad are words that are said of so much that a "not" of one may be of something else.
var hanBroad = lazy.MustCompile(`^(?:退出|结束|终止|停止|中止|中断|崩溃|失败|缺少|缺失|运行|等待|等到?)$`)

// hanDoubled is a "not" in Chinese of a lack, and hanUntold one of what was told.
var (
	hanDoubled = lazy.MustCompile(`(?:没有|并未|没|未)(?:被)?(?:缺|不|无法|未|拒绝|丢失|损坏|失败|超时|耗尽|崩溃|断开|中断)`)
	hanUntold  = lazy.MustCompile(`(?:没有|并未|没|未)(?:报告|报出|记录|显示|指出|提到|写出)`)
)

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
			if needs := hanWords[word]; needs != nil && !hanBroad.MatchString(word) {
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
