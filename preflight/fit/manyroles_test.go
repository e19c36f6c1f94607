package fit_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// crowd is so many roles of a pod each, all of which ask for something else, and further ones.
func crowd(roles int, more ...gang.Group) gang.Gang {
	var g gang.Gang
	for i := range roles {
		g.Groups = append(g.Groups, group(fmt.Sprintf("r%02d", i), 1, build.Requests(fmt.Sprintf("cpu=%dm", i+1))))
	}
	return gangOf(append(g.Groups, more...)...)
}

// TestManyRolesThatDifferInWhatTheyAskForAreJudged: most roles have nothing to do with the rules, and no two ask
// for the same.
func TestManyRolesThatDifferInWhatTheyAskForAreJudged(t *testing.T) {
	small := build.Node("a", build.Allocatable("pods", "4"), build.Label("zone", "a"))
	large := build.Node("b", build.Allocatable("pods", "110"), build.Label("zone", "b"))
	beside := build.Pod("cache", build.On("a"), role("cache"))
	both := build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = apartFrom("zone", "role", "y")
		s.Affinity.PodAffinity = build.Pod("x", near("zone", "y")).Spec.Affinity.PodAffinity
	})
	cases := map[string]struct {
		on   *cluster.Snapshot
		gang gang.Gang
		want fit.Verdict
	}{
		"those that must go to one node go first, where all of both is needed": {
			build.Cluster(small, build.Node("b", build.Allocatable("pods", "79"), build.Label("zone", "b")), beside, build.Pod("web", build.On("b"), role("web"))),
			crowd(79, group("x", 1, near("zone", "cache")), group("y", 1, near("zone", "web"))), fit.Fits,
		},
		"a role that keeps away from whom it must be near finds no place": {
			build.Cluster(small, large), crowd(80, group("x", 1, both), group("y", 1, role("y"))), fit.TooBig,
		},
		"65 that keep together find one zone": {
			build.Cluster(small, large), together(65, "zone"), fit.Fits,
		},
		"111 that keep together find none": {
			build.Cluster(small, large), together(111, "zone"), fit.TooBig,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := whatif.Answer(t.Context(), tc.on, tc.gang); got.Verdict != tc.want {
				t.Errorf("%s, assumed %q; want %s", got, got.Assumed, tc.want)
			}
		})
	}
}

// together are roles that all keep together in one domain.
func together(roles int, topology string) gang.Gang {
	g := crowd(roles)
	for i := range g.Groups {
		g.Groups[i] = group(g.Groups[i].Name, 1, build.Requests(fmt.Sprintf("cpu=%dm", i+1)), role("x"), near(topology, "x"))
	}
	return g
}
