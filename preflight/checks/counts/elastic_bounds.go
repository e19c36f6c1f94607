package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var elasticBounds = &check.Check{
	Name:     "elastic-bounds",
	Title:    "the number of workers contradicts the elastic bounds",
	Remedy:   "Keep minReplicas ≤ replicas ≤ maxReplicas.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Elastic != nil },
	Run: func(p *check.Pass) {
		policy := p.Operator.Elastic.At
		least, hasLeast := facts.Number(p.Job, policy.Child("minReplicas"))
		most, hasMost := facts.Number(p.Job, policy.Child("maxReplicas"))
		if hasLeast && hasMost && least > most {
			return // the reader says that nothing lies between them
		}
		worker := p.Operator.Role(p.Job, kinds.Worker)
		if worker == nil {
			return
		}
		at := worker.Path.Child("replicas")
		replicas, ok := facts.Number(p.Job, at)
		join, who := replicas, facts.Count(replicas, "worker")
		// The operator tells the bounds to the Master too, which joins as one node more
		// (https://github.com/kubeflow/trainer/blob/v1.9.3/pkg/controller.v1/pytorch/envvar.go).
		if master := p.Operator.Role(p.Job, kinds.Leader); master != nil && master.Replicas.Max > 0 && p.Operator.Elastic.Masters {
			join, who = replicas+int64(master.Replicas.Max), who+" and "+facts.Count(master.Replicas.Max, "master")
		}
		switch {
		case !ok:
		case hasLeast && join < least:
			p.Reportf(at, "%s are fewer than elasticPolicy.minReplicas, which is %d", who, least)
		case hasMost && replicas > most:
			p.Reportf(at, "%s are more than elasticPolicy.maxReplicas, which is %d", facts.Count(replicas, "worker"), most)
		}
	},
}
