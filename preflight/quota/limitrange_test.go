package quota_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/test/build"
)

func TestLimitRanges(t *testing.T) {
	one := func(options ...build.PodOption) gang.Gang {
		return build.Within("ml", build.Gang(build.Group("Worker", 1, options...)))
	}
	beside := func(c corev1.Container) build.PodOption {
		return build.Spec(func(s *corev1.PodSpec) { s.Containers = append(s.Containers, c) })
	}
	before := func(c corev1.Container) build.PodOption {
		return build.Spec(func(s *corev1.PodSpec) { s.InitContainers = append(s.InitContainers, c) })
	}
	cpus := func(name, request, limit string) corev1.Container {
		return corev1.Container{Name: name, Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{"cpu": resource.MustParse(request)}, Limits: corev1.ResourceList{"cpu": resource.MustParse(limit)},
		}}
	}
	const path = "spec.roles.Worker.template.spec."
	cases := map[string]struct {
		entry string
		gang  gang.Gang
		want  string // and where
	}{
		"within": {"type: Container, min: {cpu: 1}, max: {cpu: 4}", one(limited("cpu", "4")), ""},
		"a limit above the maximum": {
			"type: Container, max: {cpu: 4}", one(limited("cpu", "5")),
			"LimitRange ml/r: container main of Worker has a limit of 5 cpu; the maximum is 4 at " + path + "containers[0].resources.limits.cpu",
		},
		"thousands of devices are whole numbers": {
			"type: Container, max: {nvidia.com/gpu: 1k}", one(limited("nvidia.com/gpu", "2k")),
			"LimitRange ml/r: container main of Worker has a limit of 2000 nvidia.com/gpu; the maximum is 1000 at " + path + "containers[0].resources.limits[\"nvidia.com/gpu\"]",
		},
		"a request below the minimum": {
			"type: Container, min: {cpu: 500m}", one(build.Requests("cpu=200m"), limited("cpu", "1")),
			"LimitRange ml/r: container main of Worker requests 200m cpu; the minimum is 500m at " + path + "containers[0].resources.requests.cpu",
		},
		"a maximum is the default of who says nothing": {"type: Container, max: {cpu: 4}", one(), ""},
		"a minimum is the default of who says nothing": {"type: Container, min: {cpu: 1}", one(), ""},
		"a request above the limit that is filled in": {
			"type: Container, default: {cpu: 4}", one(build.Requests("cpu=6")),
			"LimitRange ml/r: container main of Worker requests 6 cpu; the limit that is filled in is 4 at " + path + "containers[0].resources.requests.cpu",
		},
		"an init container": {
			"type: Container, max: {cpu: 4}", one(before(cpus("fetch", "5", "5"))),
			"LimitRange ml/r: container fetch of Worker has a limit of 5 cpu; the maximum is 4 at " + path + "initContainers[0].resources.limits.cpu",
		},
		"a ratio of four where two is the most": {
			"type: Container, maxLimitRequestRatio: {cpu: 2}", one(build.Requests("cpu=1"), limited("cpu", "4")),
			"LimitRange ml/r: container main of Worker has a limit of 4 cpu and requests 1; the limit may be 2 times the request at " + path + "containers[0].resources.limits.cpu",
		},
		"a ratio of two and a half": {"type: Container, maxLimitRequestRatio: {cpu: 2500m}", one(build.Requests("cpu=2"), limited("cpu", "5")), ""},
		"a ratio above one and a half": {
			"type: Container, maxLimitRequestRatio: {cpu: 1.5}", one(build.Requests("cpu=2"), limited("cpu", "4")),
			"LimitRange ml/r: container main of Worker has a limit of 4 cpu and requests 2; the limit may be 1.5 times the request at " + path + "containers[0].resources.limits.cpu",
		},
		"a ratio of nothing": {
			"type: Container, maxLimitRequestRatio: {cpu: 2}", one(),
			"LimitRange ml/r: container main of Worker needs a request and a limit of cpu; the limit may be 2 times the request at " + path + "containers[0].resources",
		},
		"a pod in sum": {
			"type: Pod, max: {cpu: 6}", one(limited("cpu", "4"), beside(cpus("log", "1", "3"))),
			"LimitRange ml/r: one pod of Worker has a limit of 7 cpu; the maximum is 6 at spec.roles.Worker.template.spec",
		},
		"init containers do not add up with the others": {"type: Pod, max: {cpu: 6}", one(limited("cpu", "4"), before(cpus("fetch", "5", "5"))), ""},
		"a pod whose containers have no limit": {
			"type: Pod, max: {cpu: 6}", one(build.Requests("cpu=1")),
			"LimitRange ml/r: one pod of Worker has no limit of cpu; the maximum is 6 at spec.roles.Worker.template.spec",
		},
		"an amount of the pod itself counts": {"type: Pod, max: {cpu: 6}", one(build.Requests("cpu=1"), build.Spec(podLimit("cpu", "6"))), ""},
		"claims are not pods":                {"type: PersistentVolumeClaim, max: {storage: 1Gi}", one(), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, l := range quota.Violations(build.View(t, build.LimitRange(tc.entry), nil), tc.gang) {
				got += l.String() + " at " + string(l.At)
				if l.When != quota.Never {
					t.Errorf("%s holds %s; want never", l, l.When)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Limits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPodLevelRequestsFollowWhatTheContainersSayThemselves(t *testing.T) {
	s := build.View(t, build.LimitRange("type: Container, defaultRequest: {cpu: 5}"), nil)
	p := quota.Admitted(s, "ml", job.Pod{Spec: build.Pod("x", build.Spec(podLimit("cpu", "2"))).Spec})
	if got := p.Requests["cpu"]; got != 2000 {
		t.Errorf("the pod requests %dm; want 2000m, its own limit, since no container said anything", got)
	}
}

func TestTheBoundOfARatioIsTheLargestLimitThatIsAllowed(t *testing.T) {
	for entry, want := range map[string]int64{"{cpu: 1.5}": 3000, "{cpu: 1500m}": 3000, "{cpu: 1}": 2000, "{cpu: 0.0015}": 4} {
		limits := quota.Violations(build.View(t, build.LimitRange("type: Container, maxLimitRequestRatio: "+entry), nil), build.Within("ml", build.Gang(build.Group("Worker", 1, build.Requests("cpu=2"), limited("cpu", "4")))))
		if len(limits) != 1 || limits[0].Asked != 4000 || limits[0].Hard != want {
			t.Errorf("%s: %+v; want 4000 asked where %d is the most", entry, limits, want)
		}
	}
}
