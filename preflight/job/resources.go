package job

import (
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// Resources are amounts by resource name: cpu in milli-cores, everything else in
// base units (bytes, devices). Amounts that overflow are math.MaxInt64.
type Resources map[corev1.ResourceName]int64

// Amount is a number that remembers what it counts and where it was written.
type Amount struct {
	Resource corev1.ResourceName
	N        int64
	Path     Path
}

// InBaseUnits is the quantity as Resources counts it; it saturates instead of
// overflowing and rounds up, as the scheduler does.
func InBaseUnits(name corev1.ResourceName, q resource.Quantity) int64 {
	unit := int64(1)
	if name == corev1.ResourceCPU {
		unit = 1000
	}
	switch {
	case q.CmpInt64(math.MaxInt64/unit) > 0:
		return math.MaxInt64
	case q.CmpInt64(math.MinInt64/unit) < 0:
		return math.MinInt64
	case name == corev1.ResourceCPU:
		return q.MilliValue()
	default:
		return q.Value()
	}
}

// ResourcesOf converts a list of quantities.
func ResourcesOf(list corev1.ResourceList) Resources {
	out := make(Resources, len(list))
	for name, q := range list {
		out[name] = InBaseUnits(name, q)
	}
	return out
}

const million = 1_000_000

// Format prints an amount the way people write it: 500m, 24, 16Gi; devices and other counts
// as whole numbers, however many there are. An amount that no number holds is said in words.
func Format(name corev1.ResourceName, n int64) string {
	bytes := name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || strings.HasPrefix(string(name), "hugepages-")
	switch {
	case n == math.MaxInt64 && name == corev1.ResourceCPU:
		return "more than 9 × 10¹⁵"
	case n == math.MaxInt64 && bytes:
		return "8Ei or more"
	case name == corev1.ResourceCPU && n%1000 != 0:
		return strconv.FormatInt(n, 10) + "m"
	case name == corev1.ResourceCPU:
		return strconv.FormatInt(n/1000, 10)
	case bytes:
		if n%million == 0 && n%(1<<20) != 0 { // written as 40G, not as 40Gi
			return resource.NewQuantity(n, resource.DecimalSI).String()
		}
		return resource.NewQuantity(n, resource.BinarySI).String()
	default:
		return saturate.Text(n)
	}
}
