package fit_test

import (
	"cmp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// TestSnapshotsWrittenByHandAndByTheAPIServer holds what the two leave out, and what the real scheduler makes of it.
func TestSnapshotsWrittenByHandAndByTheAPIServer(t *testing.T) {
	without := func(name corev1.ResourceName) build.NodeOption {
		return func(n *corev1.Node) { delete(n.Status.Allocatable, name) }
	}
	bare := func(n *corev1.Node) { n.Status.Allocatable = nil }
	byHand := func(n *corev1.Node) { n.Status.Conditions = nil }
	node := func(change ...build.NodeOption) *corev1.Node {
		n := build.Node("a", build.GPUs(8))
		for _, c := range change {
			c(n)
		}
		return n
	}
	limited := build.Pod("x", build.On("a"), spec(func(s *corev1.PodSpec) {
		s.Containers[0].Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{build.GPU: resource.MustParse("8")}}
	}))
	waits := func(change ...build.PodOption) *corev1.Pod {
		p := build.Pod("x", append([]build.PodOption{build.Asks("8")}, change...)...)
		p.Status.NominatedNodeName = "a"
		return p
	}
	const (
		classes = "priorityclasses.scheduling.k8s.io"
		claim   = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: ml%s}
spec: {volumeName: pv, accessModes: [ReadWriteOnce]}
status: {phase: Pending}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec: {accessModes: [ReadWriteOnce]}`
	)
	eight := in("ml", gangOf(group("Worker", 1, build.Asks("8"))))
	high := in("ml", gangOf(group("Worker", 1, build.Asks("8"), class("high"))))
	mounting := in("ml", gangOf(group("Worker", 1, mounts("data"))))
	cases := map[string]struct {
		objects string
		whole   []string
		gang    gang.Gang
		items   []any
		want    string // the verdict, and what is said of others
	}{
		"a kubelet that offers no pods takes none":            {"", nil, eight, []any{node(without("pods"))}, "too-big: the pod does not fit: no node it may use offers a place for a pod (allocatable.pods is 0 or missing); 1 node too small"},
		"a node by hand is not limited by what it leaves out": {"", nil, eight, []any{node(without("pods"), byHand)}, "fits"},
		"a kubelet offers its allocatable, not its capacity":  {"", nil, eight, []any{node(bare)}, "too-big"},
		"a node by hand may say its capacity alone":           {"", nil, eight, []any{node(bare, byHand)}, "fits"},
		"a limit is a request, also in a pod by hand":         {"", nil, eight, []any{node(), limited}, "full"},
		"a claim that names its volume is not bound before the controller says so": {
			strings.Replace(claim, "%s", "", 1), nil, mounting,
			[]any{node()},
			"unknown: the claim data is not bound to its volume pv yet; Worker is not scheduled before it is",
		},
		"a claim that is bound whole": {strings.Replace(claim, "%s", ", annotations: {pv.kubernetes.io/bind-completed: 'yes'}", 1), nil, mounting, []any{node()}, "fits"},
		"pods below 0 go for a job without a class": {
			highClass,
			[]string{classes},
			eight,
			[]any{node(), build.Pod("pause", build.On("a"), build.Asks("8"), priority(-10))},
			"full: pod default/pause (priority -10) would have to go, for pods without a priority class have priority 0",
		},
		"a class may be the default, where not all are known": {
			highClass, nil, eight, []any{node(), build.Pod("pause", build.On("a"), build.Asks("8"), priority(-10))}, "full",
		},
		"nobody goes for a job that is below them": {
			highClass + "\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: least}\nglobalDefault: true\nvalue: -20",
			[]string{classes},
			eight,
			[]any{node(), build.Pod("pause", build.On("a"), build.Asks("8"), priority(-10))},
			"full",
		},
		"room that others make is kept from pods that are not above": {
			highClass,
			[]string{classes},
			eight,
			[]any{node(), waits()},
			"full: others make room on a for pod default/x, and it is kept for that",
		},
		"and not from those that are":  {highClass, []string{classes}, high, []any{node(), waits(priority(5))}, "fits"},
		"elsewhere it is of no matter": {highClass, []string{classes}, eight, []any{node(), build.Node("b", build.GPUs(16)), build.Pod("y", build.On("a"), build.Asks("1")), waits()}, "fits"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), ruled(t, cmp.Or(tc.objects, highClass), append(tc.whole, "persistentvolumeclaims", "persistentvolumes"), tc.items...), tc.gang)
			got := r.Verdict.String()
			switch {
			case strings.HasPrefix(r.Reason, "others make"):
				got += ": " + r.Reason
			case strings.Contains(r.String(), "a place"):
				got += ": " + r.String()
			case r.Preempts != nil:
				got += ": " + r.Preempts.String()
			case r.Verdict == fit.Unknown:
				got += ": " + r.Assumed[len(r.Assumed)-1]
				for _, a := range r.Assumed {
					if strings.HasPrefix(a, "others make") || strings.HasPrefix(a, "the claim") {
						got = r.Verdict.String() + ": " + a
					}
				}
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s\n%s", got, tc.want, strings.Join(r.Lines(), "\n"))
			}
		})
	}
}
