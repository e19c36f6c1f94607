package fit_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/test/build"
)

// TestWhatAPodGroupAsksOfItsPodsTogetherIsNotJudged: the scheduler places the pods of a group with a topology in
// one domain, and lets them share its devices.
func TestWhatAPodGroupAsksOfItsPodsTogetherIsNotJudged(t *testing.T) {
	g := in("ml", gangOf(group("Worker", 2, build.Asks("8"), build.Spec(func(s *corev1.PodSpec) {
		s.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("g")}
	}))))
	of := func(spec string) string {
		return "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g, namespace: ml}\nspec: {schedulingPolicy: {gang: {minCount: 2}}" + spec + "}\n"
	}
	const apart = "the pod group g keeps its pods in one place, which is not judged"
	const shared = "the pod group g has claims of devices that its pods share, which are not judged"
	cases := map[string]struct {
		group string
		nodes int
		want  fit.Verdict
		why   string
	}{
		"as many as there are":           {of(""), 2, fit.Fits, ""},
		"all in one zone":                {of(", schedulingConstraints: {topology: [{key: zone}]}"), 2, fit.Unknown, apart},
		"in no place in particular":      {of(", schedulingConstraints: {topology: []}"), 2, fit.Fits, ""},
		"beside other groups":            {of(", parentCompositePodGroupName: all"), 2, fit.Unknown, apart},
		"devices that they share":        {of(", resourceClaims: [{name: c, resourceClaimTemplateName: t}]"), 2, fit.Unknown, shared},
		"and too few nodes":              {of(", resourceClaims: [{name: c, resourceClaimTemplateName: t}]"), 1, fit.Unknown, shared},
		"too few nodes in any zone":      {of(", schedulingConstraints: {topology: [{key: zone}]}"), 1, fit.TooBig, ""},
		"a group that is not there":      {"", 2, fit.Unknown, "the pod group g was not read; what it asks of its pods together is not judged"},
		"and not enough nodes in any of": {"", 1, fit.TooBig, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var items []any
			for i := range tc.nodes {
				items = append(items, build.Node([]string{"a", "b"}[i], build.GPUs(8), build.Label("zone", []string{"x", "y"}[i])))
			}
			r := fit.Fit(t.Context(), ruled(t, tc.group, nil, items...), g, fit.NewBudget(fit.Steps))
			if said := strings.Join(r.Assumed, "; "); r.Verdict != tc.want || !strings.Contains(said, tc.why) {
				t.Errorf("%s, said %q; want %s, %q", r.Verdict, said, tc.want, tc.why)
			}
		})
	}
}
