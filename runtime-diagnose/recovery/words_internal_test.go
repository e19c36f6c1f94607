package recovery

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// wholeMildLevel is what mildLevel reads, in one expression.
var wholeMildLevel = regexp.MustCompile(`^\[NeMo [WID] |^\[[\d :.-]{10,30}: [WID] |^[\[\s]{0,3}[WI](?: ?\| ?\d\d|\d{3,4} | \S+\.(?:cc|cpp|cu|py):\d+\] |\d* ?\w+\.(?:cpp|cc|cu):\d+\])|^(?:[^\s:]{1,40}[\s:|-]+){0,6}?\W?(?:WARN(?:ING)?|INFO|DEBUG)\b|^(?:\[[^\]]{1,60}\]){1,4} ?\[(?:WARN(?:ING)?|INFO|DEBUG)\]`)

func FuzzMildLevel(f *testing.F) {
	for _, s := range []string{"", "W0301 x", "[W123 x", "\n\t[I1234 a.cc:3] x", "[[[W123 ", "[[[[W123 ", "a: WARN b", "x INFO y", "DEBUG", "[I301 ", "Error", "[a][b] [INFO] c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := mildLevel(s), wholeMildLevel.MatchString(s); got != want {
			t.Fatalf("%q has a level below an error: %t, want %t", s, got, want)
		}
	})
}

// Whatever fields stand before a level, as many as there may be and one more, as long as they may be and longer.
func TestMildLevelBehindFields(t *testing.T) {
	parts := []string{
		" ", "  ", ":", "|", "-", " - ", "\t", "\v", "\f", ": ", "a", "b-c", "2024-01-02", "19:21:02,241", "[rank0]", "é", "\xff", "x|y", "_", "[", "(", "WARN", "WARNING", "INFO", "DEBUG", "WARNINGS",
		strings.Repeat("f", longestField-1), strings.Repeat("f", longestField), strings.Repeat("f", longestField+1), strings.Repeat("é", longestField), strings.Repeat("g-", longestField/2), strings.Repeat("-", longestField+3),
	}
	r, mild := rand.New(rand.NewPCG(1, 2)), 0
	for range 30_000 {
		s := ""
		for range r.IntN(4 * mostFields) {
			s += parts[r.IntN(len(parts))]
		}
		s += "INFO"
		got, want := mildLevel(s), wholeMildLevel.MatchString(s)
		if got != want {
			t.Fatalf("%q has a level below an error: %t, want %t", s, got, want)
		}
		if got {
			mild++
		}
	}
	if mild < 3_000 {
		t.Errorf("%d have one; more are wanted", mild)
	}
	for fields, want := range map[int]bool{mostFields: true, mostFields + 1: false} {
		if s := strings.Repeat("field ", fields) + "INFO"; mildLevel(s) != want {
			t.Errorf("behind %d fields, a level is read: %t, want %t", fields, !want, want)
		}
	}
}

func FuzzTriesAgain(f *testing.F) {
	for _, s := range []string{"", "retrying (1/5)", "x.retry", "Re-Try", "_retry", "attempt 1 of 3", "falling back to CPU", "Max retries exceeded", "ſkipping", "still trying", "try again", "pretty again", "Ignored: 3", "failed to allocate 2.0G (2147483648 bytes) from device", "reattempts", "-skipped"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := TriesAgain(s), goesOn.MatchString(s); got != want {
			t.Fatalf("%q is tried again: %v, want %v", s, got, want)
		}
	})
}

// That something terminated, and when, is said of every run; that it is over is not.
func TestWhenARunTerminatedIsNoBadEnd(t *testing.T) {
	for text, bad := range map[string]bool{
		"MLatom terminated on 28.02.2022 at 13:48:32":                                false,
		"Job terminated of its own accord at 2025-01-21T13:48:18Z with exit-code 0.": false,
		"Terminated at Fri Apr 25 11:32:20 2025":                                     false,
		"Terminated":                                                                 true,
		"Job 17 was terminated at the limit of its queue":                            true,
		"2026-03-01 10:00:00 worker terminated on signal 9":                          true,
		"Terminated at Fri Apr 25 11:32:20 2025, killed by its owner":                true,
	} {
		if got := EndsBadly(text); got != bad {
			t.Errorf("%q ends badly: %t, want %t", text, got, bad)
		}
	}
}

// What is denied complains of nothing; what is there does.
func TestWithoutCountsLeavesWhatComplains(t *testing.T) {
	for text, want := range map[string]bool{
		"Launcher: Done. Job exited without errors":     false,
		"Finished meshing without any errors":           false,
		"Job exited with errors":                        true,
		"went on without the error handler that failed": true,
	} {
		if got := Wrong(WithoutCounts(text)); got != want {
			t.Errorf("%q complains: %t, want %t", text, got, want)
		}
	}
}
