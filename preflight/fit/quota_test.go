package fit_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/test/build"
)

// quotaOf is a quota of namespace ml: its hard limits, what is used, and what else its
// spec says.
func quotaOf(hard, used, spec string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: ml}\nspec: {hard: {%s}%s}\nstatus: {hard: {%s}, used: {%s}}", hard, spec, hard, used)
}

func spec(change func(*corev1.PodSpec)) build.PodOption { return build.Spec(change) }

func class(name string) build.PodOption {
	return spec(func(s *corev1.PodSpec) { s.PriorityClassName = name })
}
