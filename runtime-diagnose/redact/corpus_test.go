package redact_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// Of the lines of real logs nearly none is masked: what people have to read stays.
func TestOrdinaryLogsStay(t *testing.T) {
	var lines, hit int
	var examples []string
	for _, glob := range []string{"../../../shared/corpus/dev/*/*.txt", "../../../shared/corpus/dev2/*/*.txt", "../../../shared/corpus/gangs/*/*.txt"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			scanner := bufio.NewScanner(f)
			scanner.Buffer(nil, 8<<20)
			for scanner.Scan() {
				text := redact.Clean(scanner.Text())
				lines++
				if got := redact.Line(text); got != text {
					hit++
					if len(examples) < 400 {
						examples = append(examples, got)
					}
				}
			}
			f.Close()
		}
	}
	if lines == 0 {
		t.Skip("no corpus beside the repository")
	}
	t.Logf("%d of %d lines hold something that was masked (%.3f %%)", hit, lines, 100*float64(hit)/float64(lines))
	for _, e := range examples {
		t.Log(strings.ToValidUTF8(e[:min(len(e), 260)], ""))
	}
	if hit*100 > lines {
		t.Errorf("%d of %d ordinary lines are masked: more than one in a hundred", hit, lines)
	}
}
