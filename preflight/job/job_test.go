package job

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestAtFindsWhereAPartIsWritten(t *testing.T) {
	pod := Pod{
		Path: "spec.template.spec",
		Origins: OriginsOf(
			Origin{Rel: "initContainers[1]", Path: "spec.template", Whole: true},
			Origin{Rel: "containers[0].resources", Path: "spec.trainer.resourcesPerNode"},
			Origin{Rel: "containers[0].env[0]", Path: "spec.trainer.env[3]"},
			Origin{Rel: "containers[0].env[0]", Path: "spec.trainer.env[4]"},
			Origin{Rel: "containers[0]", Path: "spec.launcher"},
			Origin{Rel: `nodeSelector["a.b/c[0]"]`, Path: "spec.patch", Whole: true},
		),
	}
	cases := map[Path]Path{
		"":                                  "spec.template.spec",
		"volumes[0].emptyDir":               "spec.template.spec.volumes[0].emptyDir",
		"initContainers[1].image":           "spec.template",
		"initContainers[0].image":           "spec.template.spec.initContainers[0].image",
		"initContainers[10].image":          "spec.template.spec.initContainers[10].image",
		"containers[0].image":               "spec.launcher.image",
		"containers[0].resources":           "spec.trainer.resourcesPerNode",
		"containers[0].resources.limits.x":  "spec.trainer.resourcesPerNode.limits.x",
		"containers[0].resourcesX":          "spec.launcher.resourcesX",
		"containers[0].env[0].value":        "spec.trainer.env[4].value",
		`containers[1].ports["odd key"]`:    `spec.template.spec.containers[1].ports["odd key"]`,
		"containers[0].env[0]":              "spec.trainer.env[4]",
		"containers[0].env[1].value":        "spec.launcher.env[1].value",
		"initContainers[1]":                 "spec.template",
		"containers[0].resources.limits[0]": "spec.trainer.resourcesPerNode.limits[0]",
		`nodeSelector["a.b/c[0]"]`:          "spec.patch",
		`nodeSelector["a.b/c"]`:             `spec.template.spec.nodeSelector["a.b/c"]`,
	}
	for rel, want := range cases {
		if got := pod.At(rel); got != want {
			t.Errorf("At(%q) is %q, want %q", rel, got, want)
		}
	}
	whole := Pod{Path: "spec.runtimeRef", Origins: OriginsOf(Origin{Path: "spec.runtimeRef", Whole: true})}
	if got := whole.At("containers[0].image"); got != "spec.runtimeRef" {
		t.Errorf("a pod that is written elsewhere is at %q", got)
	}
}

// An author may override as many variables as a job may have values, and checks ask where each of them is written.
func TestManyOriginsAreFoundInTime(t *testing.T) {
	const many = 200_000
	env := Path("containers[0].env")
	var pod Pod
	for i := range many {
		pod.Origins.Add(Origin{Rel: env.Index(i), Path: Path("spec.trainer.env").Index(i)})
	}
	begun := time.Now()
	for i := range many {
		if got, want := pod.At(env.Index(i).Child("value")), Path("spec.trainer.env").Index(i).Child("value"); got != want {
			t.Fatalf("variable %d is at %q, want %q", i, got, want)
		}
		if took := time.Since(begun); took > time.Minute {
			t.Fatalf("%d of %d were found in %v", i, many, took)
		}
	}
}

func TestPodsAddUp(t *testing.T) {
	j := Job{Roles: []Role{{Replicas: Exactly(1)}, {Replicas: Range{2, 5}}}}
	if j.MinPods() != 3 || j.MaxPods() != 6 {
		t.Errorf("%d to %d pods, want 3 to 6", j.MinPods(), j.MaxPods())
	}
	j.Roles = append(j.Roles, Role{Replicas: Exactly(math.MaxInt)})
	if j.MaxPods() != math.MaxInt {
		t.Errorf("%d pods: the sum ran over", j.MaxPods())
	}
}

func TestTrainerIsTheContainerTheOperatorLooksFor(t *testing.T) {
	spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "log"}, {Name: "pytorch"}}}
	cases := map[string]struct {
		role Role
		want string
	}{
		"by name":          {Role{Container: "pytorch", Pod: Pod{Spec: spec}}, "pytorch 1"},
		"nobody named one": {Role{Pod: Pod{Spec: spec}}, "log 0"},
		"not there":        {Role{Container: "xgboost", Pod: Pod{Spec: spec}}, "none -1"},
		"no containers":    {Role{}, "none -1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, i := tc.role.Trainer()
			got := fmt.Sprintf("none %d", i)
			if c != nil {
				got = fmt.Sprintf("%s %d", c.Name, i)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("Trainer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGPUs(t *testing.T) {
	list := func(name string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse("4")}
	}
	cases := map[string]struct {
		name string
		unit Unit
	}{
		"NVIDIA":            {"nvidia.com/gpu", Device},
		"time slice":        {"nvidia.com/gpu.shared", Share},
		"MIG slice":         {"nvidia.com/mig-1g.10gb", Partition},
		"memory of a GPU":   {"nvidia.com/gpumem", Portion},
		"Ascend by chip":    {"huawei.com/Ascend910B3", Device},
		"Ascend memory":     {"huawei.com/Ascend910B3-memory", Portion},
		"MLU by model":      {"cambricon.com/mlu370", Device},
		"share of an MLU":   {"cambricon.com/mlu370.share", Share},
		"slice of an MLU":   {"cambricon.com/mlu370.mim-2m.8gb", Partition},
		"MLU's memory":      {"cambricon.com/mlu.smlu.vmemory", Portion},
		"MLU's cores":       {"cambricon.com/mlu.smlu.vcore", Portion},
		"Ascend cores":      {"huawei.com/Ascend910A-core", Portion},
		"DCU share":         {"hygon.com/dcu-share-30c-16g", Share},
		"DCU slice":         {"hygon.com/dcu-mig-2g-15gb", Partition},
		"Moore Threads":     {"mthreads.com/sgpu-core", Portion},
		"Neuron cores":      {"aws.amazon.com/neuroncore", Portion},
		"Biren whole":       {"birentech.com/gpu", Device},
		"Biren half":        {"birentech.com/1-2-gpu", Partition},
		"cGPU count":        {"aliyun.com/gpu-count", Device},
		"cGPU memory":       {"aliyun.com/gpu-mem", Portion},
		"vGPUs of Volcano":  {"volcano.sh/vgpu-number", Share},
		"cores are no GPUs": {"cpu", NotAccelerator},
		"network":           {"rdma/hca", NotAccelerator},
		"unlisted":          {"vendor.example/accel", Device},
		"unlisted, a model": {"silicon.example/XPU-v2", Device},
		"unlisted, many":    {"vendor.example/gpus", Device},
		"unlisted, memory":  {"vendor.example/gpu-memory", Portion},
		"of a DeviceClass":  {"deviceclass.resource.kubernetes.io/gpu", NotAccelerator},
		"a vendor's other":  {"gpu.example/nic", NotAccelerator},
		"a word within one": {"vendor.example/input", NotAccelerator},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := AcceleratorUnit(corev1.ResourceName(tc.name)); got != tc.unit {
				t.Errorf("AcceleratorUnit(%s) is %d, want %d", tc.name, got, tc.unit)
			}
			p := Pod{
				Path:     "spec",
				Spec:     corev1.PodSpec{Containers: []corev1.Container{{}, {Resources: corev1.ResourceRequirements{Limits: list(tc.name)}}}},
				Requests: ResourcesOf(list(tc.name)),
			}
			want := Amount{}
			if tc.unit == Device || tc.unit == Partition || tc.unit == Share {
				want = Amount{Resource: corev1.ResourceName(tc.name), N: 4, Path: Path("spec.containers[1].resources.limits").Key(tc.name)}
			}
			if diff := cmp.Diff(want, p.GPUs()); diff != "" {
				t.Errorf("GPUs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInBaseUnitsSaturates(t *testing.T) {
	sum := resource.MustParse("8E")
	sum.Add(sum)
	cases := []struct {
		name corev1.ResourceName
		q    resource.Quantity
		want int64
	}{
		{"cpu", resource.MustParse("500m"), 500},
		{"cpu", resource.MustParse("1u"), 1}, // rounds up, as the scheduler does
		{"memory", resource.MustParse("1.5"), 2},
		{"memory", sum, math.MaxInt64},
		{"cpu", resource.MustParse("10P"), math.MaxInt64},
		{"cpu", resource.MustParse("-10P"), math.MinInt64},
		{"nvidia.com/gpu", resource.MustParse("-3"), -3},
	}
	for _, tc := range cases {
		if got := InBaseUnits(tc.name, tc.q); got != tc.want {
			t.Errorf("%s %s is %d, want %d", tc.name, tc.q.String(), got, tc.want)
		}
	}
}

func TestFormatIsHowPeopleWriteIt(t *testing.T) {
	cases := []struct {
		name corev1.ResourceName
		n    int64
		want string
	}{
		{"cpu", 500, "500m"},
		{"cpu", 24000, "24"},
		{"memory", 16 << 30, "16Gi"},
		{"nvidia.com/gpu", 8, "8"},
		{"nvidia.com/gpu", 992, "992"},
		{"nvidia.com/gpu", 2000, "2000"},
		{"pods", 1000, "1000"},
		{"cpu", 2000000, "2000"},
		{"cpu", 1500, "1500m"},
		{"hugepages-2Mi", 2 << 20, "2Mi"},
		{"ephemeral-storage", 5 << 30, "5Gi"},
		{"memory", 40_000_000_000, "40G"},
		{"memory", 1_048_576_000_000, "1000000Mi"},
		{"memory", 3 << 10, "3Ki"},
		{"memory", math.MaxInt64, "8Ei or more"},
		{"memory", math.MaxInt64 - 1, "9223372036854775806"},
		{"cpu", math.MaxInt64, "more than 9 × 10¹⁵"},
		{"nvidia.com/gpu", math.MaxInt64, "more than 9 × 10¹⁸"},
	}
	for _, tc := range cases {
		if got := Format(tc.name, tc.n); got != tc.want {
			t.Errorf("Format(%s, %d) is %s, want %s", tc.name, tc.n, got, tc.want)
		}
	}
}

func TestPlaceholder(t *testing.T) {
	cases := map[string]string{
		"$X":                           "$X X",
		"${X}":                         "${X} X",
		"registry/${IMAGE}:1":          "${IMAGE} IMAGE",
		"<% $parameters.cpu %>":        "<% $parameters.cpu %> parameters.cpu",
		"{{ .Values.name }}-x":         "{{ .Values.name }} .Values.name",
		"$(params.workers)":            "$(params.workers) params.workers",
		"__GPUS__":                     "__GPUS__ GPUS",
		"<<TASKS>>":                    "<<TASKS>> TASKS",
		"<account>.dkr.example.com":    "<account> account",
		"8":                            "",
		"registry.example.com/x:1.0":   "",
		"a < b > c":                    "",
		"cost: $5":                     "",
		"import __init__ as something": "__init__ init",
		"":                             "",
	}
	for value, want := range cases {
		got := ""
		if written, name, ok := Placeholder(value); ok {
			got = written + " " + name
		}
		if got != want {
			t.Errorf("Placeholder(%q) is %q, want %q", value, got, want)
		}
	}
}

func TestRefIsHowMessagesNameAJob(t *testing.T) {
	for want, ref := range map[string]Ref{
		"PyTorchJob ml/train": {Kind: "PyTorchJob", Namespace: "ml", Name: "train"},
		"PyTorchJob train":    {Kind: "PyTorchJob", Name: "train"},
	} {
		if got := ref.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
