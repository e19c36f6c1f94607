package fit_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestWhetherAnAutoscalerCouldBringANode(t *testing.T) {
	whole := []string{"nodepools.karpenter.sh"}
	affine := func(expressions ...corev1.NodeSelectorRequirement) build.PodOption {
		return spec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: expressions}},
			}}}
		})
	}
	without := func(key string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpDoesNotExist}
	}
	const gpu = "{key: pool, operator: In, values: [gpu]}"
	cases := map[string]struct {
		objects string
		whole   []string
		pod     build.PodOption
		want    string // empty: it may
	}{
		"a pool that says nothing against it":       {nodePoolOf("gpu", "", ""), whole, build.Asks("8"), ""},
		"pools that are not all in the view":        {nodePoolOf("gpu", "", ", taints: [{key: a, effect: NoSchedule}]"), nil, build.Asks("8"), ""},
		"a taint that is not tolerated":             {nodePoolOf("gpu", "", ", taints: [{key: a, effect: NoSchedule}]"), whole, build.Asks("8"), "node pool gpu has the taint a:NoSchedule"},
		"a taint that is tolerated":                 {nodePoolOf("gpu", "", ", taints: [{key: a, effect: NoSchedule}]"), whole, tolerates("a"), ""},
		"a taint that goes once the node has begun": {nodePoolOf("gpu", "", ", startupTaints: [{key: a, effect: NoSchedule}]"), whole, build.Asks("8"), ""},
		"one pool of two takes it":                  {nodePoolOf("gpu", gpu, "") + "\n---\n" + nodePoolOf("web", "", ", taints: [{key: a, effect: NoSchedule}]"), whole, selects("pool", "gpu"), ""},
		"another value of a label of the pool":      {nodePoolOf("gpu", gpu, ""), whole, selects("pool", "cpu"), "node pool gpu makes no nodes with pool=cpu"},
		"a label that nobody declares":              {nodePoolOf("gpu", "", ""), whole, selects("example.com/rack", "7"), "node pool gpu makes no nodes with example.com/rack=7"},
		"a label of the cloud":                      {nodePoolOf("gpu", "", ""), whole, selects("karpenter.k8s.aws/instance-gpu-count", "8"), ""},
		"the pool by its name":                      {nodePoolOf("gpu", "", ""), whole, selects("karpenter.sh/nodepool", "other"), "node pool gpu makes no nodes with karpenter.sh/nodepool=other"},
		"a number that is large enough":             {nodePoolOf("gpu", "{key: cpus, operator: In, values: ['4', '64']}", ""), whole, affine(corev1.NodeSelectorRequirement{Key: "cpus", Operator: corev1.NodeSelectorOpGt, Values: []string{"32"}}), ""},
		"numbers that are too small":                {nodePoolOf("gpu", "{key: cpus, operator: In, values: ['4', '8']}", ""), whole, affine(corev1.NodeSelectorRequirement{Key: "cpus", Operator: corev1.NodeSelectorOpGt, Values: []string{"32"}}), "node pool gpu makes no nodes that the required node affinity takes"},
		"a value that the pool leaves out":          {nodePoolOf("gpu", "{key: zone, operator: NotIn, values: [b]}", ""), whole, selects("zone", "b"), "node pool gpu makes no nodes with zone=b"},
		"a pod that wants nodes without a label of which the pool leaves a value out": {nodePoolOf("gpu", "{key: example.com/spot, operator: NotIn, values: ['true']}", ""), whole, affine(without("example.com/spot")), ""},
		"a pod that wants nodes without a label that the pool does not write":         {nodePoolOf("gpu", "{key: example.com/spot, operator: DoesNotExist}", ""), whole, affine(without("example.com/spot")), ""},
		"a pod that leaves out values of a label that the pool does not write":        {nodePoolOf("gpu", "{key: example.com/spot, operator: DoesNotExist}", ""), whole, affine(corev1.NodeSelectorRequirement{Key: "example.com/spot", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"true"}}), ""},
		"a pod that wants nodes without a label that the pool writes":                 {nodePoolOf("gpu", "{key: example.com/spot, operator: Exists}", ""), whole, affine(without("example.com/spot")), "node pool gpu makes no nodes that the required node affinity takes"},
		"a pod that wants nodes without a label of which the pool names values":       {nodePoolOf("gpu", "{key: example.com/spot, operator: In, values: ['true']}", ""), whole, affine(without("example.com/spot")), "node pool gpu makes no nodes that the required node affinity takes"},
		"a pod that wants a label that the pool does not write":                       {nodePoolOf("gpu", "{key: example.com/spot, operator: DoesNotExist}", ""), whole, affine(corev1.NodeSelectorRequirement{Key: "example.com/spot", Operator: corev1.NodeSelectorOpExists}), "node pool gpu makes no nodes that the required node affinity takes"},
		"two may add nodes": {nodePoolOf("gpu", gpu, "") + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: cluster-autoscaler-status, namespace: kube-system}", whole, selects("pool", "cpu"), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := build.Pod("x", tc.pod)
			is, why := quota.Brings(ruled(t, tc.objects, tc.whole), &p.Spec)
			if want := map[bool]job.Presence{true: job.Unknown, false: job.Absent}[tc.want == ""]; is != want || why != tc.want {
				t.Errorf("Brings says %v, %q; want %v, %q", is, why, want, tc.want)
			}
		})
	}
	if is, _ := quota.Brings(build.Cluster(build.Node("a")), &corev1.PodSpec{}); is != job.Absent {
		t.Errorf("where nobody adds nodes: %v; want absent", is)
	}
}

func TestUnderAnAutoscalerOnlyWhatNoPoolTakesIsWorthAWarning(t *testing.T) {
	tainted := nodePoolOf("gpu", "", ", taints: [{key: a, effect: NoSchedule}]")
	node := build.Node("n", build.GPUs(8), build.Taint("a:NoSchedule"))
	r := whatif.Answer(t.Context(), ruled(t, tainted, []string{"nodepools.karpenter.sh"}, node), gpus(1, "8"))
	if r.Verdict != fit.TooBig || !r.Warns() || !strings.Contains(strings.Join(r.Assumed, ";"), "Karpenter adds no nodes for Worker: node pool gpu has the taint a:NoSchedule") {
		t.Errorf("%s, speaks %t, assumed %q; want too-big, true, and why nobody adds nodes", r.Verdict, r.Warns(), r.Assumed)
	}
	open := nodePoolOf("gpu", "", "")
	if r := whatif.Answer(t.Context(), ruled(t, open, []string{"nodepools.karpenter.sh"}, node), gpus(1, "8")); r.Warns() {
		t.Errorf("%s is worth a warning; want silence, a node may come", r)
	}
}
