package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

func TestSizesAreReadByPeople(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 9_999: "9999 bytes", 10_000: "9.77 KiB", 149_330: "146 KiB", 1 << 20: "1 MiB", 10_122_667_272: "9.43 GiB", 1 << 60: "1 EiB", 1023 << 10: "0.999 MiB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestWhatAnObjectSaysIsCutOnlyBeyondAnEvent(t *testing.T) {
	for n, want := range map[int]int{longest: longest, longest + 1: longest + len("…")} {
		r := Report{Verdict: Diagnosed, Root: &Cause{Line: strings.Repeat("x", n), Cites: []evidence.ID{"event/a/FailedCreate#1"}}}
		r.Evidence = []evidence.Item{{ID: "event/a/FailedCreate#1", Kind: evidence.Event}}
		_, line, _ := strings.Cut(aroundLine(r), "  > ")
		if got := len(strings.TrimSuffix(line, "\n")); got != want {
			t.Errorf("of %d bytes of an event %d are shown; want %d", n, got, want)
		}
	}
}

// What became of the others is told of three kinds in one sentence, and the other kinds are counted.
func TestKindsOfEndsAreToldOrCounted(t *testing.T) {
	for n, want := range map[int]string{3: "1 × way 2.", 4: "1 × way 2; 1 more kind.", 60: "1 × way 2; 57 more kinds."} {
		var all []Followers
		for i := range n {
			all = append(all, Followers{Says: fmt.Sprintf("way %d", i), Places: []string{"w"}})
		}
		if got := followersSentence(all); got != " The others: 1 × way 0; 1 × way 1; "+want {
			t.Errorf("of %d kinds:%s", n, got)
		}
	}
}
