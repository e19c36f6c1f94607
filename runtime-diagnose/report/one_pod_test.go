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
	if got, want := "1 waits"+unplaced(never, 0, ""), "1 waits; the pod does not fit."; got != want {
		t.Errorf("unplaced gives %q, want %q", got, want)
	}
}

func TestWhatPodsAskForIsToldOnce(t *testing.T) {
	const gpus = "8 nvidia.com/gpu"
	for why, want := range map[string]string{
		"the 2 pods that wait ask for 8 nvidia.com/gpu each, but no node has more than 5 free (8 in all)": "no node has more than 5 free (8 in all)",
		"it asks for 8 nvidia.com/gpu, but no node has more than 5 free (8 in all)":                       "no node has more than 5 free (8 in all)",
		"they ask for 48 nvidia.com/gpu, but only 8 are free on the 6 nodes they may use":                 "they ask for 48 nvidia.com/gpu, but only 8 are free on the 6 nodes they may use",
		"no node may take it": "no node may take it",
	} {
		if got := untold(why, gpus); got != want {
			t.Errorf("after %q: %q, want %q", gpus, got, want)
		}
		if got := untold(why, ""); got != why {
			t.Errorf("after nothing: %q, want %q", got, why)
		}
	}
}
