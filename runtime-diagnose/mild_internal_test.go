package diagnose

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
