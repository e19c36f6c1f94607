package whatif

import (
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/gang"
)

// gpuProduct is the label that NVIDIA's feature discovery puts on nodes
// (github.com/NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery).
const gpuProduct = "nvidia.com/gpu.product"

// models says that a plan gives pods GPUs of several models: together they are as fast as the slowest, so that what
// fits may not be what is wanted. Empty: they are of one, or of one that is not known.
func (q *suggester) models(g gang.Gang, plan []fit.Placement) string {
	asks := map[string]bool{}
	for i := range g.Groups {
		asks[g.Groups[i].Name] = strings.HasPrefix(string(g.Groups[i].Pod.GPUs().Resource), "nvidia.com/")
	}
	seen := map[string]bool{}
	for _, p := range plan {
		if !asks[p.Group] {
			continue
		}
		n := q.s.Node(p.Node)
		if n == nil || n.Labels[gpuProduct] == "" {
			return ""
		}
		seen[n.Labels[gpuProduct]] = true
	}
	if len(seen) < 2 {
		return ""
	}
	return fmt.Sprintf(", %d models of GPU", len(seen))
}
