package resources

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var parameterServerAsksForGPUs = &check.Check{
	Name:     "parameter-server-asks-for-gpus",
	Title:    "parameter servers hold GPUs that they do not use",
	Remedy:   "Remove the GPUs from PS.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TFJob.kubeflow.org"},
	Run: func(p *check.Pass) {
		ps, worker := p.Operator.Role(p.Job, kinds.Server), p.Operator.Role(p.Job, kinds.Worker)
		if ps == nil || worker == nil || ps.Replicas.Max == 0 || worker.Replicas.Max == 0 {
			return
		}
		if gpus := ps.Pod.GPUs(); gpus.N > 0 {
			all := saturate.Mul(gpus.N, int64(ps.Replicas.Max))
			p.ReportAs(finding.Finding{Path: gpus.Path, Facts: []finding.Fact{{Name: "gpus", Value: all}}},
				"%s ask%s for %d %s each, and nothing is computed on them: a parameter server keeps variables in main memory", facts.Count(ps.Replicas.Max, "parameter server"), words.Verb(ps.Replicas.Max), gpus.N, gpus.Resource)
		}
	},
}
