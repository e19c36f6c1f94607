package diagnose

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
)

func TestTheEndOfALogInBytes(t *testing.T) {
	line := func(n int) reduce.Kept { return reduce.Kept{Text: strings.Repeat("x", n-1)} } // and its end
	for name, tc := range map[string]struct {
		lines []reduce.Kept
		want  int
	}{
		"nothing":                  {nil, 0},
		"as many as there is room": {[]reduce.Kept{line(96), line(2000), line(2000)}, 3},
		"one byte above":           {[]reduce.Kept{line(97), line(2000), line(2000)}, 2},
		"one line above all":       {[]reduce.Kept{line(10), line(endOf + 1)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lastBytes(tc.lines, endOf); len(got) != tc.want {
				t.Errorf("%d lines, want %d", len(got), tc.want)
			}
		})
	}
}
