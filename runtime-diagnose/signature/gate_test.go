package signature_test

import (
	"strings"
	"testing"

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

// The proof is tested against the regular expressions themselves: what a pattern matches
// the gate must let pass.
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
			found := map[string]bool{}
			for _, m := range c.Match(line) {
				found[m.Signature.ID] = true
			}
			if len(found) > 0 && !c.Suspects(line) {
				t.Fatalf("%q matches %v and passes for unsuspicious", line, found)
			}
			for _, s := range c.All() {
				if !found[s.ID] && signature.MatchesUngated(c, s.ID, line) {
					t.Fatalf("the gate of %s refuses %q, which its pattern matches", s.ID, line)
				}
			}
		}
	})
}
