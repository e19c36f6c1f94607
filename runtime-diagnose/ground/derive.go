package ground

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A number that can be worked out of evidence is none of a claim's own: a sum, a share, a rate, the same in other words.

var (
	// ofHundred is a percentage whose sign stands apart.
	ofHundred = lazy.MustCompile(`(\d) %`)
	// percentage is a share of a whole.
	percentage = lazy.MustCompile(`(\d+(?:\.\d+)?)%`)
	// inParts is a time in two units: 1 min 18 s.
	inParts = lazy.MustCompile(`(?i)\b(\d+)\s?(h|hours?|mins?|minutes?|m)(?:,? and |,? )?(\d+(?:\.\d+)?)\s?(mins?|minutes?|m|s|secs?|seconds?)\b`)
	// exponential is a number with its power of ten in figures.
	exponential = lazy.MustCompile(`(?i)\b\d+(?:\.\d+)?e[+-]?\d+\b`)
)

// worked is a claim without the numbers that can be worked out of texts, and without what it says of a case that did not come about.
func worked(body, texts string) string {
	texts = withoutCommas(texts)
	body = contrasted.ReplaceAllString(withoutSupposed(body), " ")
	body = inParts.ReplaceAllStringFunc(body, func(m string) string {
		of := inParts.FindStringSubmatch(m)
		whole := value(of[1])*60 + value(of[3])
		if strings.HasPrefix(strings.ToLower(of[2]), "h") {
			whole = value(of[1])*3600 + value(of[3])*60
		}
		return strconv.FormatFloat(whole, 'f', -1, 64) + " seconds"
	})
	body = calculated.ReplaceAllStringFunc(inPairs(body), func(m string) string {
		if _, right := adds(calculated.FindStringSubmatch(m)); right && slices.ContainsFunc(digitsOf.FindAllString(m, -1), func(n string) bool { return holds(texts, n) }) {
			return " "
		}
		return m
	})
	body = percentage.ReplaceAllStringFunc(ofHundred.ReplaceAllString(body, "$1%"), func(m string) string {
		if isShare(texts, m[:len(m)-1]) {
			return " "
		}
		return m
	})
	return exponential.ReplaceAllStringFunc(body, func(n string) string {
		if slices.ContainsFunc(append(exponential.FindAllString(texts, -1), digitsOf.FindAllString(texts, -1)...), func(of string) bool { return math.Abs(value(n)/value(of)-1) < 0.01 }) {
			return " "
		}
		return n
	})
}

// shares are the fractions and the percentages of a text.
func shares(text string) (out []float64) {
	for _, n := range digitsOf.FindAllString(text, -1) {
		if v := value(n); v > 0 && v < 1 {
			out = append(out, v)
		}
	}
	for _, m := range percentage.FindAllStringSubmatch(text, -1) {
		out = append(out, value(m[1])/100)
	}
	return out
}

// isShare says whether a percentage is a fraction that a text has, to its last digit, or what one number makes of the other of a pair.
func isShare(texts, percent string) bool {
	digit := 0.5
	if at := strings.IndexByte(percent, '.'); at >= 0 {
		digit *= math.Pow(10, -float64(len(percent)-at-1))
	}
	return slices.ContainsFunc(append(shares(ofHundred.ReplaceAllString(texts, "$1%")), ratios(texts)...), func(share float64) bool {
		of, digit := value(percent), digit+1e-9
		return math.Abs(100*share-of) <= digit || math.Abs(100*(1-share)-of) <= digit // or the rest
	})
}

// ratios are what the numbers of the pairs of a text make of each other: 6200/50000, 3.1 GB of 107.3 GB.
func ratios(texts string) (out []float64) {
	for _, m := range outOf.FindAllString(texts, -1) {
		if of := digitsOf.FindAllString(m, -1); len(of) == 2 {
			one, other := value(of[0]), value(of[1])
			out = append(out, min(one, other)/max(one, other, 1e-9))
		}
	}
	return out
}

// mostDerived bounds the numbers of which others are derived.
const mostDerived = 24

// sizeOf is how many elements something has.
var sizeOf = lazy.MustCompile(`(?i)\b(?:size|length|len) (?:of )?(\d+)\b`)

// divides says that one number is divided by another.
var divides = lazy.MustCompile(`(?i)\b(?:ratios?|divi\w+|quotient|remainder|multiples?)\b|整除|余数|倍数`)

// derived says whether a number is the sum, the difference or the product of two numbers of a text, or, of parts, what one makes of another.
func derived(w, text string, parts bool) bool {
	n, err := strconv.ParseFloat(w, 64)
	if err != nil {
		return false
	}
	var of []float64
	for _, m := range digitsOf.FindAllString(text, -1) {
		if x, err := strconv.ParseFloat(m, 64); err == nil && len(of) < mostDerived && !slices.Contains(of, x) {
			of = append(of, x)
		}
	}
	for _, m := range sizeOf.FindAllStringSubmatch(text, -1) {
		if value(m[1])-1 == n {
			return true // the last index of so many
		}
	}
	if strings.Contains(text, "%") {
		of = append(of, 100) // what is left of all
	}
	for _, a := range of {
		for _, b := range of {
			if near(a+b, n) || near(a-b, n) || near(a*b, n) || parts && near(a/b, n) {
				return true
			}
		}
	}
	return false
}

// apartBy says whether a whole number is how far one of a text is from one of another.
func apartBy(w, text, other string) bool {
	return digitsOnly(w) && !strings.Contains(w, ".") && slices.ContainsFunc(digitsOf.FindAllString(text, mostDerived), func(a string) bool {
		return slices.ContainsFunc(digitsOf.FindAllString(other, mostDerived), func(b string) bool { return near(math.Abs(value(a)-value(b)), value(w)) })
	})
}

// leftOf is how many are left of others, and theFew are those that were spoken of before: the two ends.
var (
	leftOf = lazy.MustCompile(`(?i)\b(?:remaining|other) (\d+)\b`)
	theFew = lazy.MustCompile(`(?i)\b(?:the|these|those|all|both|at least) (2|3) [a-z]+`)
)

// ofOwnCount says whether a claim counts by itself what it has: what is left of so many that its evidence counts, or two or three of which it spoke.
func ofOwnCount(w, said, support string) bool {
	said = inDigits(said)
	for _, m := range theFew.FindAllStringSubmatch(said, -1) {
		if value(m[1]) == value(w) {
			return true
		}
	}
	for _, m := range leftOf.FindAllStringSubmatch(said, -1) {
		if value(m[1]) != value(w) {
			continue
		}
		all := digitsOf.FindAllString(said, mostDerived)
		if slices.ContainsFunc(all, func(n string) bool {
			return holds(support, n) && (value(n)-value(w) == 1 || slices.ContainsFunc(all, func(o string) bool { return value(n)-value(o) == value(w) }))
		}) {
			return true
		}
	}
	return false
}

// perSecond is how much there is of something in a second.
var perSecond = lazy.MustCompile(`(?i)^(\d+(?:\.\d+)?) ?([kmgt]i?b)/s$`)

// rateOf says whether that is what a text has of bytes in what it has of seconds, roughly.
func rateOf(w, texts string) bool {
	m := perSecond.FindStringSubmatch(w)
	if m == nil {
		return false
	}
	want := value(m[1]) * units[strings.ToLower(m[2])]
	of := amount.FindAllStringSubmatch(texts+" ", mostDerived)
	return slices.ContainsFunc(of, func(a []string) bool {
		return !clock[strings.ToLower(a[2])] && slices.ContainsFunc(of, func(b []string) bool {
			took := value(b[1]) * units[strings.ToLower(b[2])]
			return clock[strings.ToLower(b[2])] && took > 0 && math.Abs(value(a[1])*units[strings.ToLower(a[2])]/took/want-1) < 0.05
		})
	})
}

// near says whether two numbers are one, but for what arithmetic loses.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// inBytes says whether an amount is a number of bytes of a text, which has it without a unit.
func inBytes(text, n, unit string) bool {
	want := value(n) * units[unit]
	return !clock[unit] && want >= 1<<20 && slices.ContainsFunc(digitsOf.FindAllString(text, -1), func(of string) bool {
		v := value(of)
		return v >= 1<<20 && want/v > 0.99 && want/v < 1.01
	})
}

// derivedAmount says whether an amount is the sum or the difference of two of a text, or of two and a third, to the last digit of it.
func derivedAmount(text, n, unit string) bool {
	want := value(n) * units[unit]
	digit := units[unit] / 2
	if at := strings.IndexByte(n, '.'); at >= 0 {
		digit *= math.Pow(10, -float64(len(n)-at-1))
	}
	var of []float64
	for _, m := range amount.FindAllStringSubmatch(text+" ", -1) {
		if unit := strings.ToLower(m[2]); clock[unit] == clock[strings.ToLower(unit)] && len(of) < mostDerived {
			of = append(of, value(m[1])*units[unit])
		}
	}
	for _, share := range shares(text) {
		if slices.ContainsFunc(of, func(a float64) bool { return math.Abs(a*share-want) <= digit }) {
			return true
		}
	}
	is := func(v float64) bool { return v > 0 && math.Abs(v-want) <= digit }
	for i, a := range of {
		for j, b := range of {
			if i != j && (is(a-b) || is(a+b) || slices.ContainsFunc(of, func(c float64) bool { return c != a && c != b && is(a-b-c) })) {
				return true
			}
		}
	}
	return false
}
