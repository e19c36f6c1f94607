package kinds

import (
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestRolesOfMorePartsThanAreToldApart(t *testing.T) {
	for parts, want := range map[int]int{-1: 0, 0: 0, 1: 1, mostParts: mostParts, mostParts + 1: 0} {
		got := 0
		if p := partsOf(&job.Job{}, "label", "annotation", "w-", parts); p != nil {
			got = len(p.Values)
		}
		if got != want {
			t.Errorf("%d parts: %d are told apart, want %d", parts, got, want)
		}
	}
}
