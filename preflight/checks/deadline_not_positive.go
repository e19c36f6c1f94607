package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var deadlineNotPositive = &check.Check{
	Name:     "deadline-not-positive",
	Title:    "the deadline has passed when the job begins",
	Doc:      readme("deadline-not-positive"),
	Remedy:   "Write how many seconds the job may run, or leave the deadline out.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob", "JobSet", "Job", "Framework"},
	Run: func(p *check.Pass) error {
		var places []job.Path
		switch p.Job.Ref.Kind {
		case "Job":
			places = append(places, "spec.activeDeadlineSeconds")
		case "JobSet":
			for i := range p.Job.Roles {
				places = append(places, p.Job.Roles[i].Path.Child("template", "spec", "activeDeadlineSeconds"))
			}
		case "Framework":
		default:
			places = append(places, "spec.runPolicy.activeDeadlineSeconds")
		}
		for i := range p.Job.Roles {
			places = append(places, p.Job.Roles[i].Pod.At("activeDeadlineSeconds"))
		}
		for _, at := range places {
			if seconds, ok := number(p.Job, at); ok && seconds < 1 {
				p.Reportf(at, "activeDeadlineSeconds is %d; it must be 1 or more, or the job ends as it begins", seconds)
			}
		}
		return nil
	},
}
