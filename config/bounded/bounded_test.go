package bounded

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestABodyEndsBehindTheBound: whatever the pieces are in which it comes, what is within the bound is read whole.
func TestABodyEndsBehindTheBound(t *testing.T) {
	const most = 1 << 20
	pieces := map[string]func(io.Reader) io.Reader{
		"as it comes": func(r io.Reader) io.Reader { return r },
		"by halves":   iotest.HalfReader,
		"with its end": func(r io.Reader) io.Reader {
			return iotest.DataErrReader(r)
		},
	}
	for size, want := range map[int]string{0: "", most: "", most + 1: "the answer has more than 1 MiB", 2 * most: "the answer has more than 1 MiB"} {
		for name, of := range pieces {
			b := Body(io.NopCloser(of(strings.NewReader(strings.Repeat("x", size)))), most, "the answer")
			text, err := io.ReadAll(b)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != want || len(text) != min(size, most) {
				t.Errorf("%d bytes %s: %d read, %q; want %d, %q", size, name, len(text), got, min(size, most), want)
			}
			if _, err := b.Read(make([]byte, 1)); want != "" && (err == nil || err.Error() != want) {
				t.Errorf("%d bytes %s, read on: %v; want %q", size, name, err, want)
			}
		}
	}
}
