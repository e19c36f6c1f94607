package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var gangScheduleTimeout = &check.Check{
	Name:     "gang-schedule-timeout",
	Title:    "the time that the gang has to be scheduled cannot be kept",
	Remedy:   "Leave scheduleTimeoutSeconds out (the plugin's default is 60), or write as many seconds as binding the pods takes.",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{
		"PyTorchJob.kubeflow.org", "TFJob.kubeflow.org", "XGBoostJob.kubeflow.org", "PaddleJob.kubeflow.org", "JAXJob.kubeflow.org", "MPIJob.kubeflow.org",
	},
	Run: func(p *check.Pass) {
		const at = job.Path("spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds")
		if seconds, written := facts.Number(p.Job, at); written {
			reportGangTime(p, at, "scheduleTimeoutSeconds gives", seconds)
		}
	},
}

// What kube-scheduler does with the time that the coscheduling plugin asks it to wait for a gang.
const (
	bindsPerSecond = 50      // pods: its client's default queries a second (KubeSchedulerConfiguration v1, clientConnection.qps)
	longestWait    = 15 * 60 // s; pkg/scheduler/framework/runtime/framework.go of Kubernetes v1.37.1, maxTimeout
)

// reportGangTime reports a time in which a gang cannot be scheduled, even where there is room for it.
func reportGangTime(p *check.Pass, at job.Path, gives string, seconds int64) {
	switch pods := int64(p.Job.MaxPods()); {
	case seconds < 1:
		p.Reportf(at, "%s the gang %d seconds to be scheduled: it never is", gives, seconds)
	case seconds > longestWait:
		p.ReportAs(finding.Finding{Path: at, Severity: finding.Note, Remedy: "Write 900 or less."},
			"%s the gang %d seconds to be scheduled; kube-scheduler holds what a gang has for 900 seconds at most, and then lets it go", gives, seconds)
	case seconds*bindsPerSecond < pods:
		p.Reportf(at, "%s the gang %s to be scheduled; kube-scheduler binds about 50 pods a second, and there are %s", gives, facts.Count(seconds, "second"), facts.Count(pods, "pod"))
	}
}
