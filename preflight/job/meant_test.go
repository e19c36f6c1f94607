package job

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestMeantAccelerator(t *testing.T) {
	for name, want := range map[corev1.ResourceName]corev1.ResourceName{
		"nvidia.com/gpus": "nvidia.com/gpu", "nvidia.com/GPU": "nvidia.com/gpu", "nvidia.com/gpuu": "nvidia.com/gpu", "NVIDIA.com/gpu": "nvidia.com/gpu",
		"amd.com/gpus": "amd.com/gpu", "google.com/tpus": "google.com/tpu",
		"nvidia.com/gpu": "", "nvidia.com/mig-1g.5gb": "", "nvidia.com/gpu.shared": "", "nvidia.com/pgpu": "", "nvidia.com/vgpu": "", "example.com/gpus": "", "cpu": "", "": "",
	} {
		if got := MeantAccelerator(name); got != want {
			t.Errorf("%q is a slip for %q; want %q", name, got, want)
		}
	}
}
