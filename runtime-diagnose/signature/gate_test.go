package signature_test

import (
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
			s := valid()
			s.Pattern, s.Literals = tc.pattern, tc.literals
			err := s.Validate()
			if refused := err != nil && strings.Contains(err.Error(), "cannot prove"); refused == tc.ok {
				t.Errorf("Validate: %v; want it to hold: %v", err, tc.ok)
			}
		})
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
