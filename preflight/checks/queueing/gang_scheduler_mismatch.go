package queueing

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var gangSchedulerMismatch = &check.Check{
	Name:     "gang-scheduler-mismatch",
	Title:    "a mark of a gang is for another scheduler than the pods name",
	Remedy:   "Write the schedulerName that the mark belongs to, in every role.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.SchedulerField == "" },
	Run: func(p *check.Pass) {
		// Operators of the training kinds may be set to name the scheduler where the job does not.
		filledIn := p.Operator.PodGroups == kinds.PodGroupsByFlag
		for r := range p.Job.EachRole() {
			mark, wants := markOf(r)
			has := r.Pod.Spec.SchedulerName
			if wants == "" || r.Pod.Partial || has == wants || has == "" && filledIn {
				continue
			}
			at := r.Pod.At("schedulerName")
			if has == "" {
				at = r.Pod.Path
			}
			p.Reportf(at, "%s on %s is read by scheduler %s only; the scheduler they name is %s", mark, facts.PodsOf(r), wants, cmp.Or(has, corev1.DefaultSchedulerName))
		}
	},
}

// markOf is a mark on the pods of a role that one scheduler reads,
// and which one. Sources: volcano.sh/apis pkg/apis/scheduling/v1beta1/labels.go; KAI
// scheduler docs/quickstart. Marks of scheduler-plugins say nothing: it may be the default scheduler.
func markOf(r *job.Role) (mark, scheduler string) {
	for _, m := range []struct{ key, scheduler string }{
		{facts.VolcanoGroup, "volcano"},
		{"scheduling.volcano.sh/group-name", "volcano"},
		{"scheduling.volcano.sh/queue-name", "volcano"},
		{"kai.scheduler/queue", "kai-scheduler"},
	} {
		if r.Pod.Labels[m.key] != "" || r.Pod.Annotations[m.key] != "" {
			return m.key, m.scheduler
		}
	}
	return "", ""
}
