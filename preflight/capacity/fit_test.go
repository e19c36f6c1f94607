package capacity_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// group is a number of pods of a role.
func group(name string, count int, options ...build.PodOption) capacity.Group {
	p := build.Pod("template", options...)
	return capacity.Group{Name: name, Count: count, Pod: job.Pod{Spec: p.Spec, Labels: p.Labels}}
}

func gang(groups ...capacity.Group) capacity.Gang {
	return capacity.Gang{Name: "train", Namespace: "default", Groups: groups}
}

// gpus is a gang of equal workers.
func gpus(count int, each string) capacity.Gang {
	return gang(group("Worker", count, build.Asks(each)))
}

func selects(key, value string) build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		if s.NodeSelector == nil {
			s.NodeSelector = map[string]string{}
		}
		s.NodeSelector[key] = value
	})
}

func tolerates(key string) build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		s.Tolerations = append(s.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists})
	})
}

func cluster(items ...any) *capacity.Snapshot {
	var all []build.Item
	for _, i := range items {
		switch v := i.(type) {
		case []build.Item:
			all = append(all, v...)
		case build.Item:
			all = append(all, v)
		}
	}
	return build.Cluster(all...)
}

// demo is four free H100 nodes, one of them cordoned beside them, and a tainted pool.
func demo() *capacity.Snapshot {
	return cluster(
		build.Nodes(4, "h100", build.GPUs(8)),
		build.Node("h100-5", build.GPUs(8), build.Cordoned()),
		build.Nodes(2, "l40s", build.GPUs(4), build.Taint("gpu=l40s:NoSchedule")),
	)
}

func TestFitInTheUsersWords(t *testing.T) {
	twoHalfBusy := cluster(build.Nodes(2, "a", build.GPUs(8)),
		build.Pod("x", build.On("a-1"), build.Asks("4")), build.Pod("y", build.On("a-2"), build.Asks("4")))
	oneTaken := cluster(build.Nodes(2, "a", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Asks("1")))
	small := build.Nodes(6, "c", build.Allocatable("cpu", "24"), build.Allocatable("memory", "128Gi"))
	cases := map[string]struct {
		on   *capacity.Snapshot
		gang capacity.Gang
		want string
		do   string
	}{
		"a master and five workers on four free nodes": {
			demo(), gang(group("Master", 1, build.Asks("8")), group("Worker", 5, build.Asks("8"))),
			"4 of 6 pods fit now, and not all of them on the idle cluster: 1 Master + 5 Workers ask for 8 nvidia.com/gpu each (48); the 4 nodes that may take them have 32 nvidia.com/gpu in all, even idle; 1 node cordoned, 2 tainted (gpu=l40s:NoSchedule)",
			"fits with 3 Workers instead of 5 (1 Master + 3 Workers on 4 nodes)",
		},
		"with the cordoned node it would fit": {
			demo(), gpus(5, "8"),
			"4 of 5 pods fit now, and not all of them on the idle cluster: 5 Workers ask for 8 nvidia.com/gpu each (40); the 4 nodes that may take them have 32 nvidia.com/gpu in all, even idle; all would with the 1 unready or cordoned node back; 1 node cordoned, 2 tainted (gpu=l40s:NoSchedule)",
			"fits with 4 Workers instead of 5 (4 Workers on 4 nodes)",
		},
		"it fits": {
			demo(), gang(group("Master", 1, build.Asks("8")), group("Worker", 3, build.Asks("8"))),
			"4 of 4 pods fit: 1 Master + 3 Workers on 4 nodes", "",
		},
		"eight free, but four and four": {
			twoHalfBusy, gpus(1, "8"),
			"0 of 1 pod fits now: 1 Worker asks for 8 nvidia.com/gpu; 8 nvidia.com/gpu are free on the 2 nodes that may take them, at most 4 on one; 2 nodes full",
			"fits with 2 Workers of 4 nvidia.com/gpu instead of 1 Worker of 8 (2 Workers on 2 nodes)",
		},
		"one GPU of sixteen is taken": {
			oneTaken, gpus(2, "8"),
			"1 of 2 pods fit now: 2 Workers ask for 8 nvidia.com/gpu each (16); 15 nvidia.com/gpu are free on the 2 nodes that may take them, at most 8 on one; 1 node full",
			"fits with 1 Worker instead of 2 (1 Worker on 1 node)",
		},
		"tasks larger than any node": {
			cluster(small), gang(group("worker", 4, build.Requests("cpu=48", "memory=64Gi"))),
			"0 of 4 pods fit: one worker asks for 48 cpu; the largest node it may use has 24, even idle; 6 nodes too small",
			"fits with 24 cpu per pod instead of 48 (4 workers on 4 nodes)",
		},
		"no node has a GPU": {
			cluster(small), gpus(2, "8"),
			"0 of 2 pods fit: one Worker asks for 8 nvidia.com/gpu; no node it may use has any; 6 nodes too small", "",
		},
		"no node carries the label": {
			demo(), gang(group("Worker", 2, build.Asks("8"), selects("pool", "h200"))),
			"0 of 2 pods fit: no node may take one Worker, which asks for 8 nvidia.com/gpu; 1 node cordoned, 6 not selected",
			"fits without the node selector pool=h200 (2 Workers on 2 nodes)",
		},
		"the daemon of a node takes what the pod needs": {
			cluster(build.Node("a", build.GPUs(8)), build.Pod("agent", build.On("a"), build.OwnedBy("DaemonSet", "agent"), build.Requests("cpu=1"))),
			gang(group("Worker", 1, build.Requests("cpu=96"))),
			"0 of 1 pod fits: one Worker asks for 96 cpu; the largest node it may use has 95, even idle; 1 node too small",
			"fits with 95 cpu per pod instead of 96 (1 Worker on 1 node)",
		},
		"sixteen free as twelve and four": {
			cluster(build.Node("a", build.GPUs(16)), build.Node("b", build.GPUs(8)), build.Pod("x", build.On("a"), build.Asks("4")), build.Pod("y", build.On("b"), build.Asks("4"))),
			gpus(2, "8"),
			"1 of 2 pods fit now: 2 Workers ask for 8 nvidia.com/gpu each (16); 16 nvidia.com/gpu are free on the 2 nodes that may take them, in holes for 1 pod of 8; 1 node full",
			"fits with 1 Worker instead of 2 (1 Worker on 1 node)",
		},
		"CPUs run out before GPUs do": {
			cluster(build.Nodes(2, "a", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Requests("cpu=90"))),
			gang(group("Worker", 2, build.Requests("cpu=32", "nvidia.com/gpu=8"))),
			"1 of 2 pods fit now: 2 Workers ask for 8 nvidia.com/gpu each (16), 2 Workers ask for 32 cpu each (64); 16 nvidia.com/gpu and 102 cpu are free on the 2 nodes that may take them, but not enough of both on the same nodes; 1 node full",
			"fits with 1 Worker instead of 2 (1 Worker on 1 node)",
		},
		"room for pods runs out": {
			cluster(build.Node("a", build.Allocatable("pods", "2")), build.Pod("x", build.On("a"))),
			gang(group("Worker", 2)),
			"1 of 2 pods fit now: room for 2 pods is asked; 1 place for a pod is free on the 1 node that may take them, at most 1 on one",
			"fits with 1 Worker instead of 2 (1 Worker on 1 node)",
		},
		"an elastic role at its minimum": {
			demo(), gang(capacity.Group{Name: "Worker", Count: 8, Min: 2, Pod: job.Pod{Spec: build.Pod("w", build.Asks("8")).Spec}}),
			"4 of up to 8 pods fit: 8 Workers on 4 nodes", "",
		},
		"nothing to place": {demo(), gang(), "there are no pods to place", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := tc.on.Fit(tc.gang)
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("Fit (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.do, got.Change); diff != "" {
				t.Errorf("Change (-want +got):\n%s\nall: %q", diff, got.Changes)
			}
		})
	}
}

var _ = fmt.Sprint
var _ = strings.Contains
var _ = resource.MustParse
var _ metav1.Object
var _ unstructured.Unstructured
var _ schema.GroupKind
