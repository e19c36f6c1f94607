package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var mixedGPUModels = &check.Check{
	Name:     "mixed-gpu-models",
	Title:    "pods that train together get GPUs of different models",
	Doc:      readme("mixed-gpu-models"),
	Remedy:   "Select one model by the label nvidia.com/gpu.product.",
	Severity: finding.Note, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) error {
		g, ok := gpuGangOf(p)
		if !ok || p.Cluster.Autoscaler() != "" {
			return nil // one pod, one model, or nodes that are not there yet
		}
		at := g.roles[0].Pod.GPUs().Path
		if parts, never := g.poolsTooSmall(); never {
			p.Report(finding.Finding{
				Path: at, Severity: finding.Warning, Remedy: "Ask for fewer pods, or for fewer GPUs in each, and select one model.",
				Message: fmt.Sprintf("%s train together, and no model of GPU has room for all of them: %s", count(g.pods, "pod"), shortList(parts)),
			})
			return nil
		}
		// A queue decides when the pods start, and so on which nodes.
		fit := p.Fit()
		if fit.Verdict != capacity.Fits || fit.Queue != "" {
			return nil
		}
		if parts := g.spread(fit.Plan); len(parts) > 1 {
			p.Reportf(at, "%s train together, but now they would run on %d models of GPU: %s", count(g.pods, "pod"), len(parts), shortList(parts))
		}
		return nil
	},
}

// gpuProduct is the label that NVIDIA's feature discovery puts on nodes
// (github.com/NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery).
const gpuProduct = "nvidia.com/gpu.product"

// gpuGang is the pods of a job that compute together on NVIDIA GPUs.
type gpuGang struct {
	view  *capacity.Snapshot
	roles []*job.Role
	pods  int
	holds map[string]map[*job.Role]int64 // model, role: pods that the model's nodes could hold if they were empty
}

// gpuGangOf is false where the pods do not work together, where their nodes have GPUs of
// one model, and where somebody does not say which.
func gpuGangOf(p *check.Pass) (gpuGang, bool) {
	g := gpuGang{view: p.Cluster, holds: map[string]map[*job.Role]int64{}}
	for i := range p.Job.Roles {
		r := &p.Job.Roles[i]
		gpus := r.Pod.GPUs()
		if !strings.HasPrefix(string(gpus.Resource), "nvidia.com/") || r.Replicas.Max == 0 || !worksWithPeers(p.Job, r) {
			continue
		}
		g.roles, g.pods = append(g.roles, r), saturate.Add(g.pods, r.Replicas.Max)
		for _, n := range candidates(p.Cluster, r, gpuProduct) {
			model := n.Labels[gpuProduct]
			if model == "" {
				return g, false
			}
			if g.holds[model] == nil {
				g.holds[model] = map[*job.Role]int64{}
			}
			g.holds[model][r] = saturate.Add(g.holds[model][r], saturate.Mul(n.Allocatable[gpus.Resource]/gpus.N, int64(n.Count)))
		}
	}
	return g, g.pods > 1 && len(g.holds) > 1
}

// poolsTooSmall says whether no model has room for all pods, even if its nodes were empty,
// and how many each could hold. Roles are counted one by one: a bound from above.
func (g *gpuGang) poolsTooSmall() (parts []string, never bool) {
	for _, model := range slices.Sorted(maps.Keys(g.holds)) {
		held, all := int64(0), true
		for _, r := range g.roles {
			most := g.holds[model][r]
			held = saturate.Add(held, min(most, int64(r.Replicas.Max)))
			all = all && most >= int64(r.Replicas.Max)
		}
		if all {
			return nil, false
		}
		parts = append(parts, fmt.Sprintf("%s for %d", model, held))
	}
	return parts, true
}

// spread counts the pods of a plan by the model of their nodes: "2 on Tesla-T4".
func (g *gpuGang) spread(plan []capacity.Placement) []string {
	pods := map[string]int{}
	for _, placed := range plan {
		if slices.ContainsFunc(g.roles, func(r *job.Role) bool { return r.Name == placed.Group }) {
			if n := g.view.Node(placed.Node); n != nil {
				pods[n.Labels[gpuProduct]] += placed.Count
			}
		}
	}
	var parts []string
	for _, model := range slices.Sorted(maps.Keys(pods)) {
		parts = append(parts, fmt.Sprintf("%d on %s", pods[model], model))
	}
	return parts
}

// worksWithPeers says whether the pods of a role compute one thing with each other, as far as
// the kind or the command tells: a Job may as well be a row of trainings.
func worksWithPeers(j *job.Job, r *job.Role) bool {
	if kinds.Of(j.Ref).World == kinds.WorldOfPod {
		c, _ := r.Trainer()
		return r.Launch.Nodes.Max > 1 || c != nil && sets(c, "MASTER_ADDR", "WORLD_SIZE", "COORDINATOR_ADDRESS", "JAX_COORDINATOR_ADDRESS", "TF_CONFIG")
	}
	return true
}

// candidates are the nodes that could take one pod of a role if they were empty, in groups of
// nodes that agree in some labels.
func candidates(view *capacity.Snapshot, r *job.Role, keys ...string) []capacity.NodeGroup {
	return takers(view, r, keys)
}

// takers are the candidates that some other pods choose too.
func takers(view *capacity.Snapshot, r *job.Role, keys []string, and ...*corev1.PodSpec) []capacity.NodeGroup {
	asked := capacity.Requested(r.Pod)
	return keep(view.Chosen(keys, append(and, &r.Pod.Spec)...), func(n capacity.NodeGroup) bool {
		if n.Untolerated(r.Pod.Spec.Tolerations) != nil {
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
