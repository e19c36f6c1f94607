package fit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// role labels the pods of a role, for selectors.
func role(name string) build.PodOption { return build.PodLabel("role", name) }

func near(topology, name string) build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: topology, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"role": name}},
		}}}}
	})
}

func apartOver(topology, name string) build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) { s.Affinity = apartFrom(topology, "role", name) })
}

func even(topology, name string, skew int32, more ...func(*corev1.TopologySpreadConstraint)) build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		c := corev1.TopologySpreadConstraint{
			MaxSkew: skew, TopologyKey: topology, WhenUnsatisfiable: corev1.DoNotSchedule,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"role": name}},
		}
		for _, change := range more {
			change(&c)
		}
		s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, c)
	})
}

// threeZones are zones of one, two and three nodes of 8 GPUs.
func threeZones(more ...any) *cluster.Snapshot {
	for zone := range 3 {
		for node := range zone + 1 {
			more = append(more, build.Node(fmt.Sprintf("%c%d", 'a'+zone, node), build.GPUs(8), build.Label("zone", string(rune('a'+zone)))))
		}
	}
	return clusterOf(more...)
}

func TestPodsThatDecideWhereOthersGo(t *testing.T) {
	workers := func(count int, options ...build.PodOption) gang.Gang {
		return gangOf(group("Worker", count, append([]build.PodOption{build.Asks("8"), role("w")}, options...)...))
	}
	w := func(node string) *corev1.Pod {
		return build.Pod("w-"+node, build.On(node), role("w"), build.Asks("8"))
	}
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string
	}{
		"spread over zones, as far as the smallest lets them": {
			threeZones(), workers(5, even("zone", "w", 1)),
			"5 of 5 pods fit: 5 Workers on 5 nodes",
		},
		"one more, and the smallest zone holds the others back": {
			threeZones(), workers(6, even("zone", "w", 1)),
			"5 of 6 pods fit: 6 Workers spread over zone with a skew of at most 1: at most 5 of 6 pods, for the emptiest domain gets no further than 1",
		},
		"a skew of two is enough": {
			threeZones(), workers(6, even("zone", "w", 2)),
			"6 of 6 pods fit: 6 Workers on 6 nodes",
		},
		"fewer zones than it wants count as an empty one": {
			threeZones(), workers(4, even("zone", "w", 1, func(c *corev1.TopologySpreadConstraint) { n := int32(4); c.MinDomains = &n })),
			"3 of 4 pods fit: 4 Workers spread over zone with a skew of at most 1: at most 3 of 4 pods, for the emptiest domain gets no further than 0",
		},
		"pods that run count": {
			threeZones(w("c0"), w("c1"), w("c2")), workers(3, even("zone", "w", 1)),
			"3 of 3 pods fit: 3 Workers on 3 nodes",
		},
		"pods that run fill a zone": {
			threeZones(w("b0"), w("b1")), workers(4, even("zone", "w", 1)),
			"3 of 4 pods fit now: 4 Workers spread over zone with a skew of at most 1: at most 3 of 4 pods, for the emptiest domain gets no further than 1",
		},
		"all in one zone that has room": {
			threeZones(), workers(3, near("zone", "w")),
			"3 of 3 pods fit: 3 Workers on 3 nodes",
		},
		"all in one zone, and none is large enough": {
			threeZones(), workers(4, near("zone", "w")),
			"3 of 4 pods fit: 4 Workers must all share one zone; at most 3 of 4 find room in one",
		},
		"where one of them runs already, the others must go": {
			threeZones(w("a0")), workers(2, near("zone", "w")),
			"0 of 2 pods fit now: 2 Workers must share one zone with pods that run; at most 0 of 2 find room there",
		},
		"near to pods that are not there": {
			threeZones(), workers(2, near("zone", "cache")),
			"0 of 2 pods fit: 2 Workers must share one zone with pods that do not run",
		},
		"the master decides the zone of its workers": {
			threeZones(), gangOf(group("Worker", 2, build.Asks("8"), role("w"), near("zone", "m")), group("Master", 1, build.Asks("8"), role("m"))),
			"3 of 3 pods fit: 2 Workers + 1 Master on 3 nodes",
		},
		"two masters apart, each with its workers": {
			threeZones(), gangOf(group("Worker", 3, build.Asks("8"), role("w"), near("zone", "m")), group("Master", 2, build.Asks("8"), role("m"), apartOver("zone", "m"))),
			"5 of 5 pods fit: 3 Workers + 2 Masters on 5 nodes",
		},
		"spread over zones and over nodes at once": {
			threeZones(), gangOf(group("Worker", 10, build.Asks("2"), role("w"), even("zone", "w", 1), even(corev1.LabelHostname, "w", 1))),
			"5 of 10 pods fit: no placement keeps spread over zone, spread over kubernetes.io/hostname and the room on the nodes",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(t.Context(), tc.on, tc.gang)
			text := got.String()
			if got.Reason != "" {
				text = got.Headline() + ": " + got.Reason
			}
			if diff := cmp.Diff(tc.want, text); diff != "" {
				t.Errorf("Fit (-want +got):\n%s\nassumed %q, plan %v", diff, got.Assumed, got.Plan)
			}
		})
	}
}

func TestAnOrderIsGivenWhereItMatters(t *testing.T) {
	got := whatif.Answer(t.Context(), threeZones(), gangOf(group("Worker", 2, build.Asks("8"), role("w"), near("zone", "m")), group("Master", 1, build.Asks("8"), role("m"))))
	want := []fit.Placement{{Group: "Master", Node: "c0", Count: 1}, {Group: "Worker", Node: "c1", Count: 1}, {Group: "Worker", Node: "c2", Count: 1}}
	if diff := cmp.Diff(want, got.Order); diff != "" {
		t.Errorf("Order: the master first, its workers in its zone (-want +got):\n%s", diff)
	}
	if got := whatif.Answer(t.Context(), threeZones(), gpus(6, "8")); got.Order != nil {
		t.Errorf("Order of pods that any order will do for is %v; want none", got.Order)
	}
}

// TestOnlyWhatIsInTheWayIsNamed is about rules that no room helps against: there is enough of every
// resource, and none is named.
func TestOnlyWhatIsInTheWayIsNamed(t *testing.T) {
	two := clusterOf(build.Nodes(2, "a", build.GPUs(8)))
	apart := gangOf(group("Worker", 3, build.Asks("1"), role("w"), apartOver(corev1.LabelHostname, "w")))
	port := gangOf(group("Worker", 3, build.Asks("1"), build.HostPort(2222)))
	lost := in("ml", gangOf(group("Worker", 1, build.Asks("1"), mounts("data"))))
	noClaims := ruled(t, "", []string{"persistentvolumeclaims"}, build.Node("a", build.GPUs(8)))
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want string
	}{
		"anti-affinity over nodes": {two, apart, "too-big 2 of 3 pods fit: 3 Workers need a node each (required pod anti-affinity); 2 nodes could take one, even idle"},
		"a port of the node":       {two, port, "too-big 2 of 3 pods fit: 3 Workers need a node each (they take the same port of it); 2 nodes could take one, even idle"},
		"a claim that is missing":  {noClaims, lost, "no-volume the pod does not fit: the claim data does not exist in namespace ml; 1 node closed by ports, volumes or affinity"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), tc.on, tc.gang)
			if diff := cmp.Diff(tc.want, r.Answer()+" "+r.String()); diff != "" {
				t.Errorf("Fit (-want +got):\n%s", diff)
			}
			if lines := strings.Join(r.Lines()[2:], "\n"); strings.Contains(lines, "short") {
				t.Errorf("a resource is said to be short:\n%s", lines)
			}
		})
	}
}
