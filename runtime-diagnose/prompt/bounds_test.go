package prompt

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// said is a line of a log.
func said(number int, text string) evidence.Item {
	return evidence.Item{
		ID: evidence.ID(fmt.Sprintf("pod/train-worker-0/x#%d", number)), Kind: evidence.Log, Times: 1, Text: text,
		Source: evidence.Source{Pod: "train-worker-0", Container: "x", Line: number, Rank: -1},
	}
}

// A long piece of evidence keeps its beginning and its end, and shows where it was cut.
func TestALongPieceIsCutInItsMiddle(t *testing.T) {
	c, r := oom()
	for n, cut := range map[int]bool{4096: false, 4097: true, 1 << 20: true} {
		r.Evidence = []evidence.Item{said(1, "head"+strings.Repeat(" word", n)[:n-8]+"tail")}
		text, err := Builtin(c.Kind, "").Render(Of(c, r, Room{Bytes: 1 << 21}))
		if err != nil {
			t.Fatal(err)
		}
		at := strings.Index(text, "] head")
		line, _, _ := strings.Cut(text[at+2:], "\n")
		if !strings.HasSuffix(line, "tail") || strings.Contains(line, " … ") != cut || len(line) > 4096+len(" … ") || !cut && len(line) != n {
			t.Errorf("of %d bytes %d are shown, cut: %t", n, len(line), strings.Contains(line, " … "))
		}
	}
}

// So many pieces are tried that do not fit; what stands behind them is counted with them.
func TestPiecesThatDoNotFitAreTriedUpToABoundAndCounted(t *testing.T) {
	c, _ := oom()
	for misfits, shown := range map[int]bool{63: true, 64: false, 65: false, 500: false} {
		r := diagnose.Result{Verdict: diagnose.Inconclusive, Evidence: []evidence.Item{said(1, "late")}}
		for i := range misfits {
			r.Evidence = append(r.Evidence, said(i+2, strings.Repeat("error ", 600)))
		}
		left := misfits
		if !shown {
			left++
		}
		want := fmt.Sprintf("(left out: %d lines of logs for which there is no room", left)
		if got := Of(c, r, Room{Bytes: 200}).LogInfo; strings.Contains(got, "late") != shown || !strings.Contains(got, want) {
			t.Errorf("behind %d that do not fit: %q; want %q", misfits, got, want)
		}
	}
}

// Events that no rule knows are counted where they are more than are tested.
func TestEventsThatAreNotTestedAreCounted(t *testing.T) {
	c, r := oom()
	for events, want := range map[int]string{0: "", 1: "(left out: 1 more event that no rule knows)\n", 7: "(left out: 7 more events that no rule knows)\n"} {
		r.Untested.Events = events
		if got := Of(c, r, Room{Bytes: 1 << 20}).LogInfo; !strings.HasSuffix(got, want) || events == 0 && strings.Contains(got, "left out") {
			t.Errorf("of %d: %q; want %q at the end", events, got, want)
		}
	}
}
