package recovery

import "testing"

func FuzzMayBeMild(f *testing.F) {
	for _, s := range []string{"", "W0301 x", "[W123 x", "\n\t[I1234 a.cc:3] x", "[[[W123 ", "[[[[W123 ", "a: WARN b", "x INFO y", "DEBUG", "[I301 ", "Error"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if mildLevel.MatchString(s) && !mayBeMild(s) {
			t.Fatalf("%q is mild", s)
		}
	})
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
