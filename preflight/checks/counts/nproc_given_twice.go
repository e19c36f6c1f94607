package counts

import (
	"strconv"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var nprocGivenTwice = &check.Check{
	Name:     "nproc-given-twice",
	Title:    "the number of processes is written in two places",
	Remedy:   "Keep spec.nprocPerNode, and remove elasticPolicy.nProcPerNode.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"PyTorchJob.kubeflow.org"},
	Run: func(p *check.Pass) {
		const old = job.Path("spec.elasticPolicy.nProcPerNode")
		n, ok := facts.Number(p.Job, old)
		if other, written := facts.Text(p.Job, "spec.nprocPerNode"); ok && written {
			p.Reportf(old, "elasticPolicy.nProcPerNode %d and nprocPerNode %q are both set; the operator rejects a job with both", n, other)
		}
		const field = job.Path("spec.nprocPerNode")
		text, _ := facts.Text(p.Job, field)
		told, err := strconv.Atoi(text)
		for r := range p.Job.EachRole() {
			l := &r.Launch
			if starts := l.ProcsPerNode; err == nil && l.ProcsPath != field && starts.Said() && starts.Min == starts.Max && starts.Max != told {
				p.ReportAs(finding.Finding{Path: l.ProcsPath, Severity: finding.Warning, Remedy: "Write the number in one place."},
					"%s starts %d processes in each pod, and nprocPerNode is %d: the command line wins", l.Program, starts.Max, told)
			}
		}
	},
}
