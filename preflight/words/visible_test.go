package words

import (
	"strings"
	"testing"
	"unicode"
)

// What nobody sees makes one name look like another, or carries what a person does not read to a model.
func TestWhatIsNotSeenIsShown(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"a mark of direction":                      {"a\u202eb", "a�b"},
		"a zero-width space":                       {"tra\u200bin", "tra�in"},
		"a word joiner":                            {"tra\u2060in", "tra�in"},
		"a byte order mark":                        {"tra\ufeffin", "tra�in"},
		"a soft hyphen":                            {"tra\u00adin", "tra�in"},
		"a joiner between Latin letters":           {"tra\u200din", "tra�in"},
		"a line separator":                         {"a\u2028b", "a�b"},
		"a text in tags":                           {"ok\U000e0072\U000e006d", "ok��"},
		"a text in selectors":                      {"ok\U000e0100\U000e01ef", "ok��"},
		"a grapheme joiner":                        {"tra\u034fin", "tra�in"},
		"a filler of Hangul":                       {"tra\u3164in", "tra�in"},
		"the blank of Braille":                     {"tra\u2800in", "tra\u2800in"}, // has a width, as a space has
		"a selector behind a letter":               {"tra\ufe0fin", "tra�in"},
		"a warning sign":                           {"\u26a0\ufe0f out of memory", "\u26a0\ufe0f out of memory"},
		"a family":                                 {"\U0001f468\u200d\U0001f469", "\U0001f468\u200d\U0001f469"},
		"a word of Persian":                        {"\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u200c\u062e"},
		"as many selectors as there are, in a row": {"\u26a0\ufe0f\ufe0f\ufe0e", "\u26a0\ufe0f��"},
		"an escape":                                {"\x1b[31m", "�[31m"},
		"lines and tabs":                           {"a\n\tb", "a\n\tb"},
		"bytes that are no text":                   {"a\xffb", "a�b"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Visible(tc.text); got != tc.want {
				t.Errorf("%q is shown as %q, want %q", tc.text, got, tc.want)
			}
			if got := Visible(Visible(tc.text)); got != tc.want {
				t.Errorf("%q is shown as %q the second time, want %q", tc.text, got, tc.want)
			}
		})
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.IsLetter(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point) && strings.ContainsFunc(string(r), Hidden) {
			t.Errorf("%U is a letter, and hidden", r)
		}
	}
}
