package fit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// TestAPausedGangSaysSoFirst: whatever room there is, no pod starts.
func TestAPausedGangSaysSoFirst(t *testing.T) {
	paused := gpus(2, "8")
	paused.Paused = true
	queued := paused
	queued.System, queued.Queue = gang.Kueue, "team-a"
	running := paused
	running.NodesOnly = true
	full := gpus(900, "8")
	full.Paused = true
	for name, tc := range map[string]struct {
		gang gang.Gang
		want string
	}{
		"there is room":               {paused, "paused: no pods will start; 2 of 2 pods fit"},
		"there is none":               {full, "paused: no pods will start; 4 of 900 pods fit"},
		"a queue holds it back":       {queued, `suspended: no pods start before queue "team-a" admits the job; not known whether 2 pods fit`},
		"its pods exist all the same": {running, "2 of 2 pods fit"},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, verdict(t.Context(), demo(), tc.gang).Headline()); diff != "" {
				t.Errorf("Headline (-want +got):\n%s", diff)
			}
		})
	}
}
