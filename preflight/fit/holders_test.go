package fit_test

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestWhoHoldsWhatAGangWaitsFor(t *testing.T) {
	of := func(job, node, gpus string) *corev1.Pod {
		return build.Pod(job+"-"+node, build.On(node), build.In("ml"), build.Asks(gpus), build.PodLabel("training.kubeflow.org/job-name", job), build.OwnedBy("PyTorchJob", job))
	}
	single := func(name, node, gpus string, more ...build.PodOption) *corev1.Pod {
		return build.Pod(name, append([]build.PodOption{build.On(node), build.In("ml"), build.Asks(gpus)}, more...)...)
	}
	nodes := build.Nodes(4, "a", build.GPUs(8))
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string
	}{
		"one job is enough, and the one with fewest devices is named": {
			clusterOf(nodes, of("large", "a-1", "8"), of("large", "a-2", "8"), of("small", "a-3", "4")), gpus(2, "8"),
			"smallest: PyTorchJob ml/small 1 4 [a-3]",
		},
		"a service and a pod without an owner hold room, too": {
			clusterOf(nodes[:2], single("web-1", "a-1", "4", build.OwnedBy("ReplicaSet", "web")), single("bare", "a-2", "4")), gpus(2, "8"),
			"smallest: Pod ml/bare 1 4 [a-2], ReplicaSet ml/web 1 4 [a-1]",
		},
		"of two alike the notebook is named, and marked": {
			clusterOf(nodes[:2], of("train", "a-1", "8"), single("nb-0", "a-2", "8", build.OwnedBy("StatefulSet", "nb"), build.PodLabel("notebook-name", "nb"))), gpus(1, "8"),
			"smallest: StatefulSet ml/nb 1 8 [a-2] (a notebook)",
		},
		"what belongs to its node stays": {
			clusterOf(nodes[:1], single("agent", "a-1", "1", build.OwnedBy("DaemonSet", "agent")), of("x", "a-1", "4")), gpus(1, "7"),
			"smallest: PyTorchJob ml/x 1 4 [a-1]",
		},
		"too big for everybody":  {clusterOf(nodes[:1], of("x", "a-1", "8")), gpus(2, "8"), "it would not fit on the idle cluster: nobody's end makes room"},
		"it fits, nobody has to": {clusterOf(nodes, of("x", "a-1", "8")), gpus(3, "8"), "it fits as it is: nobody has to end"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, departureText(whatif.Holders(t.Context(), tc.on, tc.gang, whatif.Answer(t.Context(), tc.on, tc.gang)))); diff != "" {
				t.Errorf("Holders (-want +got):\n%s", diff)
			}
		})
	}
}

func departureText(d whatif.Departure) string {
	if d.Reason != "" {
		return d.Reason
	}
	var out []string
	for _, h := range d.Holders {
		text := fmt.Sprintf("%s %s/%s %d %d %v", h.Kind, h.Namespace, h.Name, h.Pods, h.Devices, h.Nodes)
		if len(h.Marks) > 0 {
			text += " (" + strings.Join(h.Marks, ", ") + ")"
		}
		out = append(out, text)
	}
	return map[bool]string{true: "smallest: ", false: "a small set: "}[d.Smallest] + strings.Join(out, ", ")
}

// TestTheSmallestSetIsTheSmallest tries every set of holders of small worlds by the exhaustive fit: the
// set that is named will do, and where it is called the smallest no other has fewer holders.
func TestTheSmallestSetIsTheSmallest(t *testing.T) {
	asked, several := 0, 0
	for seed := range uint64(1500) {
		r := rand.New(rand.NewPCG(seed, 18))
		w := newWorld(r, 4, 2)
		for i, p := range w.pods {
			p.Name = fmt.Sprintf("p%d", i)
			if one(r, 2) && len(p.OwnerReferences) == 0 {
				p.Labels = map[string]string{"job-name": string(rune('a' + r.IntN(3)))}
			}
		}
		view := w.snapshot()
		was := whatif.Answer(t.Context(), view, w.gang)
		if was.Verdict != fit.Full && was.Verdict != fit.Fragmented {
			continue
		}
		asked++
		got := whatif.Holders(t.Context(), view, w.gang, was)
		names, pods := holdersOf(w.pods)
		without := func(gone func(name string) bool) bool {
			return referenceFit(w.nodes, slices.DeleteFunc(slices.Clone(w.pods), func(p *corev1.Pod) bool { return gone(pods[p.Name]) }), w.gang, false)
		}
		least := -1
		for set := range uint(1) << len(names) {
			if n := bits.OnesCount(set); (least < 0 || n < least) && without(func(name string) bool { at := slices.Index(names, name); return at >= 0 && set>>at&1 == 1 }) {
				least = n
			}
		}
		if got.Reason != "" || !got.Smallest || len(got.Holders) != least {
			t.Fatalf("seed %d: %s; trying everything finds a set of %d\n%s", seed, departureText(got), least, w)
		}
		if !without(func(name string) bool {
			return slices.ContainsFunc(got.Holders, func(h whatif.Holder) bool { return h.Name == name })
		}) {
			t.Fatalf("seed %d: it does not fit without %s\n%s", seed, departureText(got), w)
		}
		if least > 1 {
			several++
		}
	}
	t.Logf("%d worlds, %d with more than one holder", asked, several)
	if asked < 100 || several < 30 {
		t.Errorf("%d worlds wait, %d of them for several holders: they test nothing", asked, several)
	}
}

// holdersOf are the names of what may end, and what each pod belongs to.
func holdersOf(all []*corev1.Pod) (names []string, of map[string]string) {
	of = map[string]string{}
	for _, p := range all {
		ended := p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
		if len(p.OwnerReferences) > 0 || ended {
			continue
		}
		name := p.Name
		if job := p.Labels["job-name"]; job != "" {
			name = job
		}
		of[p.Name] = name
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, of
}

// TestASetThatWasNotProvenIsNotCalledTheSmallest gives the search one set less than the proof takes.
func TestASetThatWasNotProvenIsNotCalledTheSmallest(t *testing.T) {
	// One alone, then two; without the first, without the second; then each alone.
	const spent = 4
	for name, tc := range map[string]struct {
		pods, tries int
		named       int
		want        bool
	}{
		"one is tried":         {3, 1, 0, false},
		"one less than enough": {3, spent + 2, 2, false},
		"just enough":          {3, spent + 3, 2, true},
		"600 sets":             {whatif.MostSetsTried - spent, whatif.MostSetsTried, 2, true},
		"601 sets":             {whatif.MostSetsTried - spent + 1, whatif.MostSetsTried, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			var items []build.Item
			for i := range tc.pods {
				node := fmt.Sprintf("a-%d", i+1)
				items = append(items, build.Pod("x"+node, build.On(node), build.Asks("8")))
			}
			view, g := clusterOf(build.Nodes(tc.pods, "a", build.GPUs(8)), items), gpus(2, "8")
			got := whatif.HoldersWithin(t.Context(), view, g, whatif.Answer(t.Context(), view, g), tc.tries)
			if got.Smallest != tc.want || len(got.Holders) != tc.named {
				t.Errorf("%s; want %d, smallest %t", departureText(got), tc.named, tc.want)
			}
		})
	}
}
