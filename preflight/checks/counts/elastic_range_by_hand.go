package counts

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var elasticRangeByHand = &check.Check{
	Name:     "elastic-range-by-hand",
	Title:    "torchrun is told a range of nodes, and the number of pods is fixed",
	Remedy:   "Write the number of nodes, or leave --nnodes to Trainer.",
	Severity: finding.Note, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Run: func(p *check.Pass) {
		for r := range p.Job.EachRole() {
			o, ok := facts.Find(facts.OptionsOf(p.Job, r), "nnodes")
			least, most, ranges := strings.Cut(o.Value, ":")
			low, fine := facts.AtLeastOne(least)
			high, also := facts.AtLeastOne(most)
			if !ok || !ranges || !fine || !also || low == high {
				continue
			}
			switch pods := int64(r.Replicas.Max); {
			case pods < high:
				p.Reportf(o.At, "--nnodes is %s; Trainer starts %s and makes no more of them: nothing grows to %d", o.Value, facts.Count(r.Replicas.Max, "pod"), high)
			case pods == high:
				p.Reportf(o.At, "--nnodes is %s; Trainer starts %s: training begins with %d if the others come late, and starts again with each that comes", o.Value, facts.Count(r.Replicas.Max, "pod"), low)
			default:
				continue // see nnodes-differ-from-pods
			}
			return
		}
	},
}
