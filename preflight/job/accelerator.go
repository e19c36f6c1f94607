package job

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Unit is what one of a resource stands for.
type Unit int

const (
	NotAccelerator Unit = iota
	Device              // a whole accelerator: processes per node are compared with these only
	Partition           // a hardware slice with memory of its own (MIG, MIM)
	Share               // a time slice without isolation
	Portion             // an amount of memory or cores of an accelerator, not a count of them
)

// accelerators are resource names in the order they are tried; a trailing * is a
// prefix. Sources: the vendors' device plugins, collected in docs/reference/kinds.md
// (NVIDIA k8s-device-plugin 1b826acc, HAMi, koordinator, vendor documents up to 2026-07).
var accelerators = []struct {
	pattern string
	unit    Unit
}{
	{"nvidia.com/gpu", Device},
	{"nvidia.com/gpu.shared", Share},
	{"nvidia.com/mig-*", Partition},
	{"nvidia.com/gpumem*", Portion},
	{"nvidia.com/gpucores", Portion},
	{"amd.com/gpu", Device},
	{"amd.com/cpx_*", Partition},
	{"amd.com/spx_*", Partition},
	{"gpu.intel.com/i915", Device},
	{"gpu.intel.com/xe", Device},
	{"habana.ai/gaudi", Device},
	{"aws.amazon.com/neuron", Device},
	{"aws.amazon.com/neuroncore", Portion},
	{"google.com/tpu", Device},
	{"huawei.com/npu-core", Portion},
	{"huawei.com/Ascend*", Device},
	{"cambricon.com/mlu*", Device},
	{"cambricon.com/vmlu", Share},
	{"hygon.com/dcu", Device},
	{"hygon.com/dcunum", Device},
	{"hygon.com/dcu-share-*", Share},
	{"hygon.com/dcu-*", Partition},
	{"hygon.com/dcumem", Portion},
	{"hygon.com/dcucores", Portion},
	{"metax-tech.com/gpu", Device},
	{"metax-tech.com/vfio-gpu", Device},
	{"metax-tech.com/sgpu", Share},
	{"iluvatar.com/gpu", Device},
	{"iluvatar.ai/gpu", Device},
	{"iluvatar.ai/vgpu", Share},
	{"iluvatar.ai/vcuda-*", Portion},
	{"mthreads.com/gpu", Device},
	{"mthreads.com/vgpu", Share},
	{"mthreads.com/sgpu-*", Portion},
	{"enflame.com/gcu", Device},
	{"enflame.com/shared-gcu", Share},
	{"enflame.com/drs-gcu", Share},
	{"birentech.com/gpu", Device},
	{"birentech.com/*", Partition},
	{"kunlunxin.com/xpu", Device},
	{"kunlunxin.com/vxpu", Share},
	{"aliyun.com/gpu-count", Device},
	{"aliyun.com/gpu-*", Portion},
	{"tke.cloud.tencent.com/qgpu-*", Portion},
	{"koordinator.sh/gpu*", Portion},
	{"volcano.sh/vgpu-number", Share},
	{"volcano.sh/vgpu-*", Portion},
}

type suffix struct {
	part string
	unit Unit
}

// suffixes are what vendors hang on the name of a device for something smaller: HAMi's
// amounts of memory and cores, Cambricon's shares and hardware slices.
var suffixes = []suffix{{"memory", Portion}, {"core", Portion}, {".share", Share}, {".mim-", Partition}}

// devices are words by which vendors that are not listed name an accelerator: vendor.example/npu.
var devices = []string{"accel", "accelerator", "dcu", "gaudi", "gcu", "gpu", "hpu", "ipu", "mlu", "neuron", "npu", "tpu", "vgpu", "vnpu", "xpu"}

// AcceleratorUnit says what one of the resource stands for.
func AcceleratorUnit(name corev1.ResourceName) Unit {
	if strings.IndexByte(string(name), '/') < 0 { // Kubernetes' own: cpu, memory
		return NotAccelerator
	}
	for _, a := range accelerators {
		prefix, open := strings.CutSuffix(a.pattern, "*")
		if a.pattern != string(name) && !(open && strings.HasPrefix(string(name), prefix)) {
			continue
		}
		for _, s := range suffixes {
			if rest := strings.TrimPrefix(string(name), prefix); open && strings.Contains(rest, s.part) {
				return s.unit
			}
		}
		return a.unit
	}
	vendor, last, ok := strings.Cut(string(name), "/")
	last, ok = strings.ToLower(last), ok && !strings.HasSuffix(vendor, ".kubernetes.io") // no vendor's: the author of a DeviceClass named it
	words := strings.FieldsFunc(last, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	switch {
	case !ok || !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(devices, strings.TrimSuffix(w, "s")) }):
		return NotAccelerator
	case slices.ContainsFunc(suffixes, func(s suffix) bool { return s.unit == Portion && strings.Contains(last, s.part) }):
		return Portion
	}
	return Device
}

const efa corev1.ResourceName = "vpc.amazonaws.com/efa"

// MeantAccelerator is the name that an unknown one is a slip for: its plural, other letters' case, a letter written
// twice, or other marks between its parts; empty: it is known, or resembles none. Names that differ in another letter may be somebody's own: nvidia.com/pgpu
// is (https://github.com/NVIDIA/sandbox-device-plugin).
//
// Amazon's EFA has one name (https://github.com/aws/eks-charts/tree/master/stable/aws-efa-k8s-device-plugin); in another domain
// of theirs it is nobody's.
func MeantAccelerator(name corev1.ResourceName) corev1.ResourceName {
	if domain, device, _ := strings.Cut(string(name), "/"); device == "efa" && name != efa && (strings.Contains(domain, "amazon") || strings.Contains(domain, "aws")) {
		return efa
	}
	plain := oneOfEach(strings.TrimSuffix(strings.ToLower(string(name)), "s"))
	meant := corev1.ResourceName("")
	for _, a := range accelerators {
		prefix, open := strings.CutSuffix(a.pattern, "*")
		switch {
		case string(name) == a.pattern, open && strings.HasPrefix(string(name), prefix):
			return ""
		case !open && meant == "" && otherDomain(a.pattern, string(name)):
			meant = corev1.ResourceName(a.pattern)
		case !open && meant == "" && (oneOfEach(strings.ToLower(a.pattern)) == plain || bones(a.pattern) == bones(string(name))):
			meant = corev1.ResourceName(a.pattern)
		}
	}
	return meant
}

// otherDomain says that a name is another's in a domain above or below its own: cloud.google.com/tpu for google.com/tpu.
func otherDomain(known, name string) bool {
	of, device, _ := strings.Cut(known, "/")
	domain, same, _ := strings.Cut(name, "/")
	return device == same && (strings.HasSuffix(domain, "."+of) || strings.HasSuffix(of, "."+domain) && strings.Contains(domain, "."))
}

// bones is a name without what joins its parts, its plural and the end of its domain: nvidia/gpu, nvidia-gpu and
// nvidia.com.gpu are slips for one name.
func bones(name string) string {
	parts := strings.FieldsFunc(strings.TrimSuffix(strings.ToLower(name), "s"), func(r rune) bool { return r == '.' || r == '/' || r == '-' || r == '_' })
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "com" }), " ")
}

// oneOfEach is a text with runs of one letter as one.
func oneOfEach(text string) string {
	return string(slices.Compact([]rune(text)))
}

// GPUs is how many accelerators one pod of the template asks for, and where that is
// written. Devices are preferred over partitions and shares; N is 0 where none is asked.
func (p Pod) GPUs() Amount {
	name, n := p.Accelerators()
	if n == 0 {
		return Amount{}
	}
	return Amount{Resource: name, N: n, Path: p.AmountPath(name)}
}

// Accelerators are GPUs without the place where they are written.
func (p *Pod) Accelerators() (name corev1.ResourceName, n int64) {
	best := 0
	for at, amount := range p.Requests {
		rank := slices.Index([]Unit{Share, Partition, Device}, AcceleratorUnit(at)) + 1
		if amount > 0 && rank > 0 && (rank > best || rank == best && at < name) {
			name, n, best = at, amount, rank
		}
	}
	return name, n
}

// AmountPath is where the pod asks for the resource: the first container that names
// it, in limits before requests; else the pod spec itself.
func (p Pod) AmountPath(name corev1.ResourceName) Path {
	at := func(i int, list string) Path {
		return p.At(Path("containers[" + strconv.Itoa(i) + "].resources." + list).Key(string(name)))
	}
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		if _, ok := c.Resources.Limits[name]; ok {
			return at(i, "limits")
		}
		if _, ok := c.Resources.Requests[name]; ok {
			return at(i, "requests")
		}
	}
	return p.At("")
}

// Names are the resource names in a fixed order.
func (r Resources) Names() []corev1.ResourceName {
	out := slices.AppendSeq(make([]corev1.ResourceName, 0, len(r)), maps.Keys(r))
	slices.Sort(out)
	return out
}
