package control

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// onNode is a failed pod on a node as a change makes it.
func onNode(change func(*corev1.Node)) Input {
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-1", Labels: map[string]string{}}}
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	change(&node)
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "train-0"}, Spec: corev1.PodSpec{NodeName: "gpu-1"}}
	pod.Status.Phase = corev1.PodFailed
	return Input{Pods: []corev1.Pod{pod}, Nodes: []corev1.Node{node}}
}

func TestWorkOnTheNodeIsSeen(t *testing.T) {
	devices := func(has, offers string) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Status.Capacity = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(has), "cpu": resource.MustParse("96")}
			n.Status.Allocatable = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse(offers), "cpu": resource.MustParse("90")}
		}
	}
	label := func(key, value string) func(*corev1.Node) {
		return func(n *corev1.Node) { n.Labels[key] = value }
	}
	taint := func(key string) func(*corev1.Node) {
		return func(n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: key, Effect: corev1.TaintEffectNoSchedule}}
		}
	}
	cases := map[string]struct {
		node func(*corev1.Node)
		want []string // rule and text
	}{
		"a driver upgrade that deletes pods": {label(upgradeLabel, "pod-deletion-required"), []string{"node-driver-upgrade node gpu-1: nvidia.com/gpu-driver-upgrade-state=pod-deletion-required"}},
		"a driver upgrade that waits":        {label(upgradeLabel, "upgrade-required"), nil},
		"a driver upgrade that is done":      {label(upgradeLabel, "upgrade-done"), nil},
		"GPUs being partitioned":             {label(migLabel, "rebooting"), []string{"node-mig-reconfiguring node gpu-1: nvidia.com/mig.config.state=rebooting for "}},
		"GPUs that are partitioned":          {label(migLabel, "success"), nil},
		"one GPU of eight out of use":        {devices("8", "7"), []string{"node-devices-missing node gpu-1: offers 7 of 8 nvidia.com/gpu"}},
		"all GPUs in use":                    {devices("8", "8"), nil},
		"an autoscaler takes it away":        {taint("ToBeDeletedByClusterAutoscaler"), []string{"node-leaving node gpu-1: tainted ToBeDeletedByClusterAutoscaler:NoSchedule"}},
		"the usual taint of GPU nodes":       {taint("nvidia.com/gpu"), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, s := range Read(onNode(tc.node)).Sightings {
				if s.Item.Source.Node == "gpu-1" && s.Item.Source.Pod == "" {
					got = append(got, s.Signature.ID+" "+s.Item.Text)
					if !s.Signature.Weak {
						t.Errorf("%s makes a running job a failed one", s.Signature.ID)
					}
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("sightings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnUnhealthyDeviceIsSeen(t *testing.T) {
	in := onNode(func(*corev1.Node) {})
	in.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", AllocatedResourcesStatus: []corev1.ResourceStatus{{
		Name: "nvidia.com/gpu", Resources: []corev1.ResourceHealth{{ResourceID: "GPU-1", Health: "Healthy"}, {ResourceID: "GPU-2", Health: "Unhealthy"}},
	}}}}
	var got []string
	for _, s := range Read(in).Sightings {
		got = append(got, s.Signature.ID+" "+s.Item.Text)
	}
	if !slices.Contains(got, "device-unhealthy pod train-0: nvidia.com/gpu GPU-2 is unhealthy") || strings.Contains(strings.Join(got, ""), "GPU-1") {
		t.Errorf("sightings are %q", got)
	}
}

// What torch elastic writes into the termination message is read as the traceback that it is.
func TestATerminationMessageOfTorchElastic(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	const stack = `Traceback (most recent call last):\n  File \"/x/train.py\", line 3, in main\n    go()\n`
	cases := map[string]struct{ message, signature, line string }{
		"a failure that a signature knows": {
			`{"message": {"message": "OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB", "extraInfo": {"py_callstack": "` + stack + `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB\n", "timestamp": "1763625600"}}}`,
			"cuda-out-of-memory", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB",
		},
		"an exception of the user's": {
			`{"message": {"message": "OddError: no such thing", "extraInfo": {"py_callstack": "` + stack + `OddError: no such thing\n", "timestamp": "1763625600"}}}`,
			"python-exception", "OddError: no such thing",
		},
		"cut by the kubelet": {
			`{"message": {"message": "OutOfMemoryError: CUDA", "extraInfo": {"py_callstack": "` + stack + `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n`,
			"cuda-out-of-memory", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
		},
		"a message without a traceback": {`{"message": "OddError: plain"}`, "python-exception", "OddError: plain"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := onNode(func(*corev1.Node) {})
			in.Catalog = catalog
			in.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: strings.ReplaceAll(tc.message, `\\n`, `\n`)},
			}}}
			var got []string
			for _, s := range Read(in).Sightings {
				if s.Item.ID == "pod/train-0/c/message" {
					got = append(got, s.Signature.ID+" | "+s.Line)
				}
			}
			if !slices.ContainsFunc(got, func(g string) bool { return strings.HasSuffix(g, " | "+tc.line) }) {
				t.Errorf("sightings are %q; want one of %s at %q", got, tc.signature, tc.line)
			}
			if tc.signature == "python-exception" && !slices.Contains(got, "python-exception | "+tc.line) {
				t.Errorf("sightings are %q; want the plain exception", got)
			}
		})
	}
}

func FuzzElasticError(f *testing.F) {
	f.Add(`{"message": {"message": "a", "extraInfo": {"py_callstack": "b"}}}`)
	f.Add(`{"message": "a`)
	f.Add(`{"message":null}`)
	f.Fuzz(func(t *testing.T, message string) {
		if text, ok := elasticError(message); !ok && text != "" {
			t.Errorf("%q is none, and has text %q", message, text)
		}
	})
}

// What is no failure is remarked of a few pods, and the others are counted.
func TestNotesAreBoundedAndCounted(t *testing.T) {
	for n, want := range map[int]string{
		3: "Node gpu-2 reports MemoryPressure: the kubelet evicts pods there if that lasts.",
		4: "1 more remark on containers and nodes is left out.", 1000: "997 more remarks on containers and nodes are left out.",
	} {
		var in Input
		for i := range n {
			one := onNode(func(node *corev1.Node) {
				node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionTrue})
			})
			name := fmt.Sprintf("gpu-%d", i)
			one.Pods[0].Name, one.Pods[0].Spec.NodeName, one.Nodes[0].Name = fmt.Sprintf("train-%04d", i), name, name
			one.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}}
			one.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			in.Pods, in.Nodes = append(in.Pods, one.Pods...), append(in.Nodes, one.Nodes...)
		}
		in.Wanted = n
		if got := Read(in).Notes; len(got) != min(n, 4) || got[min(n, 4)-1] != want {
			t.Errorf("of %d nodes %d notes end with %q; want %q", n, len(got), got[max(0, len(got)-1):], want)
		}
	}
}
