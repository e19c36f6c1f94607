package lazy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequired(t *testing.T) {
	cases := map[string]struct {
		pattern string
		want    []string // none: nothing is known
	}{
		"a word":                      {`\bnot\b`, []string{"not"}},
		"words":                       {`\b(?:no|not|never)\b`, []string{"never", "no", "not"}},
		"the longer one":              {`a+\s*rank \d+`, []string{"rank "}},
		"few are better":              {`[0-9]\w*x`, []string{"x"}},
		"digits":                      {`\d+`, strings.Split("0123456789", "")},
		"capitals do not count":       {`(?i)Failed`, []string{"failed"}},
		"letters that fold further":   {`(?i)risk taken`, []string{"risk taken"}},
		"in small letters everywhere": {`(?:FOO|(?i:bar))x*`, []string{"bar", "foo"}},
		"Han":                         {`没有|未`, []string{"未", "没有"}},
		"optional":                    {`(?:not)?`, nil},
		"one branch has none":         {`not|.`, nil},
		"any letter but":              {`[^a]`, nil},
		"the end":                     {`$`, nil},
		"a letter or nothing":         {`n?ot`, []string{"not", "ot"}},
		"what is no text":             {`\x{FFFD}`, nil},
		"nothing":                     {``, nil},
		"no expression":               {`(`, nil},
		"as many as are looked for":   {`(?:` + many(mostRequired) + `)`, texts(mostRequired)},
		"one more":                    {`(?:` + many(mostRequired+1) + `)`, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := requiredBy(tc.pattern)
			var got []string
			for first, group := range r.first {
				if group != 0 && (!r.folds || first < 'A' || first > 'Z') {
					for _, rest := range r.rests[group-1] {
						got = append(got, string([]byte{byte(first)})+rest)
					}
				}
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s requires (-want +got):\n%s", tc.pattern, diff)
			}
		})
	}
}

func texts(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%c%02d", 'a'+i%26, i))
	}
	slices.Sort(out)
	return out
}

func many(n int) string { return strings.Join(texts(n), "|") }

// Whatever an expression is, its methods answer as those of package regexp.
func FuzzSameAsRegexp(f *testing.F) {
	for _, seed := range [][2]string{
		{`(?i)\b(?:no|not|never)\b`, "It is NOT so, and never was."},
		{`\d+%`, "at 50%"},
		{`(?i)k`, "\u212a"},
		{`(?i)s+`, "\u017f"},
		{`\x{FFFD}`, "\xff"},
		{`[\x{80}-\x{10FFFF}]a`, "\xffa"},
		{`(?:a|b)?c{2,}`, "acc"},
		{`没有|(?i:none)`, "没有 NONE"},
		{`^$`, ""},
		{`(?s).a`, "\na"},
		{`(?:FOO|(?i:foo))`, "FOO fOO"},
		{`(?i)Σ`, "ς"},
		{`a(?:b|)`, "a"},
		{`x*`, "y"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		plain, err := regexp.Compile(pattern)
		if err != nil {
			return
		}
		r := MustCompile(pattern)
		made = made[:0] // what is fuzzed is not kept
		quoted := func(s string) string { return "<" + s + ">" }
		for name, pair := range map[string][2]any{
			"MatchString":                {plain.MatchString(text), r.MatchString(text)},
			"FindString":                 {plain.FindString(text), r.FindString(text)},
			"FindStringIndex":            {plain.FindStringIndex(text), r.FindStringIndex(text)},
			"FindStringSubmatch":         {plain.FindStringSubmatch(text), r.FindStringSubmatch(text)},
			"FindStringSubmatchIndex":    {plain.FindStringSubmatchIndex(text), r.FindStringSubmatchIndex(text)},
			"FindAllString":              {plain.FindAllString(text, -1), r.FindAllString(text, -1)},
			"FindAllStringIndex":         {plain.FindAllStringIndex(text, 2), r.FindAllStringIndex(text, 2)},
			"FindAllStringSubmatch":      {plain.FindAllStringSubmatch(text, -1), r.FindAllStringSubmatch(text, -1)},
			"FindAllStringSubmatchIndex": {plain.FindAllStringSubmatchIndex(text, -1), r.FindAllStringSubmatchIndex(text, -1)},
			"ReplaceAllString":           {plain.ReplaceAllString(text, "-"), r.ReplaceAllString(text, "-")},
			"ReplaceAllStringFunc":       {plain.ReplaceAllStringFunc(text, quoted), r.ReplaceAllStringFunc(text, quoted)},
			"Split":                      {plain.Split(text, -1), r.Split(text, -1)},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("%s of %q on %q (-regexp +lazy):\n%s", name, pattern, text, diff)
			}
		}
	})
}
