package fit_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/test/build"
)

// marked is a job of two roles as its operator makes the pods: 1 Master and 3 Workers that
// keep away from what a selector finds.
func marked(apart metav1.LabelSelector) gang.Gang {
	role := func(name, kind string, n int, options ...build.PodOption) job.Role {
		p := build.Pod(name, append(options, build.Asks("1"))...)
		return job.Role{Name: name, Replicas: job.Exactly(n), Single: n == 1, Pod: job.Pod{Spec: p.Spec, Marks: job.Marks{
			Labels: map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/replica-type": kind},
			Varies: []string{"training.kubeflow.org/replica-index"}, Whole: []string{"training.kubeflow.org/"},
		}}}
	}
	away := build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: corev1.LabelHostname, LabelSelector: &apart},
		}}}
	})
	return gang.Of(&job.Job{Ref: job.Ref{Name: "train", Namespace: "default"}, Roles: []job.Role{role("Master", "master", 1), role("Worker", "worker", 3, away)}})
}

func TestLabelsThatTheOperatorAdds(t *testing.T) {
	of := func(key, value string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{"training.kubeflow.org/" + key: value}}
	}
	index := func(op metav1.LabelSelectorOperator, values ...string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "training.kubeflow.org/replica-index", Operator: op, Values: values}}}
	}
	const unsaid = "Worker: anti-affinity by the label training.kubeflow.org/replica-index, which differs from pod to pod, is not judged"
	cases := map[string]struct {
		apart   metav1.LabelSelector
		nodes   int
		want    fit.Verdict
		assumed string
	}{
		"workers apart from workers, a node for each":          {apart: of("replica-type", "worker"), nodes: 3, want: fit.Fits},
		"workers apart from workers, a node too few":           {apart: of("replica-type", "worker"), nodes: 2, want: fit.TooBig},
		"workers apart from all of the job need one more":      {apart: of("job-name", "train"), nodes: 3, want: fit.TooBig},
		"workers apart from all of the job, with one more":     {apart: of("job-name", "train"), nodes: 4, want: fit.Fits},
		"workers apart from another job's need none":           {apart: of("job-name", "other"), nodes: 1, want: fit.Fits},
		"workers apart from whatever has an index":             {apart: index(metav1.LabelSelectorOpExists), nodes: 3, want: fit.TooBig},
		"workers apart from whatever has none":                 {apart: index(metav1.LabelSelectorOpDoesNotExist), nodes: 1, want: fit.Fits},
		"workers apart from the one with index 0: nobody says": {apart: index(metav1.LabelSelectorOpIn, "0"), nodes: 1, want: fit.Unknown, assumed: unsaid},
		"three nodes may be too few":                           {apart: index(metav1.LabelSelectorOpIn, "0"), nodes: 3, want: fit.Unknown, assumed: unsaid},
		"whichever it is, a node for each pod is enough":       {apart: index(metav1.LabelSelectorOpIn, "0"), nodes: 4, want: fit.Fits},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var nodes []build.Item
			for i := range tc.nodes {
				nodes = append(nodes, build.Node(string(rune('a'+i)), build.GPUs(8)))
			}
			got := whatif.Answer(t.Context(), build.Cluster(nodes...), marked(tc.apart))
			if got.Verdict != tc.want {
				t.Errorf("the verdict is %s, want %s: %s", got.Verdict, tc.want, got)
			}
			if tc.assumed != "" {
				if diff := cmp.Diff([]string{tc.assumed, "resources and nodes alone would allow it"}, slices.Sorted(slices.Values(got.Assumed))); diff != "" {
					t.Errorf("assumed (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestAPodThatRunsKeepsAJobAwayByTheLabelsOfItsOperator(t *testing.T) {
	guard := build.Pod("guard", build.On("a"), build.Spec(func(s *corev1.PodSpec) {
		s.Affinity = apartFrom(corev1.LabelHostname, "training.kubeflow.org/job-name", "train")
	}))
	got := whatif.Answer(t.Context(), build.Cluster(build.Node("a", build.GPUs(8)), guard), marked(metav1.LabelSelector{MatchLabels: map[string]string{"x": "y"}}))
	if got.Verdict != fit.Full || got.Rejected.Other != 1 {
		t.Errorf("the verdict is %s with %d nodes closed by pods; want full, 1: %s", got.Verdict, got.Rejected.Other, got)
	}
}
