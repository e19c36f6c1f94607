package reduce

import (
	"regexp"
	"strings"
	"testing"
)

// python is the form of an exception's line as a regular expression: exceptionLine reads the same.
var python = regexp.MustCompile(`^((?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: ?(.*))?$`)

func FuzzExceptionLine(f *testing.F) {
	for _, s := range []string{"ValueError: x", "a.b.C", "a..b: c", "torch.OutOfMemoryError:", "KeyError:  'a'", "3x: y", "x y: z", ".a", "a.", "", ":", "a.1b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\n") {
			return // lines hold none
		}
		name, message, ok := exceptionLine(s)
		m := python.FindStringSubmatch(s)
		switch {
		case ok != (m != nil):
			t.Fatalf("%q is an exception: %v, want %v", s, ok, m != nil)
		case ok && (name != m[1] || message != m[2]):
			t.Fatalf("%q is %q and %q, want %q and %q", s, name, message, m[1], m[2])
		}
	})
}

func TestLinesOfOneRoomDoNotOverwriteEachOther(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		text.WriteString(strings.Repeat(string(rune('a'+i%26)), i%300) + "\n")
	}
	s := newScanner(strings.NewReader(text.String()), nil)
	var all []string
	for s.next() {
		all = append(all, s.line()[0].Text)
	}
	if got := strings.Join(all, "\n") + "\n"; got != text.String() {
		t.Error("the lines are not those of the text")
	}
}
