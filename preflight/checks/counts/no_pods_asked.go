package counts

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var noPodsAsked = &check.Check{
	Name:     "no-pods-asked",
	Title:    "the job asks for no pods",
	Remedy:   "Write how many pods there are; to hold the job back, suspend it.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return !o.ZeroPods },
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		for _, u := range p.Job.Unread {
			if u.Kind == job.RuntimeWithoutJobs {
				p.Reportf(u.Path, "the runtime has no replicated Jobs: there are no pods, and nothing trains")
				return
			}
		}
		if len(p.Job.Roles) == 0 || trainers(p) > 0 || p.Job.Suspended {
			return
		}
		for r := range p.Job.EachRole() {
			if r.Replicas.Max == 0 {
				p.Report(withoutPods(p.Operator, r))
				return
			}
		}
	},
}

// withoutPods is what becomes of a job whose role has no pods.
func withoutPods(operator *kinds.Operator, r *job.Role) finding.Finding {
	f := finding.Finding{Path: r.ReplicasPath, Message: r.Name + " has 0 pods: nothing trains, and the job never ends"}
	if operator.EndsWithoutPods {
		f.Message = r.Name + " has 0 pods: nothing trains, and the operator reports the job complete at once"
	}
	if operator.Hold != "" {
		f.Remedy = "Write how many pods there are; to hold the job back, set " + operator.Hold + "."
	}
	return f
}

// trainers is the number of pods that train: a launcher alone trains nothing.
func trainers(p *check.Pass) int {
	n := p.Job.MaxPods()
	if r := p.Operator.Role(p.Job, kinds.Launcher); r != nil {
		n -= r.Replicas.Max
	}
	return n
}
