package progress

import (
	"regexp"
	"strings"
)

// UsesNoDevice says that a line says that its program found no device, or uses none.
func UsesNoDevice(text string) bool { return mayBeOnCPU(text) && onCPU.MatchString(text) }

// onCPU is what programs print that found no device, or were not told to use one: Lightning,
// JAX, TensorFlow (tensorflow/core/common_runtime/gpu/gpu_device.cc), PyTorch (torch/csrc, CUDA initialization),
// Accelerate and hand-written loops, which people write in their own language.
var onCPU = regexp.MustCompile(`GPU available: (?:True \(\w+\)|False), used: (?:False|0)\b|No GPU/TPU found, falling back to CPU|GPU will not be used|Skipping registering GPU devices|(?i)\b(?:using|training on|running on) (?:the )?(?:device:? ?)?['"]?cpu\b|(?i)\b(?:torch\.)?cuda(?:\.is)?[ _]available(?:\(\))?\s*[:=]\s*false\b|(?i)^\W{0,4}device(?: type)?\s*[:=]\s*['"]?cpu\b|(?i)设备(?:类型)?\s*(?:[:：=]|是|为)?\s*['"]?cpu\b|CUDA initialization: (?:Found no NVIDIA driver|The NVIDIA driver on your system is too old)`)

// mayBeOnCPU says that a line holds words of which one is in every match of onCPU: an expression that
// may begin anywhere takes longer for a line than all the rest.
func mayBeOnCPU(text string) bool {
	for i := 1; i < len(text); i++ {
		if text[i]|0x20 != 'u' {
			continue
		}
		switch before := text[i-1] | 0x20; {
		case before == 'p' && i > 1 && text[i-2]|0x20 == 'c': // cpu
			return true
		case before == 'p' && (strings.HasPrefix(text[i+1:], " available: ") || strings.HasPrefix(text[i+1:], "/TPU found") || strings.HasPrefix(text[i+1:], " will not be used") || strings.HasPrefix(text[i+1:], " devices")):
			return true
		case before == 'c' && i+1 < len(text) && text[i+1]|0x20 == 'd' && (strings.Contains(strings.ToLower(text), "available") || strings.HasPrefix(text[i+1:], "DA initialization: ")): // cuda
			return true
		}
	}
	return false
}
