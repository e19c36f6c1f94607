package podspec_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

func TestRefused(t *testing.T) {
	amounts := func(pairs ...string) corev1.ResourceList {
		out := corev1.ResourceList{}
		for i := 0; i < len(pairs); i += 2 {
			out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
		}
		return out
	}
	tolerates := func(x corev1.Toleration) corev1.PodSpec { return corev1.PodSpec{Tolerations: []corev1.Toleration{x}} }
	asks := func(requests, limits corev1.ResourceList) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}}}}
	}
	whole := func(spec corev1.PodSpec, requests, limits corev1.ResourceList) corev1.PodSpec {
		spec.Resources = &corev1.ResourceRequirements{Requests: requests, Limits: limits}
		return spec
	}
	withSidecar := func(spec corev1.PodSpec, requests corev1.ResourceList) corev1.PodSpec {
		always := corev1.ContainerRestartPolicyAlways
		spec.InitContainers = []corev1.Container{{Name: "s", RestartPolicy: &always, Resources: corev1.ResourceRequirements{Requests: requests}}}
		return spec
	}
	ports := func(ports ...corev1.ContainerPort) corev1.PodSpec {
		return corev1.PodSpec{Containers: []corev1.Container{{Ports: ports[:1]}, {Ports: ports[1:]}}}
	}
	gated := corev1.PodSpec{NodeName: "a", SchedulingGates: []corev1.PodSchedulingGate{{Name: "g"}}}
	for name, tc := range map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"no key and Equal":               {tolerates(corev1.Toleration{Operator: corev1.TolerationOpEqual}), "a toleration without a key takes the operator Exists only"},
		"no key and Exists":              {tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists}), ""},
		"Exists and a value":             {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists, Value: "y"}), "a toleration of x has the operator Exists and a value"},
		"Equal without a value":          {tolerates(corev1.Toleration{Key: "x"}), ""},
		"seconds of NoSchedule":          {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule, TolerationSeconds: new(int64(5))}), "a toleration of x has tolerationSeconds, which go with NoExecute only"},
		"seconds of NoExecute":           {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(5))}), ""},
		"numbers are compared":           {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpLt, Value: "5"}), "a toleration of x has the operator Lt, which is behind the feature gate TaintTolerationComparisonOperators"},
		"huge pages alone":               {asks(nil, amounts("hugepages-2Mi", "1Gi")), "container c has huge pages, and neither CPU nor memory"},
		"huge pages and memory":          {asks(amounts("memory", "1Gi"), amounts("hugepages-2Mi", "1Gi")), ""},
		"the pod below its containers":   {whole(asks(amounts("cpu", "2"), nil), amounts("cpu", "1"), nil), "the pod as a whole requests less than its containers together"},
		"the pod below them and sidecar": {whole(withSidecar(asks(amounts("cpu", "2"), nil), amounts("cpu", "1")), amounts("cpu", "2"), nil), "the pod as a whole requests less than its containers together"},
		"the pod asks for as much":       {whole(withSidecar(asks(amounts("cpu", "2"), nil), amounts("cpu", "1")), amounts("cpu", "3"), nil), ""},
		"a limit above the pod's":        {whole(asks(nil, amounts("cpu", "2")), amounts("cpu", "2"), amounts("cpu", "1")), "container c has a limit above that of the pod"},
		"a container above the pod":      {whole(asks(amounts("cpu", "1"), amounts("cpu", "3")), amounts("cpu", "1"), amounts("cpu", "2")), "container c has a limit above that of the pod"},
		"limits that sum to more":        {whole(asks(amounts("cpu", "1"), amounts("cpu", "2")), amounts("cpu", "2"), amounts("cpu", "2")), ""},
		"a host port twice":              {ports(corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{HostPort: 80, Protocol: corev1.ProtocolTCP}), "it has the host port 80 twice"},
		"of another protocol":            {ports(corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{HostPort: 80, Protocol: corev1.ProtocolUDP}), ""},
		"no host port twice":             {ports(corev1.ContainerPort{ContainerPort: 80}, corev1.ContainerPort{ContainerPort: 80}), ""},
		"a node and gates":               {gated, "it names its node and has scheduling gates"},
		"a device of the whole pod":      {whole(asks(nil, nil), nil, amounts("nvidia.com/gpu", "1")), "the pod as a whole asks for nvidia.com/gpu, which only containers may"},
	} {
		if got := podspec.Refused(&tc.spec); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
