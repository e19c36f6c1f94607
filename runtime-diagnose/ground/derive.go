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
	// ofWhich is a whole before its part.
	ofWhich = lazy.MustCompile(`(?i)\d+(?:\.\d+)? ?[kmgt]?i?b?(?:,? of which| total[,;]| capacity[,;]) \d+(?:\.\d+)?`)
	// nominal is the memory by which a GPU is sold, of which programs see less.
	nominal = lazy.MustCompile(`(?i)\b(\d+)[ -]?Gi?B[ -](?:[A-Za-z]+ )?(?:cards?|GPUs?|accelerators?|versions?|variants?|models?|class)\b`)
	// instead is one thing that is not meant.
	instead = lazy.MustCompile(`(?i)\b(?:rather than|instead of|as opposed to) (?:an? |the )?[\w.-]+`)
	// examples are named and nothing is said of them.
	examples = lazy.MustCompile(`(?i)\b(?:such as|e\.g\.,?|for example,?|for instance,?) [^,.;:)]*`)
	// boundedShare is a bound of one.
	boundedShare = lazy.MustCompile(`(?i)\b(?:(less than|under|below|at most)|(more than|over|above|at least)) (\d+(?:\.\d+)?)%`)
	// inParts is a time in two units: 1 min 18 s.
	inParts = lazy.MustCompile(`(?i)\b(\d+)\s?(h|hours?|mins?|minutes?|m)(?:,? and |,? )?(\d+(?:\.\d+)?)\s?(mins?|minutes?|m|s|secs?|seconds?)\b`)
	// countedFrom is how many there are of something, and the first and the last of them.
	countedFrom = lazy.MustCompile(`\b(\d+)( [a-z]+ \(?)(\d+)(?: to |-|–)(\d+)\b`)
	// rate is how many bytes there are in a second.
	rate = lazy.MustCompile(`(?i)\b(\d+(?:\.\d+)?)\s?([kmgt]i?b)(?:/s(?:ec)?\b|ps\b| per second\b| a second\b)`)
	// scaled is a number with its power of ten as a word.
	scaled = lazy.MustCompile(`(?i)\b(\d+(?:\.(\d+))?)[ -]?(thousand|million|billion|万|亿)`)
	// exponential is a number with its power of ten in figures.
	exponential = lazy.MustCompile(`(?i)\b\d+(?:\.\d+)?e[+-]?\d+\b`)
	// counterfactual is a clause about what did not happen, and what would have been read then.
	counterfactual = lazy.MustCompile(`(?i)(?:^|[,;:(]|\b(?:whereas|while|but|although|since|because)\b)[^,;:()]*\bwould (?:\w+ )?(?:have [a-z]+(?:ed|en|n|t|d|own|ut)\b|be (?:different|another|other)|show up|be (?:reported|logged|shown|visible|expected)|(?:we|one) (?:see|expect))\b[^,;:()]*`)
	// errnoOf is an error of the operating system by its name and number, in either order.
	errnoOf = lazy.MustCompile(`\b(E[A-Z]{3,})\b\W{0,3}(?:errno|error(?: number| code)?)?[ =:]{0,2}(\d{1,3})\b|\berrno[ =:]{1,2}(\d{1,3})\W{1,3}(?:or |i\.e\. )?(E[A-Z]{3,})\b`)
)

// tensOf are the words for powers of ten.
var tensOf = map[string]float64{"thousand": 1e3, "million": 1e6, "billion": 1e9, "万": 1e4, "亿": 1e8}

// worked is a claim without the numbers that can be worked out of texts, and without what it says of a case that did not come
// about, or for an example.
func worked(body, texts string) string {
	texts = withoutCommas(texts)
	body = instead.ReplaceAllString(body, " ")
	body = contrasted.ReplaceAllString(examples.ReplaceAllString(counterfactual.ReplaceAllString(body, " "), " "), " ")
	body = nominal.ReplaceAllStringFunc(body, func(m string) string {
		n := value(nominal.FindStringSubmatch(m)[1])
		if slices.ContainsFunc(amount.FindAllStringSubmatch(texts+" ", -1), func(of []string) bool {
			seen := value(of[1]) * units[strings.ToLower(of[2])] / units["gib"]
			return !clock[strings.ToLower(of[2])] && seen <= n && seen >= 0.9*n
		}) {
			return " "
		}
		return m
	})
	body = errnoOf.ReplaceAllStringFunc(body, func(m string) string {
		if of := errnoOf.FindStringSubmatch(m); errorNames[of[2]+of[3]] == of[1]+of[4] {
			return " "
		}
		return m
	})
	body = inParts.ReplaceAllStringFunc(body, func(m string) string {
		of := inParts.FindStringSubmatch(m)
		whole := value(of[1])*60 + value(of[3])
		if strings.HasPrefix(strings.ToLower(of[2]), "h") {
			whole = value(of[1])*3600 + value(of[3])*60
		}
		return strconv.FormatFloat(whole, 'f', -1, 64) + " seconds"
	})
	body = countedFrom.ReplaceAllStringFunc(body, func(m string) string {
		if of := countedFrom.FindStringSubmatch(m); value(of[1]) == value(of[4])-value(of[3])+1 {
			return of[2] + of[3] + " to " + of[4]
		}
		return m
	})
	body = rate.ReplaceAllStringFunc(body, func(m string) string {
		if of := rate.FindStringSubmatch(m); isRate(texts, value(of[1])*units[strings.ToLower(of[2])]) {
			return " "
		}
		return m
	})
	body = scaled.ReplaceAllStringFunc(body, func(m string) string {
		of := scaled.FindStringSubmatch(m)
		digit := tensOf[strings.ToLower(of[3])]
		n := value(of[1]) * digit
		for range of[2] {
			digit /= 10
		}
		if slices.ContainsFunc(digitsOf.FindAllString(texts, -1), func(x string) bool { return math.Abs(value(x)-n) < digit }) {
			return " "
		}
		return m
	})
	body = calculated.ReplaceAllStringFunc(inPairs(body), func(m string) string {
		if _, right := adds(calculated.FindStringSubmatch(m)); right && slices.ContainsFunc(digitsOf.FindAllString(m, -1), func(n string) bool { return holds(texts, n) }) {
			return " "
		}
		return m
	})
	body = boundedShare.ReplaceAllStringFunc(ofHundred.ReplaceAllString(body, "$1%"), func(m string) string {
		of := boundedShare.FindStringSubmatch(m)
		n := value(of[3])
		if slices.ContainsFunc(ratios(texts), func(share float64) bool {
			share *= 100
			return of[1] != "" && share <= n && share*2 >= n || of[2] != "" && share >= n && share <= n*2
		}) {
			return " "
		}
		return m
	})
	body = percentage.ReplaceAllStringFunc(body, func(m string) string {
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

// isRate says whether a line has an amount of bytes and a time that make so many bytes in a second.
func isRate(texts string, want float64) bool {
	for line := range strings.Lines(texts) {
		amounts := amount.FindAllStringSubmatch(line+" ", -1)
		for _, bytes := range amounts {
			for _, time := range amounts {
				of, in := strings.ToLower(bytes[2]), strings.ToLower(time[2])
				if got := value(bytes[1]) * units[of] / (value(time[1]) * units[in]); !clock[of] && clock[in] && got/want > 0.97 && got/want < 1.03 {
					return true
				}
			}
		}
	}
	return false
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
	for _, m := range append(outOf.FindAllString(texts, -1), ofWhich.FindAllString(texts, -1)...) {
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

// numbersOf are the numbers of a claim that are worked out of evidence: others may be worked out of them.
func numbersOf(claim, texts string) (out string) {
	if divides.MatchString(claim) {
		for _, n := range digitsOf.FindAllString(claim, -1) {
			if derived(n, texts, false) {
				out += " " + n
			}
		}
	}
	return out
}

// divides says that one number is divided by another.
var divides = lazy.MustCompile(`(?i)\b(?:ratios?|divi\w+|quotient|remainder|multiples?)\b|整除|余数|倍数`)

// derived says whether a number is the sum, the difference or the product of two numbers of a text, or the sum or the product of three; or, of parts, what one makes of another and the rest.
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
			if near(a+b, n) || near(a-b, n) || near(a*b, n) || parts && (near(a/b, n) || near(math.Mod(a, b), n) || near(math.Floor(a/b), n)) || slices.ContainsFunc(of, func(c float64) bool { return near(a*b*c, n) || near(a+b+c, n) }) {
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
