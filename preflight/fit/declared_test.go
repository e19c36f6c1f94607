package fit_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// declares is a node that can restart all containers of a pod at once.
func declares(features ...string) build.NodeOption {
	return func(n *corev1.Node) { n.Status.DeclaredFeatures = features }
}

// restartsAll asks for that where the container fails with 42.
func restartsAll(s *corev1.PodSpec) {
	s.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{
		Action:    corev1.ContainerRestartRuleActionRestartAllContainers,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
	}}
}

// TestNodesHaveWhatPodsNeedOfThem: kube-scheduler asks nodes for features that pods need, and for drivers
// that want to be asked for.
func TestNodesHaveWhatPodsNeedOfThem(t *testing.T) {
	const able = "RestartAllContainersOnContainerExits"
	workers := func(options ...build.PodOption) gang.Gang {
		return gangOf(group("Worker", 2, append([]build.PodOption{build.Asks("8")}, options...)...))
	}
	const strict = `
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: csi.example.com}
spec: {preventPodSchedulingIfMissing: true}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {namespace: default, name: data}
spec: {volumeName: pv, accessModes: [ReadWriteMany]}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec: {csi: {driver: csi.example.com, volumeHandle: data}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: a}
spec: {drivers: [{name: csi.example.com, nodeID: a}]}
`
	volumes := []string{"nodes", "pods", "persistentvolumeclaims", "persistentvolumes", "csidrivers.storage.k8s.io"}
	a, b := build.Node("a", build.GPUs(8), declares(able)), build.Node("b", build.GPUs(8), declares(able))
	for name, tc := range map[string]struct {
		gang  gang.Gang
		text  string
		whole []string
		nodes []any
		want  string
	}{
		"both nodes declare the feature": {
			gang: workers(build.Spec(restartsAll)), nodes: []any{a, b}, want: "fits",
		},
		"one declares another one": {
			gang: workers(build.Spec(restartsAll)), nodes: []any{a, build.Node("b", build.GPUs(8), declares("Another"))}, want: "too-big",
		},
		"one declares nothing": {
			gang: workers(build.Spec(restartsAll)), nodes: []any{a, build.Node("b", build.GPUs(8))}, want: "too-big",
		},
		"none declares anything, as on an older cluster": {
			gang: workers(build.Spec(restartsAll)), nodes: []any{build.Node("a", build.GPUs(8)), build.Node("b", build.GPUs(8))}, want: "unknown",
		},
		"nobody needs it": {
			gang: workers(), nodes: []any{a, build.Node("b", build.GPUs(8))}, want: "fits",
		},
		"the driver is on one node": {
			gang: workers(mounts("data")), text: strict, whole: append(volumes, "csinodes.storage.k8s.io"), nodes: []any{a, b}, want: "too-big",
		},
		"where the driver is was not looked up": {
			gang: workers(mounts("data")), text: strict, whole: volumes, nodes: []any{a, b}, want: "unknown",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), build.View(t, tc.text, tc.whole, tc.nodes...), tc.gang)
			if diff := cmp.Diff(tc.want, r.Verdict.String()); diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", r, r.Assumed, diff)
			}
		})
	}
	r := whatif.Answer(t.Context(), clusterOf(a, build.Node("b", build.GPUs(8), declares("Another"))), workers(build.Spec(restartsAll)))
	want := "Worker needs nodes that declare " + able + "; 1 of 2 nodes do"
	if !slices.Contains(r.Assumed, want) {
		t.Errorf("%v does not say %q", r.Assumed, want)
	}
	reasons := fit.NodeReasons(clusterOf(a, build.Node("b", build.GPUs(8), declares("Another"))), workers(build.Spec(restartsAll)), build.GPU)
	if got, want := reasons[1].Why, "does not declare "+able; got != want {
		t.Errorf("node b: %q, want %q", got, want)
	}
}

// TestHostNamesThatNodesShare: kube-scheduler keeps pods apart by the host name's label, which need not be
// one for each node.
func TestHostNamesThatNodesShare(t *testing.T) {
	named := func(name, host string) *corev1.Node {
		n := build.Node(name, build.GPUs(8), build.Label(corev1.LabelHostname, host))
		if host == "" {
			delete(n.Labels, corev1.LabelHostname)
		}
		return n
	}
	pair := func(options ...build.PodOption) gang.Gang {
		return gangOf(group("Worker", 2, append([]build.PodOption{build.Asks("4"), role("w")}, options...)...))
	}
	triple := func(options ...build.PodOption) gang.Gang {
		return gangOf(group("Worker", 3, append([]build.PodOption{build.Asks("4"), role("w")}, options...)...))
	}
	apart, together, spread := apartOver(corev1.LabelHostname, "w"), near(corev1.LabelHostname, "w"), even(corev1.LabelHostname, "w", 1)
	for name, tc := range map[string]struct {
		hosts [2]string
		gang  gang.Gang
		want  string
	}{
		"apart, on a host each":               {[2]string{"x", "y"}, pair(apart), "fits"},
		"apart, on one host of two nodes":     {[2]string{"x", "x"}, pair(apart), "too-big"},
		"apart, one node without a host name": {[2]string{"x", ""}, pair(apart), "fits"},
		"together, on one host of two nodes":  {[2]string{"x", "x"}, pair(together, build.Asks("8")), "fits"},
		"together, on a host each":            {[2]string{"x", "y"}, pair(together, build.Asks("8")), "too-big"},
		"spread, one node without a name":     {[2]string{"x", ""}, pair(spread, build.Asks("8")), "too-big"},
		"apart, and no node has a host name":  {[2]string{"", ""}, pair(apart), "fits"},
		"apart by a name that no node has":    {[2]string{"", ""}, triple(apart), "fits"},
		"together, no node has a host name":   {[2]string{"", ""}, pair(together), "too-big"},
		"spread, and no node has a host name": {[2]string{"", ""}, pair(spread), "too-big"},
	} {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), clusterOf(named("a", tc.hosts[0]), named("b", tc.hosts[1])), tc.gang)
			if diff := cmp.Diff(tc.want, r.Verdict.String()); diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s", r, r.Assumed, diff)
			}
		})
	}
}
