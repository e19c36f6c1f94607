package report

import (
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

func TestSentencesAboutOnePodCountOnePod(t *testing.T) {
	for n, want := range map[[2]int]string{{0, 1}: "is", {1, 1}: "is", {0, 2}: "are", {1, 2}: "is", {2, 2}: "are"} {
		if got := words.IsOf(n[0], n[1]); got != want {
			t.Errorf("%d of %d %s, want %s", n[0], n[1], got, want)
		}
	}
}

func TestTheFitContinuesTheSentence(t *testing.T) {
	never := fit.Result{Verdict: fit.TooBig, PodTooBig: true, Wanted: 1}
	if got, want := "1 waits"+unplaced(never, 0), "1 waits; the pod does not fit."; got != want {
		t.Errorf("unplaced gives %q, want %q", got, want)
	}
}
