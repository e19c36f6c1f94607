package controller

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/test/build"
)

// viewOf is a view of objects.
func viewOf(t *testing.T, nodes []*corev1.Node, pods ...*corev1.Pod) *cluster.Snapshot {
	t.Helper()
	var b cluster.Builder
	for _, n := range nodes {
		b.Node(n)
	}
	for _, p := range pods {
		b.Pod(p)
	}
	b.Complete(corev1.Resource("nodes"))
	return b.Snapshot(start)
}

func TestNodesThatComeAndGo(t *testing.T) {
	var n nodes
	pod := build.Pod("train-0", build.On("b"))
	pod.Status.Phase = corev1.PodRunning
	pods := []corev1.Pod{*pod}
	well := []*corev1.Node{build.Node("a"), build.Node("b")}
	ill := []*corev1.Node{build.Node("a"), build.Node("b", build.NotReady())}
	for i, step := range []struct {
		nodes   []*corev1.Node
		changed []string
		lost    []string
		since   time.Time
	}{
		{well, nil, nil, time.Time{}},
		{ill, []string{"b"}, []string{"b"}, start.Add(time.Second)},
		{ill, nil, []string{"b"}, start.Add(time.Second)}, // since the first time
		{well, []string{"b"}, nil, time.Time{}},
		{ill, []string{"b"}, []string{"b"}, start.Add(4 * time.Second)},
		{ill[:1], []string{"b"}, []string{"b gone"}, start.Add(5 * time.Second)}, // its pods are said to run
		{ill[:1], nil, []string{"b gone"}, start.Add(5 * time.Second)},
		{well, []string{"b"}, nil, time.Time{}},
		{well[:1], []string{"b"}, []string{"b gone"}, start.Add(8 * time.Second)},
		{ill, []string{"b"}, []string{"b"}, start.Add(9 * time.Second)},
	} {
		var changed []string
		for _, node := range n.see(viewOf(t, step.nodes).Nodes(), start.Add(time.Duration(i)*time.Second)) {
			changed = append(changed, node.Name)
		}
		lost, since := n.under(pods)
		if diff := cmp.Diff([]any{step.changed, step.lost, step.since}, []any{changed, lost, since}); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i, diff)
		}
	}
}

// A kubelet that says itself that its node is not ready leaves the pods as they are: the job says so all the same, and takes it back.
func TestANodeThatIsNotReadyUnderPodsThatAre(t *testing.T) {
	w := newWorld(t)
	w.condition("Running", "PyTorchJobRunning")
	w.pod("master", nil)
	w.pod("worker", func(p *corev1.Pod) { p.Spec.NodeName = "gpu-2" })
	node := build.Node("gpu-2", build.NotReady())
	node.Status.Conditions[0].Reason, node.Status.Conditions[0].Message = "KubeletNotReady", "PLEG is not healthy: pleg was last seen active 3m"
	if err := w.kube.Tracker().Add(node); err != nil {
		t.Fatal(err)
	}
	w.nodes.see(viewOf(t, []*corev1.Node{node}).Nodes(), w.now)
	if again := w.reconcile(); again > steady || again == 0 || w.job.GetAnnotations()[Healthy] == "No" {
		t.Errorf("it is said at once, or not looked at again: %s, %v", again, w.job.GetAnnotations())
	}
	w.now = w.now.Add(steady)
	w.reconcile()
	if s, _ := readStored(w.job.GetAnnotations()); w.job.GetAnnotations()[Healthy] != "No" || s.Category != "node-lost" {
		t.Errorf("the job says %v", w.job.GetAnnotations())
	}
	node = build.Node("gpu-2")
	if err := w.kube.Tracker().Update(corev1.SchemeGroupVersion.WithResource("nodes"), node, ""); err != nil {
		t.Fatal(err)
	}
	w.pass(time.Second)
	w.nodes.see(viewOf(t, []*corev1.Node{node}).Nodes(), w.now)
	w.reconcile()
	if w.job.GetAnnotations()[Healthy] != "Yes" {
		t.Errorf("it is not taken back: %v", w.job.GetAnnotations())
	}
}

// What is remembered of nodes that are gone has an end.
func TestNodesThatAreGoneAreForgotten(t *testing.T) {
	var n nodes
	n.see(viewOf(t, []*corev1.Node{build.Node("a"), build.Node("b")}).Nodes(), start)
	one := viewOf(t, []*corev1.Node{build.Node("a")}).Nodes()
	n.see(one, start)
	n.see(one, start.Add(mournedFor-time.Second))
	if len(n.down) != 1 {
		t.Errorf("forgotten too soon: %v", n.down)
	}
	n.see(one, start.Add(mournedFor))
	if len(n.down) != 0 {
		t.Errorf("still remembered: %v", n.down)
	}
}

// A node that is not there any more is said of its pods, too.
func TestANodeThatIsGoneUnderPodsThatRun(t *testing.T) {
	w := newWorld(t)
	w.condition("Running", "PyTorchJobRunning")
	w.pod("master", nil)
	w.pod("worker", func(p *corev1.Pod) { p.Spec.NodeName = "gpu-2" })
	w.nodes.see(viewOf(t, []*corev1.Node{build.Node("gpu-1"), build.Node("gpu-2")}).Nodes(), w.now)
	w.nodes.see(viewOf(t, []*corev1.Node{build.Node("gpu-1")}).Nodes(), w.now)
	w.pass(steady)
	w.reconcile()
	if got := w.job.GetAnnotations(); got[Healthy] != "No" || got[Error] != "the node does not exist any more (node gpu-2)" {
		t.Errorf("the job says %v", got)
	}
}

// A node that is asked for while it is well, between two looks at the view that find it down, does not leave the job well.
func TestANodeThatIsWellForAMoment(t *testing.T) {
	ill := build.Node("gpu-2", build.NotReady())
	for name, then := range map[string][]*corev1.Node{"down": {build.Node("gpu-1"), ill}, "gone": {build.Node("gpu-1")}} {
		w := newWorld(t)
		w.condition("Running", "PyTorchJobRunning")
		w.pod("master", nil)
		w.pod("worker", func(p *corev1.Pod) { p.Spec.NodeName = "gpu-2" })
		if err := w.kube.Tracker().Add(build.Node("gpu-2")); err != nil {
			t.Fatal(err)
		}
		w.nodes.see(viewOf(t, []*corev1.Node{build.Node("gpu-1"), ill}).Nodes(), w.now)
		w.pass(steady)
		if w.reconcile(); w.job.GetAnnotations()[Healthy] != "Yes" {
			t.Fatalf("%s: while it is well: %v", name, w.job.GetAnnotations())
		}
		var err error
		if nodes := corev1.SchemeGroupVersion.WithResource("nodes"); name == "gone" {
			err = w.kube.Tracker().Delete(nodes, "", "gpu-2")
		} else {
			err = w.kube.Tracker().Update(nodes, ill, "")
		}
		if err != nil {
			t.Fatal(err)
		}
		w.nodes.see(viewOf(t, then).Nodes(), w.now)
		w.pass(w.Refresh)
		if w.reconcile(); w.job.GetAnnotations()[Healthy] != "No" {
			t.Errorf("%s: the job says %v", name, w.job.GetAnnotations())
		}
	}
}

// Jobs are looked at when a node of theirs changes, and no others.
func TestFollowingNodesLooksAtTheirPods(t *testing.T) {
	w := newWorld(t)
	w.pod("master", func(p *corev1.Pod) { p.Spec.NodeName = "a" })
	w.pod("worker", func(p *corev1.Pod) { p.Spec.NodeName = "b" })
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var seen []string
	view := viewOf(t, []*corev1.Node{build.Node("a"), build.Node("b", build.NotReady())}, &w.pods[0], &w.pods[1])
	w.nodes.follow(ctx, func() *cluster.Snapshot { return view }, w.Cache, func() time.Time { return w.now }, func(p *corev1.Pod, wait time.Duration) {
		if seen = append(seen, p.Name); wait != steady {
			t.Errorf("looked at after %s", wait)
		}
		stop()
	})
	if diff := cmp.Diff([]string{"train-worker-0"}, seen); diff != "" {
		t.Errorf("looked at (-want +got):\n%s", diff)
	}
}
