package diagnose_test

import (
	"os"
	"testing"

	"github.com/signalbox-dev/signalbox/test/corpus/score"
)

// floors are a bit below what is reached, in percent. A change that falls below one explains
// itself or is no improvement. `make corpus` prints the table.
var floors = score.Goals{Cause: 96, Line: 93, Mistaken: 2}

func TestCorpus(t *testing.T) {
	dir := score.Dir(os.Getenv("SIGNALBOX_CORPUS"), "../../shared/corpus/dev", "../test/corpus/logs")
	if dir == "" {
		t.Skip("no corpus here")
	}
	cases, err := score.All(t.Context(), catalog(t), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("misses (cause, line):\n%s\n%s", score.Misses(cases), score.Table(cases))
	_, all := score.Counts(cases)
	for _, missed := range floors.Missed(all) {
		t.Error(missed)
	}
}
