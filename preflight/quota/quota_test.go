package quota_test

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// limited sets the limit of the first container.
func limited(name corev1.ResourceName, amount string) build.PodOption {
	return build.Spec(func(s *corev1.PodSpec) {
		if s.Containers[0].Resources.Limits == nil {
			s.Containers[0].Resources.Limits = corev1.ResourceList{}
		}
		s.Containers[0].Resources.Limits[name] = resource.MustParse(amount)
	})
}

func podLimit(name corev1.ResourceName, amount string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) {
		s.Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{name: resource.MustParse(amount)}}
	}
}

func elastic(least, most int) gang.Group {
	g := build.Group("Worker", most, build.Asks("8"))
	g.Min = least
	return g
}
