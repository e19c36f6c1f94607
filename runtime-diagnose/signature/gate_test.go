package signature_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func TestALiteralThatThePatternCanDoWithoutIsRefused(t *testing.T) {
	cases := map[string]struct {
		pattern  string
		literals []string
		ok       bool
	}{
		"the literal itself":                      {`CUDA out of memory`, []string{"out of memory"}, true},
		"case-blind":                              {`(?i)cuda OUT of memory`, []string{"out of memory"}, true},
		"one of two alternatives has none":        {`out of memory|no space left`, []string{"out of memory"}, false},
		"both have one":                           {`out of memory|no space left`, []string{"out of memory", "space"}, true},
		"in an optional part":                     {`error(?: out of memory)?`, []string{"out of memory"}, false},
		"in a repeated part":                      {`(?:out of memory )+x`, []string{"out of memory"}, true},
		"behind a class":                          {`[Nn]ame not known`, []string{"ame not known"}, true},
		"over alternatives that share a prefix":   {`Signal (?:11|15) received`, []string{"Signal 11", "Signal 15"}, true},
		"only one of those":                       {`Signal (?:11|15) received`, []string{"Signal 11"}, false},
		"before something that cannot be listed":  {`exit code (?P<code>\d+)`, []string{"exit code"}, true},
		"across something that cannot be listed":  {`exit .* code`, []string{"exit code"}, false},
		"an alternative that goes on without end": {`Errno (?:28\] .*|122\] x)`, []string{"Errno 28]", "Errno 122]"}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := signature.GateHolds(tc.pattern, tc.literals); got != tc.ok {
				t.Errorf("the gate holds: %v; want %v", got, tc.ok)
			}
		})
	}
}

// What is derived from a pattern is in everything that it matches, letters without case where it says so.
func TestLiteralsAreDerived(t *testing.T) {
	cases := map[string]struct {
		pattern string
		want    []string
	}{
		"one text":                           {`CUDA out of memory`, []string{"CUDA out of memory"}},
		"without case":                       {`(?i)cuda OUT of memory`, []string{"cuda out of memory"}},
		"one for each alternative":           {`out of memory|no space left`, []string{"no space left", "out of memory"}},
		"over a choice that shares a prefix": {`Signal (?:11|15) received`, []string{"Signal 11 received", "Signal 15 received"}},
		"too short":                          {`\d+ ba`, nil},
		"none":                               {`\w+ \d+`, nil},
		"one alternative has none":           {`out of memory|\d+`, nil},
		"optional":                           {`(?:out of memory)? \d`, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := valid()
			s.Pattern = tc.pattern
			if diff := cmp.Diff(tc.want, s.Literals()); diff != "" {
				t.Errorf("literals (-want +got):\n%s", diff)
			}
		})
	}
	for _, s := range builtin(t).All() {
		if signature.GateHolds(s.Pattern, s.Literals()) {
			continue
		}
		for _, alternative := range signature.Alternatives(s.Pattern) { // the proof of the whole has to stop at many strings
			if own := (&signature.Signature{Pattern: alternative}).Literals(); !signature.GateHolds(alternative, own) {
				t.Errorf("%s: cannot prove that every match of %s holds one of %q", s.ID, alternative, own)
			}
		}
	}
}

// The gate and the taking apart of patterns are tested against the whole regular expressions:
// what a pattern matches the catalog must find, at the same place and with the same facts.
func FuzzLiteralsGate(f *testing.F) {
	c := builtin(f)
	for _, s := range c.All() {
		for _, text := range fixtures(f, s.ID, "match") {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			found := map[string]signature.Match{}
			for _, m := range c.Match(line) {
				found[m.Signature.ID] = m
			}
			if len(found) > 0 && !c.Suspects(line) {
				t.Fatalf("%q matches %v and passes for unsuspicious", line, found)
			}
			for _, s := range c.All() {
				start, facts, ok := signature.MatchUngated(c, s.ID, line)
				m, matched := found[s.ID]
				if ok != matched || m.Start != start {
					t.Fatalf("%s on %q: the whole pattern matches: %v at %d; the catalog: %v at %d", s.ID, line, ok, start, matched, m.Start)
				}
				if len(facts) == 0 && len(m.Facts) == 0 {
					continue
				}
				if diff := cmp.Diff(facts, m.Facts); diff != "" {
					t.Fatalf("facts of %s on %q (-whole +catalog):\n%s", s.ID, line, diff)
				}
			}
		}
	})
}

func TestAPatternIsTakenApartAtItsOuterBars(t *testing.T) {
	cases := map[string]struct {
		pattern string
		want    []string
	}{
		"one":                        {`a`, []string{`a`}},
		"three":                      {`a|b|c`, []string{`a`, `b`, `c`}},
		"bars in groups and classes": {`(?:a|b)|[|]|[^|]|[]|]|\|`, []string{`(?:a|b)`, `[|]`, `[^|]`, `[]|]`, `\|`}},
		"a flag holds to the end":    {`a|(?i)b|c`, []string{`a`, `(?i)b`, `(?i)c`}},
		"a flag in the middle":       {`a(?i)b|c`, []string{`a(?i)b|c`}},
		"a flag for a group alone":   {`(?i:a)|b`, []string{`(?i:a)`, `b`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, signature.Alternatives(tc.pattern)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What is looked for before an expression is tried must be in whatever it matches: each branch is held against
// the lines of its signature, with the letters' case turned around too.
func TestPartsOfAPatternAdmitWhatItMatches(t *testing.T) {
	c := builtin(t)
	for _, s := range c.All() {
		var lines []string
		for _, text := range fixtures(t, s.ID, "match") {
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				lines = append(lines, line, strings.ToUpper(line), strings.ToLower(line))
			}
		}
		for _, a := range signature.Alternatives(s.Pattern) {
			matches, holds, err := signature.PartsOf(a)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				if matches(line) && !holds(line) {
					t.Errorf("%s: %s matches %q, and what is looked for before is not in it", s.ID, a, line)
				}
			}
		}
	}
}

func TestPartsOfAPattern(t *testing.T) {
	for name, tc := range map[string]struct {
		pattern string
		yes, no []string
	}{
		"two texts in order":                  {`size of .+ must match`, []string{"Size of a must match b"}, []string{"must match the size of", "size of must"}},
		"a choice":                            {`(?:CPU|memory) limit`, []string{"memory limit"}, []string{"disk limit"}},
		"a choice with nothing to look for":   {`(?:\d+|memory) limit`, []string{"7 limit"}, []string{"7 limes"}},
		"what need not be there":              {`size(?: of memory)? \d`, []string{"size 7"}, []string{"seize"}},
		"what is repeated":                    {`(?:disk ){2,}full`, []string{"disk disk full"}, []string{"full disk"}},
		"what may be repeated no time at all": {`(?:disk ){0,2}full`, []string{"full"}, nil},
		"letters beyond ASCII":                {`(?i)größe \d`, []string{"GRÖSSE 7", "größe 7"}, nil},
		"letters without case":                {`(?i)损失 \d`, []string{"训练损失 7"}, []string{"失 7", "loss 7"}},
		"the place of the earlier end":        {`(?:error in one|error) and one`, []string{"error in one and one", "error and one"}, []string{"one and error"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, holds, err := signature.PartsOf(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range tc.yes {
				if !holds(line) {
					t.Errorf("%q is not tried", line)
				}
			}
			for _, line := range tc.no {
				if holds(line) {
					t.Errorf("%q is tried", line)
				}
			}
		})
	}
}

// A pattern of more alternatives than are looked for one by one is tried as it stands, and matches the same.
func TestPatternsOfManyAlternativesMatchTheSame(t *testing.T) {
	// words are so many of four letters, none of which begins as another one does for long.
	words := func(n int) []string {
		var out []string
		for i := range n {
			out = append(out, string([]byte{'a' + byte(i*7%26), 'b' + byte(i/26*5%25), 'c' + byte(i%24), 'k'}))
		}
		return out
	}
	either := func(n int) string { return "(?:" + strings.Join(words(n), "|") + ")" }
	cases := map[string]struct {
		most    int
		pattern func(n int) string
		line    func(word string) string
	}{
		"strings of one part": {400, func(n int) string { return "quarry (?:north|south) of " + either(n/2) }, func(w string) string { return "quarry south of " + w }},
		"texts to look for":   {64, func(n int) string { return `\d+ of ` + either(n) + ` fell \d+` }, func(w string) string { return "7 of " + w + " fell 9" }},
		"texts to begin with": {8, func(n int) string { return either(n) + `\d+ fell over` }, func(w string) string { return "it says: " + w + "12 fell over" }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{tc.most - 1, tc.most, tc.most + 1, tc.most + 2, 2 * tc.most} {
				s := valid()
				s.Pattern = tc.pattern(n)
				c, err := signature.New(s)
				if err != nil {
					t.Fatal(err)
				}
				re := regexp.MustCompile(s.Pattern)
				for _, w := range append(words(2*tc.most+2), "zzzz", "") {
					for _, line := range []string{tc.line(w), strings.ToUpper(tc.line(w)), tc.line(w) + tc.line(w), w} {
						if got, want := len(c.Match(line)) > 0, re.MatchString(line); got != want {
							t.Errorf("of %d alternatives %q matches: %v, want %v", n, line, got, want)
						}
					}
				}
			}
		})
	}
}
