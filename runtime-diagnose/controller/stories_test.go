package controller

import (
	"fmt"
	"testing"

	"github.com/signalbox-dev/signalbox/test/fakellm"
)

// The model is asked once about each of the last findings of a job. Of one whose finding changes more often none is remembered,
// and what it was asked before the last it is asked again.
func TestFindingsThatAModelWasAskedAboutAreBounded(t *testing.T) {
	for findings, again := range map[int]int{15: 0, 16: 0, 17: 1} {
		w := newWorld(t)
		server := w.model(fakellm.Grounded)
		w.condition("Failed", "PyTorchJobFailed")
		w.pod("master", oomKilled)
		ask := func(i int) {
			w.annotate(Ask, fmt.Sprint(i))
			for range 3 {
				w.pass(renewEvery)
				w.reconcile()
			}
			for w.Tell.queue.count() > 0 {
				w.tell()
			}
		}
		for i := range findings {
			ask(i)
		}
		if n := len(server.Requests()); n != findings {
			t.Fatalf("%d questions about %d findings", n, findings)
		}
		if n := len(w.memory.of("job-1", key).stories); n > 16 {
			t.Errorf("of %d findings %d are remembered", findings, n)
		}
		ask(1)
		if n := len(server.Requests()) - findings; n != again {
			t.Errorf("of %d findings the second is asked about again %d times, want %d", findings, n, again)
		}
	}
}
