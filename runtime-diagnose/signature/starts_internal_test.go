package signature

import (
	"os"
	"path/filepath"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestStarts(t *testing.T) {
	cases := map[string]struct {
		pattern string
		admits  string // one text a word
		refuses string
	}{
		"a literal":                         {`^panic: `, "panic: p", "fatal 1 Ä"},
		"a literal in any case":             {`(?i)^skip`, "skip SKIP ſkip", "kip"},
		"a class, and what follows it":      {`^[\d-]*F `, "2026 - F f", "E x"},
		"a class that leaves something out": {`^[^\s:]{1,9}: `, "a Ä (", ":"},
		"what may be left out":              {`^(?:\d+ )?(?:\[E\]|error)`, "7 [E] error", "info"},
		"an alternative of places":          {`^(?:\b|-)x`, "x -", "a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			re, err := syntax.Parse(tc.pattern, syntax.Perl)
			if err != nil {
				t.Fatal(err)
			}
			h := startsOf(re)
			if h == nil {
				t.Fatal("no starts")
			}
			for word := range strings.FieldsSeq(tc.admits) {
				if !h[foldASCII(word[0])] {
					t.Errorf("%q is not admitted", word)
				}
			}
			for word := range strings.FieldsSeq(tc.refuses) {
				if h[foldASCII(word[0])] {
					t.Errorf("%q is admitted", word)
				}
			}
		})
	}
	for _, anywhere := range []string{`panic: `, `(?m)^panic: `, `^`, `^a*`, `^a|b`, `^(?:x|\b)`} {
		re, err := syntax.Parse(anywhere, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if startsOf(re) != nil {
			t.Errorf("%q may match a text that begins with anything, and has starts", anywhere)
		}
	}
}

// TestStartsOfTheCatalog tries every alternative that has starts on every fixture.
func TestStartsOfTheCatalog(t *testing.T) {
	c, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimRight(line, "\n"); line != "" {
				lines = append(lines, line)
			}
		}
	}
	tried := 0
	for i, m := range c.matchers {
		m.once.Do(m.prepare)
		for k := range m.branches {
			b := &m.branches[k]
			if b.starts == nil {
				continue
			}
			for _, line := range lines {
				if b.re().MatchString(line) {
					if tried++; !b.starts[foldASCII(line[0])] {
						t.Errorf("%s: alternative %d matches %q, and the starts refuse it", c.all[i].ID, k, line)
					}
				}
			}
		}
	}
	if tried < 50 {
		t.Errorf("%d matches tried; the fixtures hold more", tried)
	}
}
