package lifecycle

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// A task is completed when all its pods have succeeded, and one of restartPolicy Always never does. Volcano leaves the
// template's restartPolicy as it is, so that it is the API's default, Always, where none is written
// (https://github.com/volcano-sh/volcano/blob/master/pkg/controllers/job/job_controller_util.go, createJobPod;
// https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy).
var taskNeverCompletes = &check.Check{
	Name:     "task-never-completes",
	Title:    "a policy waits for the end of a task whose containers start again",
	Remedy:   "Write restartPolicy OnFailure or Never in the template of the task.",
	Severity: finding.Warning, Since: "0.2",
	Kinds: []string{"Job.batch.volcano.sh"},
	Needs: check.Whole,
	Run: func(p *check.Pass) {
		ends, told := false, false
		for r := range p.Job.EachRole() {
			if policy := r.Pod.Spec.RestartPolicy; policy != "" && policy != corev1.RestartPolicyAlways {
				ends = true
				continue
			}
			if at := completion(p.Job, r.Path.Child("policies")); at != "" && r.Replicas.Max > 0 {
				told = true
				p.Reportf(at, "%s never completes: its restartPolicy is Always, so a container that ends well is started again", r.Name)
			}
		}
		if ends || told || p.Job.MaxPods() == 0 {
			return
		}
		at := completion(p.Job, "spec.policies")
		if at == "" {
			if !slices.ContainsFunc(p.Job.Roles, func(r job.Role) bool { return r.Pod.GPUs().N > 0 && r.Replicas.Max > 0 }) {
				return // it may be there to serve
			}
			at = "spec.tasks"
		}
		p.Reportf(at, "no task ever completes: restartPolicy of all is Always, so a container that ends well is started again")
	},
}

// completion is the first policy of a list that answers the end of a task.
func completion(j *job.Job, list job.Path) job.Path {
	for at := range j.Elements(list) {
		several, _ := j.Field(at.Child("events")).([]any)
		if facts.TextAt(j, at.Child("event")) == "TaskCompleted" || slices.Contains(several, any("TaskCompleted")) {
			return at
		}
	}
	return ""
}
