package fit_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
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
		"neither a toleration nor fewer pods alone": {
			pools(), gangOf(group("Worker", 6, build.Asks("4"), build.Requests("cpu=60"), selects("pool", "l40s"))),
			[]string{"fits with a toleration of the taint gpu=l40s:NoSchedule, and 4 Workers instead of 6 (4 Workers on 4 nodes)"},
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

func TestWhatWouldFitOnIdleNodes(t *testing.T) {
	halfFull := func(o ...build.NodeOption) *cluster.Snapshot {
		return clusterOf(build.Nodes(2, "a", append(o, build.GPUs(8))...), build.Pod("p", build.On("a-1"), build.Asks("4")), build.Pod("q", build.On("a-2"), build.Asks("4")))
	}
	taint := build.Taint("gpu=l40s:NoSchedule")
	for name, tc := range map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string
	}{
		"fewer":                           {halfFull(), gangOf(group("Worker", 3, build.Asks("8"))), "on idle nodes it fits with 2 Workers instead of 3"},
		"a toleration":                    {halfFull(taint), gangOf(group("Worker", 2, build.Asks("8"))), "on idle nodes it fits with a toleration of the taint gpu=l40s:NoSchedule"},
		"both":                            {halfFull(taint), gangOf(group("Worker", 3, build.Asks("8"))), "on idle nodes it fits with a toleration of the taint gpu=l40s:NoSchedule, and 2 Workers instead of 3"},
		"all of it, so nothing is said":   {halfFull(), gangOf(group("Worker", 2, build.Asks("8"))), ""},
		"none of it":                      {halfFull(), gangOf(group("Worker", 3, build.Asks("9"))), ""},
		"a change helps now":              {halfFull(), gangOf(group("Worker", 5, build.Asks("4"))), ""},
		"what cannot be told is not said": {clusterOf(build.Nodes(2, "a", build.GPUs(8))), gangOf(group("Worker", 1, build.Asks("1"), mounts("nowhere"))), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if r := whatif.Answer(t.Context(), tc.on, tc.gang); r.Idle != tc.want {
				t.Errorf("%v: %q; want %q (changes %q)", r.Verdict, r.Idle, tc.want, r.Changes)
			}
		})
	}
}

// What is proven of idle nodes is what the fit says of the same nodes without pods.
func TestFitsIdleIsAFitWithoutPods(t *testing.T) {
	proven := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 11))
		var nodes, all []any
		for i := range 3 + r.IntN(6) {
			name := fmt.Sprintf("n%02d", i)
			nodes = append(nodes, build.Node(name, build.GPUs(8), build.Label("zone", fmt.Sprint(i%2))))
			for j := range r.IntN(4) {
				all = append(all, build.Pod(fmt.Sprintf("p%s-%d", name, j), build.On(name), build.Asks(fmt.Sprint(1+r.IntN(2)))))
			}
		}
		g := gangOf(
			group("a", 1+r.IntN(6), build.Asks(fmt.Sprint(1+r.IntN(8))), role("a"), even("zone", "a", int32(1+r.IntN(2)))),
			group("b", 1+r.IntN(6), build.Asks(fmt.Sprint(1+r.IntN(8))), role("b"), apartOver(corev1.LabelHostname, []string{"a", "b"}[r.IntN(2)])),
		)
		busy := clusterOf(append(all, nodes...)...)
		idle := fit.FitsIdle(assign.NewSolver(busy, g, assign.NewCycle(busy, g, fit.NewBudget(fit.Steps))))
		if !idle {
			continue
		}
		proven++
		if now := whatif.Answer(t.Context(), clusterOf(append([]any{build.Pod("other", build.In("x"), build.On("n00"), build.Requests("cpu=1m"))}, nodes...)...), g); now.Verdict != fit.Fits {
			t.Errorf("seed %d: proven to fit on idle nodes, and on nodes without pods: %s", seed, now)
		}
	}
	if proven < 30 {
		t.Errorf("only %d of 300 gangs fit on idle nodes: the test proves little", proven)
	}
}
