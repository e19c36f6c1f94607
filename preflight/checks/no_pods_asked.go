package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var noPodsAsked = &check.Check{
	Name:     "no-pods-asked",
	Title:    "the job asks for no pods",
	Doc:      readme("no-pods-asked"),
	Remedy:   "Write how many pods there are; to hold the job back, suspend it.",
	Severity: finding.Warning, Since: "0.1",
	Kinds:           []string{"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "JobSet", "TrainJob", "ColossalAIJob"},
	Needs:           check.Whole,
	OperatorRejects: []string{"PyTorchJob"},
	Run: func(p *check.Pass) error {
		if len(p.Job.Roles) == 0 && p.Job.Ref.Kind == "TrainJob" {
			p.Reportf("spec.runtimeRef", "the runtime has no replicated Jobs: there are no pods, and nothing trains")
			return nil
		}
		if len(p.Job.Roles) == 0 || p.Job.MaxPods() > 0 && trainers(p.Job) > 0 || p.Job.Suspended {
			return nil
		}
		for i := range p.Job.Roles {
			if r := &p.Job.Roles[i]; r.Replicas.Max == 0 {
				p.Report(withoutPods(kinds.Of(p.Job.Ref), r))
				return nil
			}
		}
		return nil
	},
}

// withoutPods is what becomes of a job whose role has no pods.
func withoutPods(operator kinds.Operator, r *job.Role) finding.Finding {
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
func trainers(j *job.Job) int {
	n := j.MaxPods()
	if launcher := j.Role("launcher"); launcher != nil && j.Ref.Kind == "ColossalAIJob" {
		n -= launcher.Replicas.Max
	}
	return n
}
