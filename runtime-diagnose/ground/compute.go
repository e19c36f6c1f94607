package ground

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// A number that stands nowhere may be what pieces of evidence make together, in whatever words it is told: how many they are, how much time lies between
// them, what is left of one amount by another, the same to fewer digits or in another unit. So the values that they make are worked out, and a number of
// a claim is looked for among those of its own kind.

// figure is a number of a claim with how exactly it is meant: about, more than, less than; and with its unit.
var figure = lazy.MustCompile(`(?i)(?:(\b(?:about|around|roughly|approximately|nearly|almost|some|close to|circa)\s|[~≈约近])|(\b(?:more than|over|at least|a good|longer than)\s|超过|至少)|(\b(?:less than|under|within|at most|just under|fewer than)\s|不到))?\s?(\d+(?:\.\d+)?)\s?(ms|milliseconds?|secs?|seconds?|mins?|minutes?|hours?|[kmgt]i?b|[kmgt]i|[kmg]|bytes?|s|h|秒|分钟|小时|毫秒)?(?:[^A-Za-z0-9_]|$)`)

// powers are what a number is multiplied by whose power of ten is a letter.
var powers = map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9}

// timeOfDay is one of a line.
var timeOfDay = lazy.MustCompile(`\b([01]\d|2[0-3]):([0-5]\d):([0-5]\d(?:[.,]\d{1,9})?)`)

// inIdentifier is a number within a name: global_step1500, shard-00017.
var inIdentifier = lazy.MustCompile(`[A-Za-z_]-?0*(\d+)`)

// listOf are things that a line lists, by their commas.
var listOf = lazy.MustCompile(`[\[({]([^\[\](){}]+,[^\[\](){}]+)[\])}]`)

// listOfNumbers are numbers that a line lists.
var listOfNumbers = lazy.MustCompile(`\d+(?:, \d+)+`)

// counts stands behind a number that counts something.
var counts = lazy.MustCompile(`^(?: [a-z][\w-]*){0,2}? [a-z][\w-]*s\b|^ ?[个条行台次步张块份]|^ (?:in|of|per|at|on) (?:each|every|the|it|them)\b`)

// furtherUnits is an amount with a word between it and its unit: 4 more minutes.
var furtherUnits = lazy.MustCompile(`(?i)\b(\d+(?:\.\d+)?) (?:more|further|full|whole|additional|extra) (ms|milliseconds?|seconds?|minutes?|hours?|[kmgt]i?b|bytes?)\b`)

// figures are the values that pieces of evidence make: counts and other plain numbers, seconds, and bytes.
type figures struct{ plain, seconds, bytes, shares []float64 }

// mostFigures bounds the values of a kind of which others are worked out.
const mostFigures = 24

// add are those of a text.
func (f *figures) add(text string) {
	for _, n := range digitsOf.FindAllString(text, -1) {
		f.plain = append(f.plain, value(n))
	}
	for _, m := range inIdentifier.FindAllStringSubmatch(text, -1) {
		f.plain = append(f.plain, value(m[1]))
	}
	for _, m := range append(listOf.FindAllString(text, -1), listOfNumbers.FindAllString(text, -1)...) {
		f.plain = append(f.plain, float64(strings.Count(m, ",")+1))
	}
	for _, m := range amount.FindAllStringSubmatch(text+" ", -1) {
		switch unit := strings.ToLower(m[2]); {
		case clock[unit]:
			f.seconds = append(f.seconds, value(m[1])*units[unit])
		case m[2] == "kB": // as the kernel writes it
			f.bytes = append(f.bytes, value(m[1])*units[unit], value(m[1])*units["kib"])
		default:
			f.bytes = append(f.bytes, value(m[1])*units[unit])
		}
	}
}

// share adds what the amounts make of each other, in percent.
func (f *figures) share() {
	for _, of := range [][]float64{f.bytes, f.seconds} {
		of = of[:min(mostFigures, len(of))]
		for _, a := range of {
			for _, b := range of {
				if a > 0 && a < b {
					f.shares = append(f.shares, 100*a/b, 100-100*a/b)
				}
			}
		}
	}
}

// clocks are the times of an item, in seconds of the day: when it was, and those of its text.
func clocks(item evidence.Item) (out []float64) {
	for _, m := range timeOfDay.FindAllStringSubmatch(item.Text, -1) {
		out = append(out, 3600*value(m[1])+60*value(m[2])+value(strings.Replace(m[3], ",", ".", 1)))
	}
	if at := item.Told().UTC(); !at.IsZero() {
		out = append(out, float64(at.Hour()*3600+at.Minute()*60+at.Second())+float64(at.Nanosecond())/1e9)
	}
	return out
}

// harmed is how many members a consequence was found of.
func (g *grounds) harmed() int {
	pods := map[string]bool{}
	for _, id := range g.Effects {
		if pod := g.items[id].Source.Pod; pod != "" {
			pods[pod] = true
		}
	}
	return len(pods)
}

func (g *grounds) figures(cites []evidence.ID) (f figures) {
	alike, pods := map[string]float64{}, map[string]bool{}
	for _, id := range cites {
		text := timeOfDay.ReplaceAllString(withoutCommas(g.items[id].Text), " ")
		alike[digitsOf.ReplaceAllString(text, "")]++
		pods[g.items[id].Source.Pod] = true
		f.add(text)
	}
	f.share()
	f.plain = append(slices.AppendSeq(f.plain, maps.Values(alike)), float64(len(cites)), float64(len(pods)))
	if n := float64(len(g.members)); n > 1 {
		f.plain = append(f.plain, n, n-1, float64(g.harmed())) // all, all others, and those on which there is a consequence
	}
	var times []float64
	for _, id := range slices.Concat(cites, g.Root[:min(mostRoots, len(g.Root))], g.Effects[:min(mostRoots, len(g.Effects))]) {
		times = append(times, clocks(g.items[id])...)
	}
	slices.Sort(times)
	times = slices.Compact(times)
	for i, a := range times[:min(mostFigures, len(times))] {
		for _, b := range times[:i] {
			f.seconds = append(f.seconds, a-b)
		}
	}
	return f
}

// uncomputed is a claim without the numbers that its evidence makes.
func (g *grounds) uncomputed(body string, cites []evidence.ID) string {
	at := figure.FindAllStringSubmatchIndex(body, -1)
	if len(at) == 0 || len(cites) == 0 {
		return body
	}
	f := g.figures(cites)
	for _, m := range slices.Backward(at) {
		from, to := m[8], m[9]
		if from > 0 && (wordRune(rune(body[from-1])) || strings.ContainsRune("-./:_#[=,", rune(body[from-1]))) || m[10] < 0 && to+1 < len(body) && strings.ContainsRune("-./:_", rune(body[to])) && wordRune(rune(body[to+1])) {
			continue // of a name, a path or a time
		}
		behind := body[to:]
		if share := strings.HasPrefix(strings.TrimLeft(behind, " "), "%"); share && f.hold(body[from:to], "%", m[2] >= 0, m[4] >= 0, m[6] >= 0) {
			body = body[:from] + " " + strings.TrimLeft(behind, " %")
			continue
		} else if share || m[10] < 0 && !strings.Contains(body[from:to], ".") && m[2] < 0 && !counts.MatchString(behind) {
			continue // a share, or a number that names something
		}
		n, unit := body[from:to], ""
		if m[10] >= 0 {
			unit, to = strings.ToLower(body[m[10]:m[11]]), m[11]
		}
		if f.hold(n, unit, m[2] >= 0, m[4] >= 0, m[6] >= 0) {
			body = body[:from] + " " + body[to:]
		}
	}
	return body
}

// hold says whether one of the values is that number, as exactly as it is meant.
func (f figures) hold(n, unit string, about, above, below bool) bool {
	of, by := f.plain, 1.0
	switch {
	case unit == "%":
		of = f.shares
	case clock[unit]:
		of, by = f.seconds, units[unit]
	case units[unit] != 0:
		of, by = f.bytes, units[unit]
	case powers[unit] != 0:
		by = powers[unit]
	}
	want, digit := value(n)*by, by/2
	if i := strings.IndexByte(n, '.'); i >= 0 {
		digit *= math.Pow(10, -float64(len(n)-i-1))
	}
	return slices.ContainsFunc(of, func(v float64) bool {
		near := digit * (1 + 1e-9)
		switch {
		case above:
			return v >= want && v <= want*1.5
		case below:
			return v <= want && v >= want/2
		case clock[unit]:
			near = 0.6 * min(1, by)
			if strings.Contains(n, ".") {
				near /= 10
			}
			near = max(near, v/20)
		case about:
			near = max(digit, v/50)
		case unit == "" && !strings.Contains(n, "."):
			near = 1e-9
		}
		return math.Abs(v-want) <= near
	})
}
