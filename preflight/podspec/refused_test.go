package podspec_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

func TestRefusals(t *testing.T) {
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
	spread := func(c corev1.TopologySpreadConstraint) corev1.PodSpec {
		return corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{c}}
	}
	claims := func(requests corev1.ResourceList, modes ...corev1.PersistentVolumeAccessMode) corev1.PodSpec {
		v := corev1.Volume{Name: "s"}
		v.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, Resources: corev1.VolumeResourceRequirements{Requests: requests},
		}}}
		return corev1.PodSpec{Volumes: []corev1.Volume{v}}
	}
	large := amounts("storage", "1Gi")
	for name, tc := range map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"no key and Equal":               {tolerates(corev1.Toleration{Operator: corev1.TolerationOpEqual}), `tolerations[0]: a toleration has no key and operator "Equal"; without a key it must be Exists`},
		"no key and Exists":              {tolerates(corev1.Toleration{Operator: corev1.TolerationOpExists}), ""},
		"Exists and a value":             {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists, Value: "y"}), `tolerations[0]: a toleration of x has operator Exists and the value "y", and takes only one of the two`},
		"Equal without a value":          {tolerates(corev1.Toleration{Key: "x"}), ""},
		"seconds of NoSchedule":          {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule, TolerationSeconds: new(int64(5))}), `tolerations[0]: a toleration of x has tolerationSeconds 5 and effect "NoSchedule"; seconds go with NoExecute only`},
		"seconds of NoExecute":           {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(5))}), ""},
		"numbers are compared":           {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpLt, Value: "5"}), "tolerations[0]: a toleration of x has operator Lt (TaintTolerationComparisonOperators)"},
		"words are compared":             {tolerates(corev1.Toleration{Key: "x", Operator: corev1.TolerationOpGt, Value: "high"}), `tolerations[0]: a toleration of x has operator Gt and the value "high"; it takes a whole number`},
		"a key with a space":             {tolerates(corev1.Toleration{Key: "a b", Operator: corev1.TolerationOpExists}), `tolerations[0]: a toleration has the key "a b", which no taint has: it takes letters, digits, dashes, dots and _, and a domain before a slash`},
		"a value with a slash":           {tolerates(corev1.Toleration{Key: "x", Value: "a/b"}), `tolerations[0]: a toleration of x has the value "a/b", which no taint has: it takes at most 63 letters, digits, dashes, dots and _`},
		"a page and a half":              {asks(amounts("cpu", "1"), amounts("hugepages-2Mi", "3Mi")), "containers[0].resources.limits.hugepages-2Mi: container c asks for 3Mi hugepages-2Mi, which is no multiple of 2Mi"},
		"pages of a gigabyte":            {asks(amounts("cpu", "1"), amounts("hugepages-1Gi", "2Gi")), ""},
		"huge pages alone":               {asks(nil, amounts("hugepages-2Mi", "1Gi")), "containers[0].resources: container c asks for hugepages without cpu or memory"},
		"huge pages and memory":          {asks(amounts("memory", "1Gi"), amounts("hugepages-2Mi", "1Gi")), ""},
		"the pod below its containers":   {whole(asks(amounts("cpu", "2"), nil), amounts("cpu", "1"), nil), "resources.requests.cpu: the pod requests 1 cpu, less than its containers together"},
		"the pod below them and sidecar": {whole(withSidecar(asks(amounts("cpu", "2"), nil), amounts("cpu", "1")), amounts("cpu", "2"), nil), "resources.requests.cpu: the pod requests 2 cpu, less than its containers together"},
		"the pod asks for as much":       {whole(withSidecar(asks(amounts("cpu", "2"), nil), amounts("cpu", "1")), amounts("cpu", "3"), nil), ""},
		"a container above the pod":      {whole(asks(amounts("cpu", "1"), amounts("cpu", "3")), amounts("cpu", "1"), amounts("cpu", "2")), "containers[0].resources.limits.cpu: container c has a limit of 3 cpu, and the pod one of 2"},
		"limits that sum to more":        {whole(asks(amounts("cpu", "1"), amounts("cpu", "2")), amounts("cpu", "2"), amounts("cpu", "2")), ""},
		"a host port twice":              {ports(corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{HostPort: 80, Protocol: corev1.ProtocolTCP}), "containers[1].ports[0]: the pod takes the host port 80 twice"},
		"of another protocol":            {ports(corev1.ContainerPort{HostPort: 80}, corev1.ContainerPort{HostPort: 80, Protocol: corev1.ProtocolUDP}), ""},
		"no host port twice":             {ports(corev1.ContainerPort{ContainerPort: 80}, corev1.ContainerPort{ContainerPort: 80}), ""},
		"a node and gates":               {gated, "nodeName: the pod names its node and has scheduling gates"},
		"a device of the whole pod":      {whole(asks(nil, nil), nil, amounts("nvidia.com/gpu", "1")), `resources.limits["nvidia.com/gpu"]: the pod as a whole asks for nvidia.com/gpu, which only containers may`},
		"a skew of 0":                    {spread(corev1.TopologySpreadConstraint{TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule}), "topologySpreadConstraints[0]: a spread has maxSkew 0; it takes 1 or more"},
		"a claim of no access mode":      {claims(large), "volumes[0].ephemeral.volumeClaimTemplate: the claim of volume s has no accessModes, and needs one such as ReadWriteOnce"},
		"a claim of one pod":             {claims(large, corev1.ReadWriteOncePod), ""},
		"a claim of one pod, and others": {claims(large, corev1.ReadWriteOnce, corev1.ReadWriteOncePod), "volumes[0].ephemeral.volumeClaimTemplate: the claim of volume s has access mode ReadWriteOncePod and others, which it excludes"},
		"a claim of an unknown mode":     {claims(large, "ReadWrite"), `volumes[0].ephemeral.volumeClaimTemplate: the claim of volume s has access mode "ReadWrite"; it takes ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod`},
		"a claim of no size":             {claims(nil, corev1.ReadWriteOnce), "volumes[0].ephemeral.volumeClaimTemplate: the claim of volume s asks for no storage: resources.requests.storage is missing or not above 0"},
	} {
		var got []string
		for _, r := range podspec.Refusals(&job.Pod{Spec: tc.spec}) {
			text := string(r.At) + ": " + r.Text
			if r.Gate != "" {
				text += " (" + r.Gate + ")"
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s: Refusals (-want +got):\n%s", name, diff)
		}
	}
}

// TestRefusalsOfLabelKeys: a key that is in the selector is refused where the pod has the label, for only then is it
// written there again.
func TestRefusalsOfLabelKeys(t *testing.T) {
	const both, twice = "run is in matchLabelKeys and in labelSelector", "run is in matchLabelKeys twice"
	in := metav1.LabelSelectorRequirement{Key: "run", Operator: metav1.LabelSelectorOpIn, Values: []string{"1"}}
	run := map[string]string{"run": "1"}
	for name, tc := range map[string]struct {
		labels   map[string]string
		marks    job.Marks
		selector metav1.LabelSelector
		match    []string
		want     string
	}{
		"the pod has it, and the labels":      {labels: run, selector: metav1.LabelSelector{MatchLabels: run}, match: []string{"run"}, want: both},
		"the pod has it, and the expressions": {labels: run, selector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in}}, match: []string{"run"}, want: both},
		"the pod lacks it":                    {selector: metav1.LabelSelector{MatchLabels: run}, match: []string{"run"}},
		"the pod lacks it, and it is there twice": {
			selector: metav1.LabelSelector{MatchLabels: run, MatchExpressions: []metav1.LabelSelectorRequirement{in}}, match: []string{"run"}, want: both,
		},
		"the pod has it, and nothing else":         {labels: run, match: []string{"run"}},
		"the pod has it, and it is a key twice":    {labels: run, match: []string{"run", "run"}, want: twice},
		"the pod lacks it, and it is a key twice":  {match: []string{"run", "run"}},
		"every pod has its own":                    {marks: job.Marks{Varies: []string{"run"}}, selector: metav1.LabelSelector{MatchLabels: run}, match: []string{"run"}, want: both},
		"whether the pod gets it cannot be told":   {marks: job.Marks{Some: []string{"run"}}, selector: metav1.LabelSelector{MatchLabels: run}, match: []string{"run"}},
		"the operator writes it when it makes one": {marks: job.Marks{Labels: run}, selector: metav1.LabelSelector{MatchLabels: run}, match: []string{"run"}, want: both},
	} {
		pod := &job.Pod{Labels: tc.labels, Marks: tc.marks}
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &tc.selector, MatchLabelKeys: tc.match,
		}}
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{TopologyKey: "zone", LabelSelector: &tc.selector, MatchLabelKeys: tc.match},
		}}}
		var got, want []string
		for _, r := range podspec.Refusals(pod) {
			got = append(got, r.Text)
		}
		if tc.want != "" {
			want = []string{tc.want, tc.want} // of the affinity and of the spread
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: Refusals (-want +got):\n%s", name, diff)
		}
	}
}
