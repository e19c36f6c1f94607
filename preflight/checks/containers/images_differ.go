package containers

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var imagesDiffer = &check.Check{
	Name:     "images-differ",
	Title:    "processes that train together come from different images",
	Remedy:   "Use one image, with one tag or digest, for all pods that train together.",
	Severity: finding.Note, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.Collective },
	Run: func(p *check.Pass) {
		master, worker := p.Operator.Role(p.Job, kinds.Leader), p.Operator.Role(p.Job, kinds.Worker)
		if master == nil || worker == nil {
			return
		}
		one, _ := master.Trainer()
		other, k := worker.Trainer()
		if one == nil || other == nil || one.Image == "" || other.Image == "" || one.Image == other.Image {
			return
		}
		p.Reportf(worker.Pod.At(job.Path("containers").Index(k).Child("image")), "the workers' image is %s, but the master's is %s", facts.Quoted(other.Image), facts.Quoted(one.Image))
	},
}
