package placement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var mixedGPUModels = &check.Check{
	Name:     "mixed-gpu-models",
	Title:    "pods that train together get GPUs of different models",
	Remedy:   "Select one model by the label nvidia.com/gpu.product.",
	Severity: finding.Note, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) {
		g, ok := gpuGangOf(p)
		if !ok || p.Cluster.Autoscaler() != "" {
			return // one pod, one model, or nodes that are not there yet
		}
		at := g.roles[0].Pod.GPUs().Path
		if parts, never := g.poolsTooSmall(); never {
			p.ReportAs(finding.Finding{Path: at, Severity: finding.Warning, Remedy: "Ask for fewer pods, or for fewer GPUs in each, and select one model."},
				"%s train together, and no model of GPU has room for all of them: %s", facts.Count(g.pods, "pod"), facts.ShortList(parts))
			return
		}
		// A queue decides when the pods start, and so on which nodes.
		answer := p.Fit()
		if answer.Verdict != fit.Fits || answer.Queue != "" {
			return
		}
		if parts := g.spread(answer.Plan); len(parts) > 1 {
			p.Reportf(at, "%s train together, but now they would run on %d models of GPU: %s", facts.Count(g.pods, "pod"), len(parts), facts.ShortList(parts))
		}
	},
}

// gpuProduct is the label that NVIDIA's feature discovery puts on nodes
// (github.com/NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery).
const gpuProduct = "nvidia.com/gpu.product"

// gpuGang is the pods of a job that compute together on NVIDIA GPUs.
type gpuGang struct {
	view  *cluster.Snapshot
	roles []*job.Role
	pods  int
	holds map[string]map[*job.Role]int64 // model, role: pods that the model's nodes could hold if they were empty
}

// gpuGangOf is false where the pods do not work together, where their nodes have GPUs of
// one model, and where that of a node is not known.
func gpuGangOf(p *check.Pass) (gpuGang, bool) {
	g := gpuGang{view: p.Cluster, holds: map[string]map[*job.Role]int64{}}
	for r := range p.Job.EachRole() {
		gpus := r.Pod.GPUs()
		if !strings.HasPrefix(string(gpus.Resource), "nvidia.com/") || r.Replicas.Max == 0 || !facts.WorksWithPeers(p.Job, r) || p.Over() {
			continue
		}
		g.roles, g.pods = append(g.roles, r), saturate.Add(g.pods, r.Replicas.Max)
		for _, n := range facts.Candidates(p.Cluster, r, gpuProduct) {
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
func (g *gpuGang) spread(plan []fit.Placement) []string {
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
