package fit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

const highClass = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000"

// priority is what admission writes into a pod.
func priority(n int32) build.PodOption {
	return spec(func(s *corev1.PodSpec) { s.Priority = new(n) })
}

// ownedBy makes pods with a label those of the gang's first group.
func ownedBy(g gang.Gang, label string) gang.Gang {
	g.Own = func(p *corev1.Pod) (string, bool) { return g.Groups[0].Name, p.Labels["gang"] == label }
	return g
}

func TestWhoWouldHaveToGoIsSaidNeverAssumed(t *testing.T) {
	low := func(name, node, gpus string) *corev1.Pod {
		return build.Pod(name, build.On(node), build.Asks(gpus), build.OwnedBy("PyTorchJob", strings.TrimRight(name, "-0123456789")), priority(0))
	}
	two := build.Nodes(2, "a", build.GPUs(8))
	high := func(n int, each string) gang.Gang {
		return in("ml", gangOf(group("Worker", n, build.Asks(each), class("high"))))
	}
	const guard = highClass + "\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: stay, namespace: default}\nspec: {selector: {matchLabels: {app: x}}}\nstatus: {disruptionsAllowed: 0}"
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		items   []any
		want    string // and what is assumed
	}{
		"one pod of two is enough": {
			highClass, high(1, "8"),
			[]any{two, low("x-0", "a-1", "8"), low("x-1", "a-2", "8")},
			"1 pod of PyTorchJob default/x (priority 0) would have to go for the priority class high (1000)",
		},
		"a cordoned node is cleared for pods that tolerate it": {
			highClass, in("ml", gangOf(group("Worker", 1, build.Asks("8"), class("high"), spec(func(s *corev1.PodSpec) {
				s.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
			})))),
			[]any{build.Node("a-1", build.GPUs(8), build.Cordoned()), low("x-0", "a-1", "8")},
			"1 pod of PyTorchJob default/x (priority 0) would have to go for the priority class high (1000)",
		},
		"a cordoned node is cleared for nobody else": {
			highClass, high(1, "8"),
			[]any{build.Node("a-1", build.GPUs(8), build.Cordoned()), low("x-0", "a-1", "8")},
			"",
		},
		"a node is cleared whose taint the runtime class tolerates": {
			highClass + "\n---\napiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: kata\nscheduling: {tolerations: [{key: gpu, operator: Exists}]}",
			in("ml", gangOf(group("Worker", 1, build.Asks("8"), class("high"), spec(func(s *corev1.PodSpec) { s.RuntimeClassName = new("kata") })))),
			[]any{build.Node("a-1", build.GPUs(8), build.Taint("gpu=yes:NoSchedule")), low("x-0", "a-1", "8")},
			"1 pod of PyTorchJob default/x (priority 0) would have to go for the priority class high (1000)",
		},
		"the node with fewer pods is cleared": {
			highClass, high(1, "8"),
			[]any{two, low("x-0", "a-1", "4"), low("x-1", "a-1", "4"), low("y-0", "a-2", "8")},
			"1 pod of PyTorchJob default/y (priority 0) would have to go for the priority class high (1000)",
		},
		"pods of the gang on a node that takes no more count": {
			highClass, ownedBy(high(2, "4"), "mine"),
			[]any{
				build.Node("a-1", build.GPUs(4), build.Cordoned()), build.Pod("mine-0", build.In("ml"), build.On("a-1"), build.Asks("4"), build.PodLabel("gang", "mine")),
				build.Node("a-2", build.GPUs(4)), low("x-0", "a-2", "4"), build.Node("a-3", build.GPUs(4)), low("y-0", "a-3", "4"),
			},
			"1 pod of PyTorchJob default/x (priority 0) would have to go for the priority class high (1000)",
		},
		"where a fit would not be known, nobody is named": {
			highClass, in("ml", gangOf(group("Worker", 1, build.Asks("8"), class("high"), spec(func(s *corev1.PodSpec) {
				s.ResourceClaims = []corev1.PodResourceClaim{{Name: "nic", ResourceClaimTemplateName: new("nic")}}
			})))),
			[]any{build.Node("a-1", build.GPUs(8)), low("x-0", "a-1", "8")},
			"whom the priority class high may move aside is not worked out: whether the gang fits without them is not known",
		},
		"whom the gang keeps away from goes": {
			highClass, in("ml", gangOf(group("Worker", 2, build.Asks("1"), class("high"), role("w"), apartOver(corev1.LabelHostname, "w")))),
			[]any{two, build.Pod("old-0", build.In("ml"), build.On("a-1"), build.Asks("1"), role("w"), priority(0))},
			"pod ml/old-0 (priority 0) would have to go for the priority class high (1000)",
		},
		"who can stay stays": {
			highClass, high(1, "6"),
			[]any{build.Node("a-1", build.GPUs(8)), low("x-0", "a-1", "2"), low("y-0", "a-1", "2"), low("z-0", "a-1", "4")},
			"1 pod of PyTorchJob default/y (priority 0), 1 pod of PyTorchJob default/z (priority 0) would have to go for the priority class high (1000)",
		},
		"the gang does not fit all the same, and its pods are placed one by one": {
			highClass, high(3, "8"),
			[]any{two, low("x-0", "a-1", "4"), low("x-1", "a-1", "4"), low("y-0", "a-2", "8")},
			"the priority class high (1000) may still preempt up to 3 pods, in vain",
		},
		"each of its pods clears one node": {
			highClass, high(3, "8"),
			[]any{two, build.Pod("firm", build.On("a-1"), build.Asks("8"), priority(1000)), low("y-0", "a-2", "8")},
			"the priority class high (1000) may still preempt up to 1 pod, in vain",
		},
		"priority 0 has nobody below": {
			highClass, in("ml", gangOf(group("Worker", 3, build.Asks("8")))),
			[]any{two, low("x-0", "a-1", "8"), low("y-0", "a-2", "8")},
			"",
		},
		"nobody of the same priority goes":   {highClass, high(1, "8"), []any{build.Node("a-1", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Asks("8"), priority(1000))}, ""},
		"no daemon goes where others do":     {highClass, high(1, "4"), []any{build.Node("a-1", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Asks("1"), build.OwnedBy("DaemonSet", "d"), priority(0)), low("y-0", "a-1", "7")}, "1 pod of PyTorchJob default/y (priority 0) would have to go for the priority class high (1000)"},
		"a daemon goes where it has to":      {highClass, high(1, "8"), []any{build.Node("a-1", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Asks("1"), build.OwnedBy("DaemonSet", "d"), priority(0)), low("y-0", "a-1", "7")}, "1 pod of DaemonSet default/d (priority 0), 1 pod of PyTorchJob default/y (priority 0) would have to go for the priority class high (1000)"},
		"no daemon of the same priority":     {highClass, high(1, "8"), []any{build.Node("a-1", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Asks("1"), build.OwnedBy("DaemonSet", "d"), priority(1000))}, ""},
		"what stays with the node does not":  {highClass, high(1, "8"), []any{build.Node("a-1", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Asks("1"), build.OwnedBy("Node", "a-1"), func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "m"} }, priority(0))}, ""},
		"a class that moves nobody aside":    {highClass + "\npreemptionPolicy: Never", high(1, "8"), []any{build.Node("a-1", build.GPUs(8)), low("x-0", "a-1", "8")}, "the priority class high moves nobody aside (preemptionPolicy Never)"},
		"a class that is not in the view":    {gpuQuota[1:], high(1, "8"), []any{build.Node("a-1", build.GPUs(8)), low("x-0", "a-1", "8")}, "the priority class high may move others aside; that is not considered"},
		"another scheduler has its own ways": {highClass, in("ml", gangOf(group("Worker", 1, build.Asks("8"), class("high"), spec(func(s *corev1.PodSpec) { s.SchedulerName = "volcano" })))), []any{build.Node("a-1", build.GPUs(8)), low("x-0", "a-1", "8")}, "the priority class high may move others aside; that is not considered"},
		"a claim that others use may bind pods elsewhere": {
			highClass, in("ml", gangOf(group("Worker", 1, build.Asks("8"), class("high"), mounts("data")))),
			[]any{build.Node("a-1", build.GPUs(8)), low("x-0", "a-1", "8"), build.Pod("user", build.In("ml"), build.On("b"), mounts("data"), priority(2000))},
			"whom the priority class high may move aside is not worked out for pods that look at other pods",
		},
		"a guarded pod is named as such": {guard, high(1, "8"), []any{build.Node("a-1", build.GPUs(8)), build.Pod("x", build.On("a-1"), build.Asks("8"), build.PodLabel("app", "x"), priority(0))}, "pod default/x (priority 0, guarded by PodDisruptionBudget default/stay) would have to go for the priority class high (1000)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), ruled(t, tc.objects, nil, tc.items...), tc.gang)
			got := ""
			if r.Preempts != nil {
				got = r.Preempts.String()
			}
			for _, a := range r.Assumed {
				if strings.Contains(a, "priority class") {
					got += a
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("who goes (-want +got):\n%s", diff)
			}
			if r.Verdict != fit.Full && r.Verdict != fit.Fragmented && r.Verdict != fit.TooBig {
				t.Errorf("the verdict is %s; nobody has gone yet", r.Verdict)
			}
		})
	}
}

// TestVictimsAreEnoughAndNoneIsTooMany takes the victims away for real, all and all but one.
func TestVictimsAreEnoughAndNoneIsTooMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 17))
	found := 0
	for round := range 400 {
		var nodes, pods []any
		var names []*corev1.Pod
		for n := range 2 + rng.IntN(4) {
			node := fmt.Sprintf("n%d", n)
			nodes = append(nodes, build.Node(node, build.GPUs(8)))
			for left, i := 8, 0; left > 0 && i < 4; i++ {
				take := min(left, 1+rng.IntN(5))
				left -= take
				o := []build.PodOption{build.On(node), build.Asks(fmt.Sprint(take)), priority(int32(rng.IntN(3) * 500))}
				if rng.IntN(4) == 0 {
					o = append(o, build.HostPort(29500))
				}
				p := build.Pod(fmt.Sprintf("%s-%d", node, i), o...)
				pods, names = append(pods, p), append(names, p)
			}
		}
		more := [...]build.PodOption{build.Requests("cpu=1"), build.Requests("cpu=1"), build.HostPort(29500), build.Spec(func(s *corev1.PodSpec) { s.Affinity = apartFrom(corev1.LabelHostname, "role", "w") })}[rng.IntN(4)]
		g := in("ml", gangOf(group("Worker", 1+rng.IntN(3), build.Asks(fmt.Sprint(2+rng.IntN(6))), class("high"), role("w"), more)))
		r := whatif.Answer(t.Context(), ruled(t, highClass, nil, append(nodes, pods...)...), g)
		if r.Preempts == nil || r.Preempts.InPart {
			continue
		}
		found++
		gone := map[string]bool{}
		for _, v := range r.Preempts.Victims {
			gone[v.Name] = true
			if v.Priority >= 1000 {
				t.Fatalf("round %d: %s goes for 1000", round, v)
			}
		}
		fits := func(stays string) bool {
			items := append([]any{}, nodes...)
			for _, p := range names {
				if !gone[p.Name] || p.Name == stays {
					items = append(items, p)
				}
			}
			return whatif.Answer(t.Context(), ruled(t, highClass, nil, items...), g).Verdict == fit.Fits
		}
		if !fits("") {
			t.Fatalf("round %d: without %v it does not fit", round, r.Preempts)
		}
		for name := range gone {
			if fits(name) {
				t.Fatalf("round %d: %s could stay: %v", round, name, r.Preempts)
			}
		}
	}
	if found < 100 {
		t.Errorf("victims were found in %d rounds only", found)
	}
}

func TestVictimsOfALargeGangAreProven(t *testing.T) {
	for i, asked := range manyPriorities(t) {
		r := whatif.Answer(t.Context(), asked.on, asked.gang)
		if r.Preempts == nil {
			t.Errorf("gang %d: nobody is named who would have to go for 64 nodes: %q", i, r.Assumed)
			continue
		}
		pods := 0
		for _, v := range r.Preempts.Victims {
			pods += v.Pods
		}
		if pods != 64*8 {
			t.Errorf("gang %d: %d pods would have to go, want those of 64 nodes, 512", i, pods)
		}
	}
}
