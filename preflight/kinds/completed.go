package kinds

import "github.com/signalbox-dev/signalbox/preflight/job"

// batchJobCompleted: no more pods run than completions are left. Where no number of completions is written, none is made
// after the first success (k8s.io/kubernetes v1.37 pkg/controller/job/job_controller.go, manageJob).
func batchJobCompleted(j *job.Job) map[string]int {
	status, _ := dig(j.Source, "status").(map[string]any)
	succeeded := number(status, "succeeded")
	if succeeded <= 0 {
		return nil
	}
	left := number(status, "active")
	if completions, written := job.Whole(dig(j.Source, "spec", "completions")); written {
		left = completions - succeeded
	}
	return map[string]int{batchRole: max(0, j.MaxPods()-int(max(0, left)))}
}

// jobsCompleted counts the pods of Jobs that have succeeded, where a list in the status says how many have of each role.
func jobsCompleted(path ...string) func(*job.Job) map[string]int {
	return func(j *job.Job) map[string]int {
		out := map[string]int{}
		for _, e := range digList(j.Source, path...) {
			m, _ := e.(map[string]any)
			if r := j.Role(text(m, "name")); r != nil {
				jobs := max(1, r.Jobs)
				out[r.Name] = int(min(number(m, "succeeded"), int64(jobs))) * (r.Replicas.Max / jobs)
			}
		}
		return out
	}
}

// kubeflowCompleted: a pod that has succeeded is not replaced (training-operator v1.9.3
// pkg/controller.v1/common/pod.go, ReconcilePods).
func kubeflowCompleted(j *job.Job) map[string]int {
	roles, _ := dig(j.Source, "status", "replicaStatuses").(map[string]any)
	out := map[string]int{}
	for name, v := range roles {
		counts, _ := v.(map[string]any)
		out[name] = int(number(counts, "succeeded"))
	}
	return out
}

// volcanoCompleted: the same of a task (volcano v1.12.0 pkg/controllers/job/job_controller_actions.go, syncJob), but where the
// job starts again or was stopped: then all of its pods are deleted.
func volcanoCompleted(j *job.Job) map[string]int {
	if phase := dig(j.Source, "status", "state", "phase"); phase != "Running" && phase != "Pending" {
		return nil
	}
	tasks, _ := dig(j.Source, "status", "taskStatusCount").(map[string]any)
	out := map[string]int{}
	for name, v := range tasks {
		task, _ := v.(map[string]any)
		phases, _ := task["phase"].(map[string]any)
		out[name] = int(number(phases, "Succeeded"))
	}
	return out
}
