package fit_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestTheLargestGangThatTheQuotasLeaveRoomFor(t *testing.T) {
	workers := func(n int, queue string, system gang.QueueSystem) gang.Gang {
		g := queued(system, queue, gangOf(group("Master", 1, build.Requests("cpu=1")), group("Worker", n, build.Asks("8"))))
		g.Groups[0].Single = true
		return g
	}
	eight := build.Nodes(8, "h100", build.GPUs(8))
	cases := map[string]struct {
		objects string
		nodes   []build.Item
		gang    gang.Gang
		want    string // the first change
	}{
		"a ResourceQuota, with what is used of it": {
			gpuQuota, eight, workers(4, "", ""),
			"fits with 1 Worker instead of 4, which is within ResourceQuota ml/gpu (1 Master + 1 Worker on 1 node)",
		},
		"a ResourceQuota that leaves nothing for the smallest gang": {
			quotaOf("requests.nvidia.com/gpu: 4", "requests.nvidia.com/gpu: 0", ""), eight, workers(4, "", ""), "",
		},
		"two quotas at once, the tighter one decides": {
			gpuQuota + "\n---\n" + quotaOf("pods: 4", "pods: 0", ""), eight, workers(7, "", ""),
			"fits with 1 Worker instead of 7, which is within ResourceQuota ml/gpu and ResourceQuota ml/q (1 Master + 1 Worker on 1 node)",
		},
		"the quota leaves more than the nodes do": {
			quotaOf("pods: 6", "pods: 0", ""), eight[:3], workers(7, "", ""),
			"fits with 3 Workers instead of 7, which is within ResourceQuota ml/q (1 Master + 3 Workers on 3 nodes)",
		},
		"a ClusterQueue of Kueue": {
			localQ("") + clusterQ("cq", "", "h100=24", "h100=8"), eight, queued(gang.Kueue, "team", gangOf(group("Worker", 4, build.Asks("8")))),
			"fits with 2 Workers instead of 4, which is within ClusterQueue cq (2 Workers on 2 nodes)",
		},
		"a ClusterQueue of Kueue whose flavor says on which nodes": {
			localQ("") + clusterQ("cq", "", "h100=24", "h100=8") + "\n---\napiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: h100}\nspec: {nodeLabels: {pool: h100}}",
			build.Nodes(8, "h100", build.GPUs(8), build.Label("pool", "h100")), queued(gang.Kueue, "team", gangOf(group("Worker", 4, build.Asks("8")))),
			"fits with 2 Workers instead of 4, which is within ClusterQueue cq (2 Workers on 2 nodes)",
		},
		"a queue of Volcano": {
			"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: team}\nspec: {capability: {nvidia.com/gpu: 24}}\nstatus: {state: Open}",
			eight, workers(4, "team", gang.Volcano),
			"fits with 3 Workers instead of 4, which is within Queue team (1 Master + 3 Workers on 3 nodes)",
		},
		"a queue that is closed as well: fewer pods do not help": {
			"apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: team}\nspec: {capability: {nvidia.com/gpu: 24}}\nstatus: {state: Closed}",
			eight, workers(4, "team", gang.Volcano), "",
		},
		"whether the quota counts the pods is not certain": {
			quotaOf("pods: 2", "pods: 0", ", scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: Exists}]}") + "\n---\n" + gpuQuota, eight, workers(4, "", ""), "",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := ruled(t, tc.objects, nil, tc.nodes)
			got := whatif.Answer(t.Context(), s, tc.gang)
			if len(got.Violations) == 0 {
				t.Fatalf("no limit stops the gang: %s", got)
			}
			if diff := cmp.Diff(tc.want, got.Change); diff != "" {
				t.Errorf("change (-want +got):\n%s\n%s", diff, got)
			}
		})
	}
}

func TestAChangeSaysWhatItDoesNotCure(t *testing.T) {
	three := build.Nodes(3, "h100", build.GPUs(8))
	cases := map[string]struct {
		objects string
		want    []string
	}{
		"a quota with room for what the nodes take": {
			quotaOf("requests.nvidia.com/gpu: 64", "requests.nvidia.com/gpu: 0", ""),
			[]string{"fits with 3 Workers instead of 4 (3 Workers on 3 nodes)"},
		},
		"a quota that leaves nothing for the smallest gang": {
			quotaOf("requests.nvidia.com/gpu: 4", "requests.nvidia.com/gpu: 0", ""),
			[]string{"fits with 3 Workers instead of 4 (3 Workers on 3 nodes), but ResourceQuota ml/q stops it"},
		},
		"a quota tighter than the nodes": {
			quotaOf("requests.nvidia.com/gpu: 16", "requests.nvidia.com/gpu: 0", ""),
			[]string{
				"fits with 2 Workers instead of 4, which is within ResourceQuota ml/q (2 Workers on 2 nodes)",
				"fits with 3 Workers instead of 4 (3 Workers on 3 nodes), but ResourceQuota ml/q stops it",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), ruled(t, tc.objects, nil, three), queued("", "", gangOf(group("Worker", 4, build.Asks("8")))))
			if diff := cmp.Diff(tc.want, got.Changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s\n%s", diff, got)
			}
		})
	}
}
