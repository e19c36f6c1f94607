package gang

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

const key = "example.com/part"

// inParts is a job of one role of so many parts of two pods, whose pods stay with those of their part.
func inParts(parts int) *job.Job {
	p := &job.Parts{Label: key}
	for i := range parts {
		p.Values = append(p.Values, fmt.Sprintf("part-%d", i))
	}
	role := job.Role{Name: "worker", Replicas: job.Exactly(2 * parts), Parts: p}
	role.Pod.Marks.Varies = []string{key}
	role.Pod.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: "rack", LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{job.Own}}}},
	}}}}
	return &job.Job{Roles: []job.Role{role}}
}

func TestPartsAreGroupsOfTheirOwn(t *testing.T) {
	g := Of(inParts(3))
	parts := g.InParts(noPriority)
	var got []string
	for _, o := range parts.Groups {
		value, _, _, doubt := o.Pod.Label(key)
		near := o.Pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions[0].Values
		got = append(got, fmt.Sprint(o.Name, " ", o.Count, " ", value, " near ", near, doubt))
	}
	want := []string{"worker 2 part-0 near [part-0]", "worker 2 part-1 near [part-1]", "worker 2 part-2 near [part-2]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("InParts (-want +got):\n%s", diff)
	}
	if parts.Pods() != g.Pods() || len(parts.InParts(noPriority).Groups) != 3 {
		t.Errorf("%d pods in parts, %d before; %d groups once more", parts.Pods(), g.Pods(), len(parts.InParts(noPriority).Groups))
	}
	whole := parts.Whole()
	if len(whole.Groups) != 1 || whole.Groups[0].Count != 6 || whole.Groups[0].Min != 6 {
		t.Errorf("whole again: %+v", whole.Groups)
	}
	if affinity := g.Groups[0].Pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]; affinity.LabelSelector.MatchExpressions[0].Values[0] != job.Own {
		t.Errorf("the role itself was changed: %v", affinity)
	}
}

// A pod that runs belongs to the part that its label names.
func TestPodsBelongToTheirPart(t *testing.T) {
	groupOf := Of(inParts(3)).InParts(noPriority).Indexes()
	for value, want := range map[string]int{"part-0": 0, "part-2": 2, "of another": 0} {
		if at := groupOf("worker", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{key: value}}}); at != want {
			t.Errorf("%s: group %d, want %d", value, at, want)
		}
	}
	if at := groupOf("master", &corev1.Pod{}); at != -1 {
		t.Errorf("of a role that is not there: %d", at)
	}
}

// What cannot be told apart stays whole, and is judged as such.
func TestRolesThatStayWhole(t *testing.T) {
	for name, tc := range map[string]struct {
		parts  int
		change func(g *Group)
		want   int
	}{
		"as many parts as are told apart": {mostParts, func(*Group) {}, mostParts},
		"one more":                        {mostParts + 1, func(*Group) {}, 1},
		"some pods have ended":            {4, func(g *Group) { g.Count, g.Min = 4, 4 }, 1},
		"some pods are optional":          {4, func(g *Group) { g.Min = 4 }, 1},
	} {
		g := Of(inParts(tc.parts))
		tc.change(&g.Groups[0])
		if got := len(g.InParts(noPriority).Groups); got != tc.want {
			t.Errorf("%s: %d groups, want %d", name, got, tc.want)
		}
	}
}

// A role that waits for another waits for all of its parts, and no part for another.
func TestStagesOfParts(t *testing.T) {
	j := inParts(3)
	j.Roles[0].After = []string{"worker"}
	j.Roles = append(j.Roles, job.Role{Name: "report", Replicas: job.Exactly(1), After: []string{"worker"}})
	o, sorted := Of(j).InParts(noPriority).Order(func(int) bool { return true })
	if diff := cmp.Diff([][]int{{0, 1, 2}, {3}}, o.Stages); diff != "" || !sorted {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
	for part := range 3 {
		if !o.CompletedBefore(part, 3) || o.CompletedBefore(0, part) {
			t.Errorf("part %d and the report", part)
		}
	}
}

func noPriority(*corev1.PodSpec) (value int32, known bool) { return 0, false }

// Parts whose priority a label says keep apart from those of the same alone; where it is not known, from all.
func TestPartsOfAPriority(t *testing.T) {
	const ranks = "example.com/priority"
	j := inParts(1)
	j.Roles[0].Parts.PriorityLabel, j.Roles[0].Pod.Marks.Some = ranks, []string{ranks}
	affinity := j.Roles[0].Pod.Spec.Affinity
	affinity.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: "rack", LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: key, Operator: metav1.LabelSelectorOpExists}, {Key: ranks, Operator: metav1.LabelSelectorOpIn, Values: []string{job.Own}},
		}},
	}}}
	for known, want := range map[bool]string{true: "7 [{example.com/part Exists []} {example.com/priority In [7]}]", false: " [{example.com/part Exists []}]"} {
		one := Of(j).InParts(func(*corev1.PodSpec) (int32, bool) { return 7, known }).Groups[0].Pod
		value, _, _, _ := one.Label(ranks)
		got := fmt.Sprint(value, " ", one.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions)
		if got != want {
			t.Errorf("known %v: %s\nwant %s", known, got, want)
		}
	}
}
