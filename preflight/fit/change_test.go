package fit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// all says of a group what a reader says of one that is not elastic.
func all(g gang.Group) gang.Group {
	g.Min = g.Count
	return g
}

func TestChangesThatWouldFit(t *testing.T) {
	pools := func(items ...any) *cluster.Snapshot {
		return clusterOf(append(items, build.Nodes(2, "h100", build.GPUs(8), build.Label("pool", "h100")),
			build.Nodes(4, "l40s", build.GPUs(4), build.Label("pool", "l40s"), build.Taint("gpu=l40s:NoSchedule")))...)
	}
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want []string
	}{
		"pods of four instead of eight, the master stays one": {
			clusterOf(build.Nodes(12, "a", build.GPUs(4))), gangOf(group("Master", 1, build.Asks("8")), group("Worker", 5, build.Asks("8"))),
			[]string{
				"fits with 4 nvidia.com/gpu per pod instead of 8 (1 Master + 5 Workers on 6 nodes)",
				"fits with 1 Master + 11 Workers of 4 nvidia.com/gpu instead of 1 Master + 5 Workers of 8 (1 Master + 11 Workers on 12 nodes)",
			},
		},
		"the other pool, behind its taint": {
			pools(), gangOf(group("Worker", 4, build.Asks("4"), build.Requests("cpu=60"), selects("pool", "h100"))),
			[]string{
				"fits with 2 Workers instead of 4 (2 Workers on 2 nodes)",
				"fits with the node selector pool=l40s instead of h100 and a toleration of the taint gpu=l40s:NoSchedule (4 Workers on 4 nodes)",
			},
		},
		"a toleration is enough": {
			pools(), gangOf(group("Worker", 4, build.Asks("4"), build.Requests("cpu=60"))),
			[]string{
				"fits with 2 Workers instead of 4 (2 Workers on 2 nodes)",
				"fits with a toleration of the taint gpu=l40s:NoSchedule (4 Workers on 4 nodes)",
			},
		},
		"CPU and memory both too large": {
			clusterOf(build.Nodes(2, "c", build.Allocatable("cpu", "23500m"), build.Allocatable("memory", "128000Mi"))),
			gangOf(group("worker", 2, build.Requests("cpu=48", "memory=200Gi"))),
			[]string{"fits with 23 cpu and 125Gi memory per pod instead of 48 and 200Gi (2 workers on 2 nodes)"},
		},
		"smaller pods are not optional ones": {
			clusterOf(build.Nodes(2, "a", build.GPUs(5))), gangOf(all(group("Worker", 2, build.Asks("8")))),
			[]string{"fits with 5 nvidia.com/gpu per pod instead of 8 (2 Workers on 2 nodes)"},
		},
		"nothing helps": {clusterOf(build.Node("a")), gangOf(group("Worker", 1, build.Asks("1"))), nil},
		"the spread is what is in the way": {
			threeZones(), gangOf(all(group("Worker", 6, build.Asks("8"), role("w"), even("zone", "w", 1)))),
			[]string{
				"fits with 5 Workers instead of 6 (5 Workers on 5 nodes)",
				"fits without the spread over zone (6 Workers on 6 nodes)",
			},
		},
		"the affinity is": {
			threeZones(), gangOf(all(group("Worker", 4, build.Asks("8"), role("w"), near("zone", "w")))),
			[]string{
				"fits with 3 Workers instead of 4 (3 Workers on 3 nodes)",
				"fits without the required pod affinity (4 Workers on 4 nodes)",
			},
		},
		"the anti-affinity is": {
			threeZones(), gangOf(all(group("Worker", 4, build.Asks("8"), role("w"), apartOver("zone", "w")))),
			[]string{
				"fits with 3 Workers instead of 4 (3 Workers on 3 nodes)",
				"fits without the required pod anti-affinity (4 Workers on 4 nodes)",
			},
		},
		"a selector and an affinity nobody matches": {
			pools(), gangOf(group("Worker", 1, build.Asks("8"), affinity(corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{expr("pool", corev1.NodeSelectorOpIn, "h200")}}))),
			[]string{"fits without the required node affinity (1 Worker on 1 node)"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), tc.on, tc.gang)
			if diff := cmp.Diff(tc.want, got.Changes); diff != "" {
				t.Errorf("Changes (-want +got):\n%s", diff)
			}
		})
	}
}
