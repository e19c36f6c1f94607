package fit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// inRacks is a cluster of idle racks.
func inRacks(racks, nodes int) *cluster.Snapshot {
	items := []any{build.Pod("other", build.In("x"), build.On("r000-00"), build.Requests("cpu=1"))}
	for i := range racks * nodes {
		rack := fmt.Sprintf("r%03d", i/nodes)
		items = append(items, build.Node(fmt.Sprintf("%s-%02d", rack, i%nodes), build.GPUs(8), build.Label("rack", rack)))
	}
	return clusterOf(items...)
}

// placed is a job of so many parts, each of which wants a rack to itself.
func placed(parts, pods int) gang.Gang {
	const label = "example.com/key"
	p := build.Pod("x", build.Asks("8"))
	role := job.Role{Name: "slice", Replicas: job.Exactly(parts * pods), Parts: &job.Parts{Label: label, By: "exclusive"}}
	for i := range parts {
		role.Parts.Values = append(role.Parts.Values, fmt.Sprintf("key-%d", i))
	}
	term := func(all ...metav1.LabelSelectorRequirement) []corev1.PodAffinityTerm {
		return []corev1.PodAffinityTerm{{TopologyKey: "rack", LabelSelector: &metav1.LabelSelector{MatchExpressions: all}}}
	}
	own := []string{job.Own}
	p.Spec.Affinity = &corev1.Affinity{
		PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term(
			metav1.LabelSelectorRequirement{Key: label, Operator: metav1.LabelSelectorOpIn, Values: own})},
		PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: term(
			metav1.LabelSelectorRequirement{Key: label, Operator: metav1.LabelSelectorOpExists},
			metav1.LabelSelectorRequirement{Key: label, Operator: metav1.LabelSelectorOpNotIn, Values: own})},
	}
	role.Pod = job.Pod{Spec: p.Spec, Labels: p.Labels, Marks: job.Marks{Varies: []string{label}}}
	return gang.Of(&job.Job{Ref: job.Ref{Namespace: "ml", Name: "train"}, Roles: []job.Role{role}})
}

func TestPlacesOfTheirOwn(t *testing.T) {
	for name, tc := range map[string]struct {
		on      *cluster.Snapshot
		gang    gang.Gang
		verdict fit.Verdict
		says    string
	}{
		"a rack each":                           {inRacks(3, 2), placed(3, 2), fit.Fits, ""},
		"one rack too few":                      {inRacks(2, 4), placed(3, 2), fit.TooBig, "6 pods of slice are 3 sets that each need one rack to themselves; at most 2 sets can have one\nfits with 4 pods of slice instead of 6"},
		"racks that none fits into":             {inRacks(4, 1), placed(2, 2), fit.TooBig, "2 pods of slice must all share one rack; at most 1 of 2 find room in one\nfits without exclusive"},
		"a hundred racks, as many parts":        {inRacks(100, 8), placed(100, 8), fit.Fits, ""},
		"more parts than one question can pay":  {inRacks(255, 3), placed(256, 2), fit.Unknown, "the answer takes more than the 786432 steps"},
		"more parts than are told from another": {inRacks(300, 1), placed(257, 1), fit.Unknown, "the label example.com/key, which differs from pod to pod"},
	} {
		t.Run(name, func(t *testing.T) {
			r := whatif.Answer(t.Context(), tc.on, tc.gang)
			said := r.Reason + "\n" + strings.Join(append(r.Changes, r.Assumed...), "\n")
			if r.Verdict != tc.verdict || !strings.Contains(said, tc.says) {
				t.Errorf("%v: %s\nwant %v: %s", r.Verdict, said, tc.verdict, tc.says)
			}
		})
	}
}

// What stands in the way of a job in parts may be a rule that its author wrote, not the one by which the parts keep apart.
func TestPartsWithoutTheRulesOfTheirAuthor(t *testing.T) {
	var items []any
	for i := range 4 {
		rack := fmt.Sprintf("r%03d", i/2)
		items = append(items, build.Node(fmt.Sprintf("%s-%02d", rack, i%2), build.GPUs(8), build.Label("rack", rack)))
	}
	items = append(items, build.Pod("noisy", build.In("ml"), build.On("r000-00"), build.Requests("cpu=1"), build.PodLabel("app", "noisy")))
	g := placed(2, 2)
	rule := &g.Groups[0].Pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*rule = append(*rule, corev1.PodAffinityTerm{TopologyKey: "rack", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "noisy"}}})
	r := whatif.Answer(t.Context(), clusterOf(items...), g)
	want := "fits without the required affinity and anti-affinity to other pods, but for exclusive"
	if r.Verdict == fit.Fits || !slices.ContainsFunc(r.Changes, func(c string) bool { return strings.HasPrefix(c, want) }) {
		t.Errorf("%v: %q; want a change that begins with %q", r.Verdict, r.Changes, want)
	}
}

// A quota counts a role, not its parts: pods that exist are those of the role that has them.
func TestFewerPartsWithinAQuota(t *testing.T) {
	g := placed(3, 2)
	g.Groups = append(g.Groups, group("data", 2, build.Requests("cpu=1")))
	g.Own = func(p *corev1.Pod) (string, bool) { return "data", p.Name == "data-0" }
	items := []build.Item{build.Pod("data-0", build.In("ml"), build.On("r000-00"), build.Requests("cpu=1"))}
	for i := range 6 {
		rack := fmt.Sprintf("r%03d", i/2)
		items = append(items, build.Node(fmt.Sprintf("%s-%02d", rack, i%2), build.GPUs(8), build.Label("rack", rack)))
	}
	got := whatif.Answer(t.Context(), ruled(t, quotaOf("pods: 6", "pods: 1", ""), nil, items), g).Change
	if want := "fits with 4 pods of slice instead of 6, which is within ResourceQuota ml/q"; !strings.HasPrefix(got, want) {
		t.Errorf("change %q, want %q", got, want)
	}
}

// Kueue writes on no pod of which slice it is: where pods have nodes, neither a yes nor a no is certain.
func TestPodsThatDoNotSayOfWhichPartTheyAre(t *testing.T) {
	for _, racks := range []int{1, 2} {
		g := placed(2, 2)
		g.Own = func(p *corev1.Pod) (string, bool) { return "slice", p.Name == "slice-0" }
		items := []any{build.Pod("slice-0", build.In("ml"), build.On("r000-00"), build.Asks("8"))}
		for i := range racks * 2 {
			rack := fmt.Sprintf("r%03d", i/2)
			items = append(items, build.Node(fmt.Sprintf("%s-%02d", rack, i%2), build.GPUs(8), build.Label("rack", rack)))
		}
		r := fit.Fit(t.Context(), clusterOf(items...), g, fit.NewBudget(fit.Steps))
		want := "pods of slice have nodes, and which of its parts they are of is not known"
		if r.Verdict != fit.Unknown || !slices.Contains(r.Assumed, want) {
			t.Errorf("%d racks: %v, %q; want unknown: %s", racks, r.Verdict, r.Assumed, want)
		}
	}
}
