package podspec_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// TestWhatAPodOccupiesIsWhatUpstreamSays: most pods are counted without the helper; that
// must not be seen.
func TestWhatAPodOccupiesIsWhatUpstreamSays(t *testing.T) {
	for seed := range uint64(20000) {
		p := livingPod(rand.New(rand.NewPCG(seed, 3)))
		want := job.ResourcesOf(resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true}))
		if diff := cmp.Diff(want, podspec.Occupied(p)); diff != "" {
			t.Fatalf("seed %d (-upstream +ours):\n%s\nspec %+v\nstatus %+v", seed, diff, p.Spec, p.Status)
		}
	}
}

// livingPod is a pod as a kubelet reports it, resized or not.
func livingPod(r *rand.Rand) *corev1.Pod {
	amounts := func() corev1.ResourceList {
		if r.IntN(4) == 0 {
			return nil
		}
		out := corev1.ResourceList{}
		for _, name := range []corev1.ResourceName{"cpu", "memory", "nvidia.com/gpu"} {
			if r.IntN(3) > 0 {
				out[name] = *resource.NewMilliQuantity(500*r.Int64N(5), resource.DecimalSI)
			}
		}
		return out
	}
	p := &corev1.Pod{}
	always := corev1.ContainerRestartPolicyAlways
	for i := range 1 + r.IntN(8)/7 {
		c := corev1.Container{Name: string(rune('a' + i)), Resources: corev1.ResourceRequirements{Requests: amounts()}}
		p.Spec.Containers = append(p.Spec.Containers, c)
		if r.IntN(2) == 0 {
			continue
		}
		status := corev1.ContainerStatus{Name: c.Name, AllocatedResources: amounts()}
		if r.IntN(2) == 0 {
			status.Resources = &corev1.ResourceRequirements{Requests: amounts()}
		}
		if r.IntN(2) == 0 { // as it was asked for
			status.AllocatedResources, status.Resources = c.Resources.Requests, &c.Resources
		}
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, status)
	}
	switch r.IntN(12) {
	case 0:
		p.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: corev1.ResourceRequirements{Requests: amounts()}}}
	case 1:
		p.Spec.InitContainers = []corev1.Container{{Name: "side", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: amounts()}}}
	case 2:
		p.Spec.Overhead = amounts()
	case 3:
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: amounts()}
		if r.IntN(2) == 0 { // the pod as a whole is resized
			p.Status.Resources, p.Status.AllocatedResources = &corev1.ResourceRequirements{Requests: amounts()}, amounts()
		}
	case 4:
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: corev1.PodReasonInfeasible}}
	}
	return p
}

// TestOneContainerIsNotAddedUp: what one container asks for is what the sum over all is, with an
// init container that adds nothing.
func TestOneContainerIsNotAddedUp(t *testing.T) {
	cpu := func(n string) corev1.ResourceList { return corev1.ResourceList{"cpu": resource.MustParse(n)} }
	both := corev1.ResourceList{"cpu": resource.MustParse("2"), "nvidia.com/gpu": resource.MustParse("8")}
	for name, own := range map[string]corev1.ResourceRequirements{
		"nothing":                {},
		"requests":               {Requests: both},
		"limits":                 {Limits: both},
		"limits above requests":  {Requests: cpu("1"), Limits: both},
		"requests beside limits": {Requests: both, Limits: cpu("4")},
	} {
		spec := &corev1.PodSpec{Containers: []corev1.Container{{Resources: own}}}
		summed := spec.DeepCopy()
		summed.InitContainers = []corev1.Container{{}}
		if diff := cmp.Diff(podspec.Effective(summed), podspec.Effective(spec)); diff != "" {
			t.Errorf("%s (-summed +one):\n%s", name, diff)
		}
	}
}
