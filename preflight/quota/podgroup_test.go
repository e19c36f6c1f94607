package quota_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestPodGroups(t *testing.T) {
	group1 := func(apiVersion, spec string) string {
		return "apiVersion: " + apiVersion + "\nkind: PodGroup\nmetadata: {name: g, namespace: ml}\nspec: {" + spec + "}"
	}
	mark := func(key string, annotation bool) gang.Gang {
		g := build.Within("ml", build.Workers(4, "1"))
		if annotation {
			g.Groups[0].Pod.Annotations = map[string]string{key: "g"}
		} else {
			g.Groups[0].Pod.Labels = map[string]string{key: "g"}
		}
		return g
	}
	native := build.Within("ml", build.Gang(build.Group("Worker", 4, build.Spec(func(s *corev1.PodSpec) { s.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new("g")} }))))
	const five = "never members PodGroup ml/g: it waits for 5 pods; the job has 4 that name it\n"
	cases := map[string]struct {
		objects string
		gang    gang.Gang
		want    string
	}{
		"scheduler-plugins": {group1("scheduling.x-k8s.io/v1alpha1", "minMember: 5"), mark("scheduling.x-k8s.io/pod-group", false), five},
		"Volcano":           {group1("scheduling.volcano.sh/v1beta1", "minMember: 5"), mark("scheduling.k8s.io/group-name", true), five},
		"T9k":               {group1("scheduler.tensorstack.dev/v1beta1", "minMember: 5"), mark("scheduler.tensorstack.dev/group-name", false), five},
		"Kubernetes 1.37":   {group1("scheduling.k8s.io/v1beta1", "schedulingPolicy: {gang: {minCount: 5}}"), native, five},
		"Kubernetes 1.36":   {group1("scheduling.k8s.io/v1alpha2", "schedulingPolicy: {gang: {minCount: 5}}"), native, five},
		"Kubernetes 1.35": {
			"apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\nmetadata: {name: w, namespace: ml}\nspec: {podGroups: [{name: other, policy: {gang: {minCount: 9}}}, {name: workers, policy: {gang: {minCount: 5}}}]}",
			build.Within("ml", gang.Gang{Groups: []gang.Group{{Name: "Worker", Count: 4, Workload: "w", WorkloadGroup: "workers", Pod: build.Group("x", 1).Pod}}}),
			"never members Workload ml/w: it waits for 5 pods; the job has 4 that name it\n",
		},
		"as many as there are":         {group1("scheduling.k8s.io/v1beta1", "schedulingPolicy: {gang: {minCount: 4}}"), native, ""},
		"no gang":                      {group1("scheduling.k8s.io/v1beta1", "schedulingPolicy: {basic: {}}"), native, ""},
		"a group that may come later":  {strings.Replace(group1("scheduling.x-k8s.io/v1alpha1", "minMember: 5"), "name: g", "name: h", 1), mark("scheduling.x-k8s.io/pod-group", false), ""},
		"a group of another scheduler": {group1("scheduling.volcano.sh/v1beta1", "minMember: 5"), mark("scheduling.x-k8s.io/pod-group", false), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, build.Violations(build.View(t, tc.objects, nil), tc.gang)); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}
