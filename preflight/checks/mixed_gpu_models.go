package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var mixedGPUModels = &check.Check{
	Name:     "mixed-gpu-models",
	Title:    "pods that train together may get GPUs of different models",
	Doc:      readme("mixed-gpu-models"),
	Remedy:   "Select one model by the label nvidia.com/gpu.product.",
	Severity: finding.Note, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) error {
		pods := 0
		var first *job.Role
		models := map[string]map[string]bool{} // model: names of nodes
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			gpus := r.Pod.GPUs()
			if !strings.HasPrefix(string(gpus.Resource), "nvidia.com/") || r.Replicas.Max == 0 {
				continue
			}
			pods += r.Replicas.Max
			if first == nil {
				first = r
			}
			for _, n := range candidates(p.Cluster, r) {
				model := n.Labels[gpuProduct]
				if model == "" {
					return nil // somebody does not say
				}
				if models[model] == nil {
					models[model] = map[string]bool{}
				}
				models[model][n.Name] = true
			}
		}
		if pods < 2 || len(models) < 2 {
			return nil
		}
		var parts []string
		for _, m := range slices.Sorted(maps.Keys(models)) {
			parts = append(parts, fmt.Sprintf("%s on %s", m, count(len(models[m]), "node")))
		}
		p.Reportf(first.Pod.GPUs().Path, "%s train together; the nodes they may use have %d models of GPU: %s", count(pods, "pod"), len(models), shortList(parts))
		return nil
	},
}

// gpuProduct is the label that NVIDIA's feature discovery puts on nodes
// (github.com/NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery).
const gpuProduct = "nvidia.com/gpu.product"

// candidates are the nodes that could take one pod of a role if they were empty.
func candidates(view *capacity.Snapshot, r *job.Role) []*capacity.Node {
	chosen := capacity.Selects(&r.Pod.Spec)
	asked := capacity.Requested(r.Pod)
	return keep(view.Nodes(), func(n *capacity.Node) bool {
		if !chosen(n) || n.Untolerated(r.Pod.Spec.Tolerations) != nil {
			return false
		}
		for name, amount := range asked {
			if most, said := n.Allocatable[name]; amount > most && (said || strings.Contains(string(name), "/")) {
				return false
			}
		}
		return true
	})
}
