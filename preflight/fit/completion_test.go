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

func TestWhichRunningJobsHaveToEnd(t *testing.T) {
	of := func(job, node, gpus string) *corev1.Pod {
		return build.Pod(job+"-"+node, build.On(node), build.In("ml"), build.Asks(gpus), build.PodLabel("training.kubeflow.org/job-name", job))
	}
	nodes := build.Nodes(4, "a", build.GPUs(8))
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string
	}{
		"the smaller of two jobs is enough": {
			clusterOf(nodes, of("large", "a-1", "8"), of("large", "a-2", "8"), of("small", "a-3", "8")), gpus(2, "8"),
			"fits once the job ml/small ends (2 Workers on 2 nodes)",
		},
		"only the larger one is": {
			clusterOf(nodes, of("large", "a-1", "8"), of("large", "a-2", "8"), of("small", "a-3", "8"), of("other", "a-4", "8")), gpus(2, "8"),
			"fits once the job ml/large ends (2 Workers on 2 nodes)",
		},
		"two of three": {
			clusterOf(nodes, of("x", "a-1", "8"), of("y", "a-2", "7"), of("z", "a-3", "6")), gpus(3, "8"),
			"fits once the jobs ml/y and ml/z end (3 Workers on 3 nodes)",
		},
		"a service does not end": {
			clusterOf(nodes[:1], build.Pod("web", build.On("a-1"), build.Asks("1"))), gpus(1, "8"), "",
		},
		"too big for the cluster without anybody": {
			clusterOf(nodes, of("x", "a-1", "8")), gpus(5, "8"), "",
		},
		"another of the same name": {
			clusterOf(nodes[:1], of("train", "a-1", "8")), called("ml", "train", gpus(1, "8")),
			"fits once the job ml/train (another of this name) ends (1 Worker on 1 node)",
		},
		"the same name in another namespace": {
			clusterOf(nodes[:1], of("train", "a-1", "8")), called("other", "train", gpus(1, "8")),
			"fits once the job ml/train ends (1 Worker on 1 node)",
		},
		"it fits as it is": {clusterOf(nodes, of("x", "a-1", "8")), gpus(3, "8"), ""},
		"a spread over what others filled": {
			threeZones(build.Pod("w", build.On("a0"), build.Asks("8"), build.PodLabel("job-name", "first"))),
			gangOf(group("Worker", 4, build.Asks("8"), role("w"), even("zone", "w", 1))),
			"fits once the job default/first ends (4 Workers on 4 nodes)",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, whatif.Completions(t.Context(), tc.on, tc.gang, whatif.Answer(t.Context(), tc.on, tc.gang), nil)); diff != "" {
				t.Errorf("Departures (-want +got):\n%s", diff)
			}
		})
	}
}

// called gives a gang the name of its job.
func called(namespace, name string, g gang.Gang) gang.Gang {
	g.Namespace, g.Name = namespace, name
	return g
}

func TestPodsOfTheGangItselfDoNotHaveToEnd(t *testing.T) {
	g, running := sixOf(4, build.PodLabel("job-name", "train"))
	s := clusterOf(append(running, build.Nodes(6, "a", build.GPUs(8)), build.Pod("x", build.On("a-5"), build.Asks("3"), build.PodLabel("job-name", "x")),
		build.Pod("y", build.On("a-6"), build.Asks("5"), build.PodLabel("job-name", "y")))...)
	const want = "fits once the jobs default/x and default/y end (1 Master + 5 Workers on 6 nodes)"
	if diff := cmp.Diff(want, whatif.Completions(t.Context(), s, g, whatif.Answer(t.Context(), s, g), nil)); diff != "" {
		t.Errorf("Departures (-want +got):\n%s", diff)
	}
}
