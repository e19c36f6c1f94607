package quota_test

import (
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

// A gang gets the nodes of the first flavor whose quota holds it, and keeps all nodes where it has been admitted, or never is.
func TestAGangGetsTheNodesOfItsFlavor(t *testing.T) {
	racks := build.ResourceFlavor("h100", "nodeLabels: {gpu: h100}") + build.ResourceFlavor("a100", "nodeLabels: {gpu: a100}, tolerations: [{key: old, operator: Exists}]")
	workers := build.Queued(gang.Kueue, "team", build.Workers(2, "8"))
	admitted, only := workers, workers
	admitted.Exists, only.NodesOnly = true, true
	suspended := admitted
	suspended.Paused = true
	for name, tc := range map[string]struct {
		flavors, used string
		gang          gang.Gang
		want          string
	}{
		"the first one":                 {"h100=16 a100=16", "", workers, "h100"},
		"the first one with room":       {"h100=16 a100=16", "h100=8", workers, "a100"},
		"none has room now":             {"h100=16 a100=8", "h100=8", workers, "h100"},
		"none ever has":                 {"h100=8 a100=8", "", workers, ""},
		"suspended":                     {"h100=16", "", suspended, "h100"},
		"admitted":                      {"h100=16", "h100=16", admitted, ""},
		"pods that are there":           {"h100=16", "", only, ""},
		"a flavor that does not exist":  {"b200=16", "", workers, ""},
		"its own selector comes before": {"h100=16 a100=16", "", build.Queued(gang.Kueue, "team", build.Gang(build.Group("Worker", 2, build.Asks("8"), build.Selects("gpu", "a100")))), "a100"},
	} {
		t.Run(name, func(t *testing.T) {
			view := build.View(t, build.LocalQueue("")+build.ClusterQueue("cq", "", tc.flavors, tc.used)+racks, build.Kueue(), build.Nodes(2, "a", build.GPUs(8)))
			g := quota.OnNodesOfQueue(view, tc.gang).Groups[0]
			got := ""
			if len(g.Flavors) > 0 {
				got = g.Flavors[0]
			}
			if got != tc.want || g.Untied != "" {
				t.Errorf("flavor %q, %q; want %q", got, g.Untied, tc.want)
			}
			if tolerates := len(g.Pod.Spec.Tolerations) > 0; tolerates != (tc.want == "a100") {
				t.Errorf("tolerations %v", g.Pod.Spec.Tolerations)
			}
		})
	}
}
