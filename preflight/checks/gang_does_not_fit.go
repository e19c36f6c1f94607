package checks

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var gangDoesNotFit = &check.Check{
	Name:     "gang-does-not-fit",
	Title:    "not all pods of the job find a place",
	Doc:      readme("gang-does-not-fit"),
	Remedy:   "Wait for running work to end, or submit through a queue; signalbox fit shows the plan.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			if why, _ := shapeOf(p.Cluster, &p.Job.Roles[i]); why != fitting {
				return nil // a check of its own says which pod and why, or an autoscaler may help
			}
		}
		fit := p.Fit()
		// Whoever waits in a queue, is suspended, or may get new nodes is not told that there
		// is no room now.
		patient := p.Job.Gang.Queue != "" || p.Job.Suspended || p.Cluster.Autoscaler() != ""
		f := finding.Finding{Path: rolePath(p.Job, fit.Group), Message: misfitMessage(fit), Facts: []finding.Fact{
			{Name: "verdict", Value: fit.Verdict.String()}, {Name: "placed", Value: int64(fit.Placed)}, {Name: "wanted", Value: int64(fit.Wanted)},
		}}
		switch {
		case fit.Verdict == capacity.TooBig && p.Cluster.Autoscaler() == "":
			f.Severity, f.Remedy = finding.Error, "Ask for fewer or smaller pods: even idle, the cluster cannot hold them."
		case (fit.Verdict == capacity.Full || fit.Verdict == capacity.Fragmented) && !patient:
		default:
			return nil
		}
		if fit.Change != "" {
			f.Message += "; would fit: " + fit.Change
		}
		p.Report(f)
		return nil
	},
}

// rolePath is where the number of pods of a role is written.
func rolePath(j *job.Job, role string) job.Path {
	if r := j.Role(role); r != nil {
		return r.ReplicasPath
	}
	return "spec"
}

// misfitMessage says how far the pods got, and what the rest lacks in numbers.
func misfitMessage(fit capacity.Result) string {
	message := fmt.Sprintf("%d of %s fit", fit.Placed, count(fit.Wanted, "pod"))
	if fit.Verdict == capacity.TooBig {
		message += " even on the idle cluster"
	}
	if len(fit.Shortfall) == 0 {
		return message
	}
	s := fit.Shortfall[0]
	amount := func(n int64) string { return job.Format(s.Resource, n) }
	if s.Free >= s.Asked {
		return message + fmt.Sprintf(": %s %s are free in sum, but the largest hole is %s and a pod needs %s", amount(s.Free), s.Resource, amount(s.LargestHole), amount(s.NeededHole))
	}
	return message + fmt.Sprintf(": they ask for %s %s, %s are free", amount(s.Asked), s.Resource, amount(s.Free))
}
