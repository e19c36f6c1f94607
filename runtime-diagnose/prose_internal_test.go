package diagnose

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// Whatever stands before it, a traceback with its heading is looked at, and nothing is taken back that
// was not found, or twice.
func FuzzProse(f *testing.F) {
	for _, seed := range []string{
		"Raises:\n  ValueError: if", "```\nKeyError: 'x'\n```", "### Instruction:\nKeyError: 'x'\n### Response:\n",
		"Known issues\n############\n\nKeyError: 'x'\n-------------\n", "  --strict  KeyError: 'x'\n", "[rank1]: [INST]\nKeyError: 'x'\n[/INST]",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text += "\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x\nKeyError: 'last'\n"
		var p prose
		found := 0
		taken := map[int]bool{}
		take := func(spoken []int) {
			for _, i := range spoken {
				if i >= found || taken[i] {
					t.Fatalf("sighting %d of %d is taken back", i, found)
				}
				taken[i] = true
			}
		}
		_, err := reduce.Read(strings.NewReader(text), reduce.Options{
			Watch:   func(l *reduce.Line) { take(p.see(l)) },
			Suspect: func(string) bool { return true },
			Visit: func(l reduce.Line) bool {
				if p.quoted(l) {
					if l.Trace != nil {
						t.Fatalf("a traceback is passed over: %q", l.Text)
					}
					return false
				}
				p.sighted(l, found, signature.Match{})
				found++
				return true
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		take(p.settle())
	})
}
