package keep

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What was survived as often as windows are kept of it may end the program at last, far above the end of its log.
func TestTheLastOfWhatIsSaidOftenIsKept(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const top = "Traceback (most recent call last):\n  File \"train.py\", line 7, in <module>\n    go()\n"
	for name, said := range map[string]string{
		"a line":      "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate %d.00 GiB\n",
		"a traceback": top + "app.Unruly: batch %d\n",
	} {
		for _, times := range []int{mostPerSign - 1, mostPerSign, mostPerSign + 1, 200} {
			t.Run(fmt.Sprintf("%s/%d times", name, times), func(t *testing.T) {
				var b strings.Builder
				for i := range times + 1 {
					fmt.Fprintf(&b, said, i)
					for step := range 100 {
						fmt.Fprintf(&b, "working on %d of batch %d, which takes a while\n", step, i)
					}
				}
				e, err := Take(strings.NewReader(b.String()), catalog, Budget)
				if err != nil {
					t.Fatal(err)
				}
				last := strings.TrimSpace(said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:])
				for budget, e := range map[int]Excerpt{Budget: e, 4 << 10: e.Within(4 << 10), 1 << 10: e.Within(1 << 10)} {
					if want := fmt.Sprintf(last, times); !bytes.Contains(e.text(), []byte(want)) {
						t.Errorf("%q is not kept in %d bytes", want, budget)
					}
				}
				if n := len(e.text()); n > Budget {
					t.Errorf("%d bytes", n)
				}
			})
		}
	}
}

// Of many such signatures the latest are kept.
func TestTheLatestOfManyAreKept(t *testing.T) {
	var b strings.Builder
	kinds := mostLast + 1
	for i := range (mostPerSign + 1) * kinds {
		fmt.Fprintf(&b, "Traceback (most recent call last):\n  File \"train.py\", line 7, in <module>\n    go()\napp.Error%s: %d\n", string(rune('A'+i%kinds)), i)
		b.WriteString(strings.Repeat("working on it, which takes a while\n", 60))
	}
	e := excerpt(b.String())
	if want := fmt.Sprintf(": %d\n", (mostPerSign+1)*kinds-1); !bytes.Contains(e.text(), []byte(want)) {
		t.Errorf("%q is not kept", want)
	}
	if n := len(e.Hits); n > mostHits+mostLast {
		t.Errorf("%d hits", n)
	}
}
