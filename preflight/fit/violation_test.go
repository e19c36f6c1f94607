package fit_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

const gpuQuota = `
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpu, namespace: ml}
spec: {hard: {requests.nvidia.com/gpu: 16}}
status: {hard: {requests.nvidia.com/gpu: 16}, used: {requests.nvidia.com/gpu: 4}}`

func TestTheThreeAreNeverMixedUp(t *testing.T) {
	four := build.Nodes(4, "h100", build.GPUs(8))
	busy := build.Pod("x", build.On("h100-1"), build.Asks("8"))
	cases := map[string]struct {
		on           *cluster.Snapshot
		gang         gang.Gang
		answer, want string
		waits        bool
	}{
		"the nodes and the quota take it": {
			ruled(t, gpuQuota, nil, four), in("ml", gpus(1, "8")), "fits", "the pod fits: 1 Worker on 1 node", false,
		},
		"the nodes take it, the quota never": {
			ruled(t, gpuQuota, nil, four), in("ml", gpus(3, "8")), "over-quota",
			"more than the ResourceQuota allows; the nodes would take 3 of 3 pods: ResourceQuota ml/gpu: 3 Workers ask for 24 requests.nvidia.com/gpu; the hard limit is 16", false,
		},
		"the nodes take it, the quota not now": {
			ruled(t, gpuQuota, nil, four), in("ml", gpus(2, "8")), "over-quota",
			"more than is left of the ResourceQuota now; the nodes would take 2 of 2 pods: ResourceQuota ml/gpu: the job asks for 16 requests.nvidia.com/gpu beside 4 in use; the hard limit is 16", true,
		},
		"the nodes are busy, the quota is patient": {
			ruled(t, gpuQuota, nil, build.Nodes(1, "h100", build.GPUs(8)), busy), in("ml", gpus(1, "8")), "full",
			"the pod does not fit now: it asks for 8 nvidia.com/gpu, but none is free on the 1 node it may use; 1 node full", true,
		},
		"the nodes are busy, and the quota never takes it": {
			ruled(t, gpuQuota, nil, four, busy), in("ml", gpus(4, "8")), "over-quota",
			"more than the ResourceQuota allows; 3 of 4 pods fit now: ResourceQuota ml/gpu: 4 Workers ask for 32 requests.nvidia.com/gpu; the hard limit is 16; they ask for 32 nvidia.com/gpu, but only 24 are free on the 4 nodes they may use; 1 node full", false,
		},
		"the nodes never take it, the quota not now": {
			ruled(t, gpuQuota, nil, build.Nodes(1, "h100", build.GPUs(8))), in("ml", gpus(2, "8")), "too-big",
			"1 of 2 pods fit: they ask for 16 nvidia.com/gpu, but the 1 node they may use has 8 even idle", false,
		},
		"the quota is that of another namespace": {
			ruled(t, gpuQuota, nil, four), in("web", gpus(3, "8")), "fits", "3 of 3 pods fit: 3 Workers on 3 nodes", false,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), tc.on, tc.gang)
			if diff := cmp.Diff(tc.answer+": "+tc.want, r.Answer()+": "+r.String()); diff != "" {
				t.Errorf("Fit (-want +got):\n%s", diff)
			}
			if r.WaitsForOthers != tc.waits {
				t.Errorf("waits for others: %t, want %t", r.WaitsForOthers, tc.waits)
			}
		})
	}
}

func TestALimitIsInEveryShapeOfTheAnswer(t *testing.T) {
	r := whatif.Answer(t.Context(), ruled(t, gpuQuota, nil, build.Nodes(4, "h100", build.GPUs(8))), in("ml", gpus(3, "8")))
	want := []quota.Violation{{
		Rule: quota.RuleQuota, When: quota.Never, Kind: "ResourceQuota", Namespace: "ml", Name: "gpu",
		Resource: "requests.nvidia.com/gpu", Asked: 24, Used: 4, Hard: 16,
		Path: `spec.hard["requests.nvidia.com/gpu"]`, At: "spec.roles.Worker.replicas",
		Message: "3 Workers ask for 24 requests.nvidia.com/gpu; the hard limit is 16",
	}}
	if diff := cmp.Diff(want, r.Violations); diff != "" {
		t.Errorf("Limits (-want +got):\n%s", diff)
	}
	if r.Verdict != fit.Fits || len(r.Plan) != 3 {
		t.Errorf("the verdict about the nodes is %s with %d placements; want fits with 3", r.Verdict, len(r.Plan))
	}
	if lines := strings.Join(r.Lines(), "\n"); !strings.Contains(lines, "\n  limit    ResourceQuota ml/gpu: 3 Workers ask for 24 requests") {
		t.Errorf("no limit in the lines:\n%s", lines)
	}
}

func TestNodesOnlyAsksNobodyElse(t *testing.T) {
	g := in("ml", gpus(3, "8"))
	g.NodesOnly = true
	if r := whatif.Answer(t.Context(), ruled(t, gpuQuota, nil, build.Nodes(4, "h100", build.GPUs(8))), g); r.Held() || r.Answer() != "fits" {
		t.Errorf("%s with %v; want fits and no limits", r.Answer(), r.Violations)
	}
}
