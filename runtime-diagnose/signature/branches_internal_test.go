package signature

import (
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

// An expression whose bounds are taken away for short texts matches what it did: below the bound, at it and above.
func TestShortTextsMatchAsLongOnes(t *testing.T) {
	c, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var branches, matches int
	for i, m := range c.matchers {
		archive, err := txtar.ParseFile(filepath.Join("testdata", c.all[i].ID+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		m.once.Do(m.prepare)
		for k, source := range alternatives(m.pattern) {
			b := &m.branches[k]
			if b.short == nil {
				continue
			}
			branches++
			re := regexp.MustCompile(source)
			for _, f := range archive.Files {
				for line := range strings.Lines(string(f.Data)) {
					if line = strings.TrimSuffix(line, "\n"); !re.MatchString(line) {
						continue
					}
					matches++
					for _, length := range []int{0, b.most - 1, b.most, b.most + 1, b.most + 2, 2 * b.most, 3*b.most + 7} {
						for _, at := range []int{0, len(line) / 3, len(line) * 2 / 3, len(line)} {
							fill := strings.Repeat("x y. ", max(0, length-len(line))/5+1)[:max(0, length-len(line))]
							sameAsWhole(t, re, b, line[:at]+fill+line[at:])
						}
					}
				}
			}
		}
	}
	if branches < 40 || matches < 60 {
		t.Errorf("%d expressions and %d of their lines are compared", branches, matches)
	}
}

func sameAsWhole(t *testing.T, re *regexp.Regexp, b *branch, text string) {
	t.Helper()
	var line folded
	line.set(text)
	if _, got := b.find(text, &line); !slices.Equal(got, re.FindStringSubmatchIndex(text)) {
		t.Errorf("%s matches %d bytes %q at %v, want %v", re, len(text), text, got, re.FindStringSubmatchIndex(text))
	}
}

// Bounds stay where a text of so many bytes may meet them: below leastBound, and of what may be empty.
func TestUnbounded(t *testing.T) {
	for source, want := range map[string]int{
		`a.{0,99}b`: 0, `a.{0,100}b`: 100, `a.{0,300}b.{1,200}`: 200, `(?:a?b?){0,100}`: 0, `(?:a?b){0,100}`: 100, `a{100,200}`: 0, `a{3,}`: 0,
	} {
		re, err := syntax.Parse(source, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := unbounded(re); got != want {
			t.Errorf("%s has no bounds for texts of %d bytes, want %d", source, got, want)
		}
	}
}

// However many places an expression may begin at, it takes no more than a few readings of the text, and finds the match
// behind them.
func TestManyPlacesToBegin(t *testing.T) {
	const source = `fail\w* to (?P<do>bind|connect)\b`
	b, re := newBranch(source, nil), regexp.MustCompile(source)
	for _, n := range []int{mostTries - 1, mostTries, mostTries + 1, 10_000} {
		for _, end := range []string{"", " to bind", " to connect"} {
			sameAsWhole(t, re, &b, strings.Repeat("fail", n)+" "+strings.Repeat("failing ", n)+"failed"+end)
		}
	}
	at := time.Now()
	text := strings.Repeat("fail", 16_000) + " to bin to bind"
	var line folded
	line.set(text)
	if _, m := b.find(text, &line); m != nil {
		t.Errorf("%v is matched", m)
	}
	if took := time.Since(at); took > 5*time.Second {
		t.Errorf("a text of %d bytes took %v", len(text), took)
	}
}
