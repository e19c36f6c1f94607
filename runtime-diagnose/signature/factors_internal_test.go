package signature

import (
	"regexp"
	"regexp/syntax"
	"testing"
)

// What an expression matches, its loosened form matches; fixtures of all long ones tell.
func TestLoosenedMatchesNoLess(t *testing.T) {
	cases := map[string]string{
		`(?P<a>\S.{1,200}) end`:        "x yz end",
		`a{3,300}b`:                    "aaab",
		`^(?:[^)]{0,40}\) ?){0,20}x$`:  "(a) b) x",
		`(?i)error.{0,500}(?:A|B){9}$`: "ERROR: ababababa",
	}
	for pattern, text := range cases {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Fatalf("%s does not match %q", pattern, text)
		}
		if loose := loosened(re).String(); !regexp.MustCompile(loose).MatchString(text) {
			t.Errorf("%s, loosened from %s, does not match %q", loose, pattern, text)
		}
	}
}
