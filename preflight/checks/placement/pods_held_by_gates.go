package placement

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var podsHeldByGates = &check.Check{
	Name:     "pods-held-by-gates",
	Title:    "the pods wait until a scheduling gate is removed",
	Remedy:   "Remove the gate, unless something in the cluster opens it.",
	Severity: finding.Note, Since: "0.1",
	Stops: true,
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		for k, g := range r.Pod.Spec.SchedulingGates {
			at := r.Pod.At(job.Path("schedulingGates").Index(k))
			if r.Replicas.Max == 0 || strings.HasPrefix(g.Name, "kueue.x-k8s.io/") || p.Job.Field(at) == nil {
				continue
			}
			p.Reportf(at, "%s wait%s for the scheduling gate %q: until something removes it nothing is scheduled, with SchedulingGated as the only sign", facts.PodsOf(r), words.Verb(r.Replicas.Max), g.Name)
		}
	}),
}
