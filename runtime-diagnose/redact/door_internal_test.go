package redact

import (
	"bytes"
	"testing"
	"unicode"
	"unicode/utf8"
)

func FuzzLook(f *testing.F) {
	for _, s := range []string{"", "plain", "a\tb and more", "\x00", "12345678\x7f", "█ 50 %|", "abcdefgh\x1b[0m", "\xff\xfe", "1234567\r", "(x) 12345 P", "VM", "H", "12345678="} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var want Bytes
		for _, c := range b {
			if c < ' ' && c != '\t' && c != '\n' || c == 0x7f {
				want |= Control
			}
			if c > 0x7f {
				want |= Beyond
			}
		}
		for c, kind := range map[string]Bytes{"\r": Return, "%": Percent, "(": Paren, "x": SmallX, `"`: Quote, "M": CapitalM, "H": CapitalH, "=": Equals, "P": capitalP, "V": capitalV} {
			if bytes.Contains(b, []byte(c)) {
				want |= kind
			}
		}
		if got := Look(b); got != want {
			t.Fatalf("in %q stand %b, want %b", b, got, want)
		}
		if got := Look(string(b)); got != want {
			t.Fatalf("in the text %q stand %b, want %b", b, got, want)
		}
	})
}

// The range of runes of which nobody asks whether they are seen holds none that is not.
func TestTheRangeOfWhatIsSeenHoldsNothingElse(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		filler := r == 0x3164 || r == 0xFFA0
		if want := unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != 0x3164; invisible(r) != want {
			t.Errorf("%U is invisible: %v, want %v", r, !want, want)
		}
		if text := string(r); r >= utf8.RuneSelf && seen(text) > 0 && (unseen(r) && !filler || seen(text) != len(text)) {
			t.Errorf("%U is taken for seen", r)
		}
		if want := unicode.Is(unicode.Han, r); han(r) != want {
			t.Errorf("%U is Chinese: %v, want %v", r, !want, want)
		}
	}
}
