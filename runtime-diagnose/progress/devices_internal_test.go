package progress

import "testing"

func FuzzMayBeOnCPU(f *testing.F) {
	for _, s := range []string{
		"GPU available: True (cuda), used: False", "No GPU/TPU found, falling back to CPU", "GPU will not be used", "using device: 'cpu'", "Training on the CPU",
		"torch.cuda.is_available(): False", "CUDA available = false", "** Device type: cpu", "cu", "u", "step 3 loss 2.1", "cuDNN", "pu", "GPU memory 71 GiB", "using CPU", "No GPU/TPU found", "[rank0] device = cpu", "使用设备: cpu",
		"UserWarning: CUDA initialization: Found no NVIDIA driver on your system.",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if onCPU.MatchString(text) && !mayBeOnCPU(text) {
			t.Fatalf("%q says that no device is used, and is not asked for it", text)
		}
	})
}
