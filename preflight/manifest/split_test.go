package manifest

import (
	"strings"
	"testing"
)

// TestADocumentThatWouldFillTheMemoryIsRefused gives the splitter a smaller limit than maxDocument: one of
// 512 MiB is more than a test should hold.
func TestADocumentThatWouldFillTheMemoryIsRefused(t *testing.T) {
	const most = 1 << 20
	for _, line := range []string{strings.Repeat("x", 99) + "\n", "x"} {
		for _, more := range []int{0, 1} {
			text := "   \n" + strings.Repeat(line, most)[:most+more-len("   \n\n")] + "\n" // the marker is read as white space
			s, err := newSplitter(strings.NewReader("a: b\n---" + text[len("   "):] + "---\nc: d\n"))
			if err != nil {
				t.Fatal(err)
			}
			if s.most != maxDocument {
				t.Fatalf("a document may have %d bytes; want %d", s.most, maxDocument)
			}
			s.most = most
			if _, err := s.chunk(); err != nil {
				t.Fatal(err)
			}
			_, err = s.chunk()
			if want := "one document holds more than 1 MiB"; more == 0 && err != nil {
				t.Errorf("a document of %d bytes: %v", most, err)
			} else if more > 0 && (err == nil || err.Error() != want) {
				t.Errorf("a document of %d bytes: %v, want %s", most+more, err, want)
			}
		}
	}
}
