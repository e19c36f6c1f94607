package diagnose

import "testing"

func TestSentencesAboutOnePodCountOnePod(t *testing.T) {
	for n, want := range map[[2]int]string{{0, 1}: "is", {1, 1}: "is", {0, 2}: "are", {1, 2}: "is", {2, 2}: "are"} {
		if got := isAreOf(n[0], n[1]); got != want {
			t.Errorf("%d of %d %s, want %s", n[0], n[1], got, want)
		}
	}
}
