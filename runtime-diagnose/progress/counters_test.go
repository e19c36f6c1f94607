package progress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

// A number that grows in lines of one shape is progress, whatever the words are; lists are none.
func TestCountersFindProgressInUnknownWords(t *testing.T) {
	lines := func(n int, form func(i int) string) []string {
		var out []string
		for i := range n {
			out = append(out, form(i))
		}
		return out
	}
	cases := map[string]struct {
		log  []string
		want bool
	}{
		"compact metrics":     {lines(8, func(i int) string { return fmt.Sprintf("s:%d trl:%.2f", 100+i*10, 3-float64(i)/10) }), true},
		"epoch and step":      {lines(9, func(i int) string { return fmt.Sprintf("e:%d s:%d trl:2.1", i/3, i%3) }), true},
		"returns of episodes": {lines(8, func(i int) string { return fmt.Sprintf("episode %d return %d", i, 200-i) }), true},
		"tasks behind a date": {lines(8, func(i int) string {
			return fmt.Sprintf("26/03/01 10:00:%02d INFO Finished task %d.0 (TID %d) in 300 ms", i, i, i)
		}), true},
		"too few":                       {lines(6, func(i int) string { return fmt.Sprintf("s:%d trl:2", i) }), false},
		"a number that comes and goes":  {lines(20, func(i int) string { return fmt.Sprintf("queue %d of 3 waiting", i%2) }), false},
		"ranks with nothing beside":     {lines(16, func(i int) string { return fmt.Sprintf("rank %d starts", i) }), false},
		"addresses of frames":           {lines(16, func(i int) string { return fmt.Sprintf("frame #%d: abort + 0x%x", i, i*64) }), false},
		"only times":                    {lines(16, func(i int) string { return fmt.Sprintf("10:00:%02d waiting 3", i) }), false},
		"seconds since the epoch":       {lines(16, func(i int) string { return fmt.Sprintf("t=17720000%02d waiting for peer 3", i) }), false},
		"counting that ended long ago":  {append(lines(8, func(i int) string { return fmt.Sprintf("s:%d trl:2", i) }), strings.Split(strings.Repeat("waiting\n", 60), "\n")...), false},
		"nothing":                       {nil, false},
		"more shapes than are followed": {lines(400, func(i int) string { return fmt.Sprintf("%s %d 1", strings.Repeat(string(rune('a'+i%26)), i%40+1), i) }), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var c progress.Counters
			for i, line := range tc.log {
				c.See(i+1, line)
			}
			if got := c.Advances(len(tc.log)); got != tc.want {
				t.Errorf("advances = %t, want %t", got, tc.want)
			}
		})
	}
}
