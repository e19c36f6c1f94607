package diagnose

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/logscan"
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

// TestTheEndOfALogIsItsLastBytes: of short lines more are shown than are kept of a log, and none of its head.
func TestTheEndOfALogIsItsLastBytes(t *testing.T) {
	var text strings.Builder
	for i := range 700 {
		fmt.Fprintf(&text, "widget %03d rotated by %03d degrees\n", i, i*7%360) // 34 bytes
	}
	source := evidence.Source{Pod: "train-worker-0", Container: "app"}
	log := Log{Source: source, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text.String())), nil }}
	kept, err := reduce.Read(strings.NewReader(text.String()), reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := &diagnosis{Case: Case{Logs: []Log{log}}}
	d.logs = logscan.Logs{Excerpts: []Excerpt{{Source: source, Lines: kept.Lines}}}
	end := d.ending(t.Context(), source).Lines
	if len(end) != endOf/34 || end[0].Number != 700-endOf/34+1 || end[len(end)-1].Number != 700 {
		t.Errorf("%d lines, want the last %d", len(end), endOf/34)
	}
}
