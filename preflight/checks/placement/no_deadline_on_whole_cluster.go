package placement

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var noDeadlineOnWholeCluster = &check.Check{
	Name:     "no-deadline-on-whole-cluster",
	Title:    "the job takes nearly all GPUs of the cluster, without a deadline",
	Remedy:   "Write activeDeadlineSeconds, or submit through a queue.",
	Severity: finding.Note, Since: "0.1",
	Where:  func(o *kinds.Operator) bool { return o.Deadline != "" || o.Jobs != nil },
	Needs:  check.Cluster,
	Params: func() any { return &deadlineParams{SharePercent: 80, LeastGPUs: 16} },
	Run: func(p *check.Pass) {
		if p.Job.Gang.Queue != "" || facts.HasDeadline(p.Job) || p.Cluster.Autoscaler() != "" {
			return
		}
		params := p.Params.(*deadlineParams)
		asked := job.Amount{}
		for r := range p.Job.EachRole() {
			if g := r.Pod.GPUs(); g.N > 0 && (asked.N == 0 || g.Resource == asked.Resource) && len(r.After) == 0 {
				asked = job.Amount{Resource: g.Resource, N: saturate.Add(asked.N, saturate.Mul(g.N, int64(r.Replicas.Max))), Path: r.ReplicasPath}
			}
		}
		there := p.Cluster.Offered(asked.Resource)
		if asked.N > there || there < params.LeastGPUs || saturate.Mul(asked.N, 100) < saturate.Mul(there, params.SharePercent) {
			return // too much is gang-does-not-fit's
		}
		p.ReportAs(finding.Finding{Path: asked.Path, Facts: []finding.Fact{{Name: "asked", Value: asked.N}, {Name: "cluster", Value: there}}},
			"%s take %d of the cluster's %d %s, with no queue and no activeDeadlineSeconds: if the job hangs, it holds them", facts.Count(p.Job.MaxPods(), "pod"), asked.N, there, asked.Resource)
	},
}

type deadlineParams struct {
	SharePercent int64 `json:"sharePercent" doc:"share of the cluster's GPUs from which the check speaks"`
	LeastGPUs    int64 `json:"leastGPUs" doc:"GPUs in the cluster below which it stays silent"`
}
