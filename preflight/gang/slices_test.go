package gang

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

func TestSlicesOfARoleInAQueueOfKueue(t *testing.T) {
	const sliced, sized, each = "kueue.x-k8s.io/podset-slice-required-topology", "kueue.x-k8s.io/podset-slice-size", "the slices of worker lie in one rack each"
	own := &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "cache"}},
	}}}}
	cases := map[string]struct {
		pods        int
		annotations map[string]string
		affinity    *corev1.Affinity
		slices      int
		untied      string
	}{
		"two of two pods":       {4, map[string]string{sliced: "rack", sized: "2"}, nil, 2, ""},
		"as many as are told":   {512, map[string]string{sliced: "rack", sized: "2"}, nil, 256, ""},
		"one more":              {514, map[string]string{sliced: "rack", sized: "2"}, nil, 0, each},
		"a pod is left over":    {5, map[string]string{sliced: "rack", sized: "2"}, nil, 0, each},
		"no size":               {4, map[string]string{sliced: "rack"}, nil, 0, each},
		"all in one block, too": {4, map[string]string{sliced: "rack", sized: "2", requiredTopology: "block"}, nil, 0, "the pods that " + sliced + " keeps together lie in one rack"},
		"beside one's own rule": {4, map[string]string{sliced: "rack", sized: "2"}, own, 0, "the pods that " + sliced + " keeps together lie in one rack"},
		"slices within slices":  {4, map[string]string{sliceLayers: `[{"topology":"rack","size":4}]`}, nil, 0, "the slices of worker lie in domains within domains"},
		"one rack and one's own rule": {
			4, map[string]string{requiredTopology: "rack"}, own, 0, "the pods that " + requiredTopology + " keeps together lie in one rack",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			role := job.Role{Name: "worker", Replicas: job.Exactly(tc.pods)}
			role.Pod.Annotations, role.Pod.Spec.Affinity = tc.annotations, tc.affinity
			role.Pod.Marks.Labels = map[string]string{"job-name": "train"}
			g := Of(&job.Job{Roles: []job.Role{role}})
			g.InKueue("team")
			parts := 0
			for _, o := range g.InParts(noPriority).Groups {
				if o.Part != nil {
					parts++
				}
			}
			if got, want := fmt.Sprint(parts, " ", g.Groups[0].Untied), fmt.Sprint(tc.slices, " ", tc.untied); got != want {
				t.Errorf("%s; want %s", got, want)
			}
		})
	}
}
