package progress_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

// A line is followed by its shape, whether or not the number that is none stands before its first letter.
func TestRecoveriesBegin(t *testing.T) {
	for name, tc := range map[string]struct {
		none, sound string
		want        bool
	}{
		"the number is first":     {"nan | loss of step 7", "2.5 | loss of step 8", true},
		"a word is":               {"loss nan | step 7", "loss 2.5 | step 8", true},
		"letters of other words":  {"loss nan | step 7", "norm 2.5 | step 8", false},
		"a word that begins so":   {"nanny inf | step 7", "nanny 1 | step 8", true},
		"other words, same begin": {"loss nan | step 7", "last 2.5 | step 8", false},
	} {
		t.Run(name, func(t *testing.T) {
			var r progress.Recoveries
			key := r.Follow(tc.none)
			r.See(2, tc.sound)
			if got := r.After(1, key); got != tc.want {
				t.Errorf("%q takes %q back: %t, want %t", tc.sound, tc.none, got, tc.want)
			}
		})
	}
}

// So many shapes are followed. Of one more it is not known whether its number was one again.
func TestShapesThatAreFollowedAreBounded(t *testing.T) {
	line := func(i int, value string) string {
		return string([]byte{'a' + byte(i%26), 'b' + byte(i/26%25), 'c' + byte(i/650)}) + " loss " + value
	}
	for shapes, want := range map[int]bool{64: true, 65: false, 5000: false} {
		var r progress.Recoveries
		var keys []uint64
		for i := range shapes {
			keys = append(keys, r.Follow(line(i, "nan")))
		}
		for i := range shapes {
			r.See(2, line(i, "2.5"))
		}
		if first, last := r.After(1, keys[0]), r.After(1, keys[shapes-1]); !first || last != want {
			t.Errorf("of %d shapes the first is well again: %t, the last: %t; want true and %t", shapes, first, last, want)
		}
	}
}
