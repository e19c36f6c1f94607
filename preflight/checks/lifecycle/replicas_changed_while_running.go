package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var replicasChangedWhileRunning = &check.Check{
	Name:     "replicas-changed-while-running",
	Title:    "pods that run count on the old number of pods",
	Remedy:   "Suspend the job before the change, or make it elastic.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.CountsPods },
	Needs: check.Update,
	Run: func(p *check.Pass) {
		dynamic, _ := p.Job.Field("spec.enableDynamicWorker").(bool)
		if p.Old.Suspended || p.Job.Suspended || dynamic || p.Job.Field("spec.elasticPolicy") != nil {
			return
		}
		for r := range p.Job.EachRole() {
			old := p.Old.Role(r.Name)
			if old == nil || old.Replicas == r.Replicas {
				continue
			}
			p.ReportAs(finding.Finding{
				Path:  r.ReplicasPath,
				Facts: []finding.Fact{{Name: "was", Value: int64(old.Replicas.Max)}, {Name: "is", Value: int64(r.Replicas.Max)}},
			}, "%s changed from %s to %d, but the pods that run were told that %s train together", r.Name, facts.Count(old.Replicas.Max, "pod"), r.Replicas.Max, facts.Count(p.Old.MaxPods(), "pod"))
		}
	},
}
