package queueing

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var trainJobGangPolicy = &check.Check{
	Name:     "trainjob-gang-policy",
	Title:    "the gang of the runtime has two schedulers, another one, or no time",
	Remedy:   "Leave one scheduler in the runtime's podGroupPolicy, with a scheduleTimeoutSeconds that the gang can meet (Trainer's default is 60).",
	Severity: finding.Warning, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		const policy = job.Path("spec.podGroupPolicy")
		r, name := facts.Runtime(p)
		if r == nil {
			return
		}
		switch volcano := r.Field(policy.Child("volcano")) != nil; {
		case volcano && r.Field(policy.Child("coscheduling")) != nil:
			p.Reportf("spec.runtimeRef", "runtime %s names coscheduling and volcano: each makes a group of its own, and one scheduler looks at the pods", name)
		case volcano && p.Job.MaxPods() > 1:
			readByAnother(p, name, "Volcano", "volcano", corev1.DefaultSchedulerName, "kai-scheduler", "t9k-scheduler")
		case r.Field(policy.Child("coscheduling")) != nil && p.Job.MaxPods() > 1: // whose plugin may be in any kube-scheduler
			readByAnother(p, name, "scheduler-plugins", "the scheduler that has the plugin", "volcano", "kai-scheduler", "t9k-scheduler")
		}
		if at := policy.Child("volcano", "networkTopology"); r.Field(at) != nil {
			p.ReportAs(finding.Finding{Path: "spec.runtimeRef", Severity: finding.Note, Remedy: "Compare the topology with the cluster's HyperNodes: kubectl get hypernodes."},
				"runtime %s asks Volcano for a networkTopology, which the fit does not judge: the job may wait although nodes have room", name)
		}
		if seconds, written := facts.Number(r, policy.Child("coscheduling", "scheduleTimeoutSeconds")); written {
			reportGangTime(p, "spec.runtimeRef", "runtime "+name+" gives", seconds)
		}
	},
}

// readByAnother warns of a group that no scheduler reads: Trainer makes the PodGroup and marks the pods, and leaves their
// schedulerName to the runtime (kubeflow/trainer v2.1 pkg/runtime/framework/plugins/{volcano,coscheduling}).
func readByAnother(p *check.Pass, runtime, of, wants string, others ...string) {
	for r := range p.Job.EachRole() {
		has := cmp.Or(r.Pod.Spec.SchedulerName, corev1.DefaultSchedulerName)
		if r.Replicas.Max > 0 && !r.Pod.Partial && slices.Contains(others, has) {
			p.ReportAs(finding.Finding{Path: "spec.runtimeRef", Remedy: fmt.Sprintf("Name %s as the schedulerName in the pod template of the runtime.", wants)},
				"runtime %s makes a PodGroup of %s, and %s name %s, which does not read it: they start one by one", runtime, of, facts.PodsOf(r), has)
			return
		}
	}
}
