package preflight

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// deadlineOf is after how many seconds something ends the job; 0: nothing does.
func deadlineOf(j *job.Job, roles []map[string]any, views []RoleView) int64 {
	for _, at := range []job.Path{"spec.runPolicy.activeDeadlineSeconds", "spec.activeDeadlineSeconds"} {
		if n, ok := job.Whole(j.Field(at)); ok {
			return n
		}
	}
	operator := kinds.Of(j.Ref)
	rules, _ := job.Path("spec.failurePolicy.rules").Resolve(j.Source.Object)
	if operator.RemakesPods || restartsForEver(rules) { // what ended at its deadline begins again
		return 0
	}
	restarts := int64(0) // of a set of Jobs, after the deadline of one of them, too
	if n, ok := job.Whole(j.Field("spec.failurePolicy.maxRestarts")); ok {
		restarts = max(n, 0)
	}
	holds := false
	for i := range views {
		holds = holds || views[i].GPUsPerPod > 0
	}
	// Pods that hold GPUs go on after those of a role that ends: each has to have one.
	var most int64
	for i := range j.Roles {
		n, within := int64(0), int64(0)
		of := jobIn(operator, roles[i])
		if of != nil {
			n, _ = job.Whole(of["activeDeadlineSeconds"])
			within = jobRetries(of)
		}
		if pods := j.Roles[i].Pod.Spec.ActiveDeadlineSeconds; n == 0 && pods != nil { // a Job tries such a pod again
			n = saturate.Mul(*pods, saturate.Add(within, 1))
		}
		if n == 0 && (!holds || views[i].GPUsPerPod > 0) {
			return 0
		}
		most = max(most, saturate.Mul(n, saturate.Add(restarts, 1)))
	}
	return most
}

// jobIn is the spec of the Job that an operator makes of a role, or that the job itself is; nil: there is none.
func jobIn(operator *kinds.Operator, role map[string]any) map[string]any {
	if operator.Jobs == nil || role == nil {
		return nil
	}
	if operator.Jobs.Spec == "" {
		return role
	}
	v, _, _ := unstructured.NestedFieldNoCopy(role, strings.Split(string(operator.Jobs.Spec), ".")...)
	of, _ := v.(map[string]any)
	return of
}

// jobRetries is how often a Job tries its pods again, with the API's own defaults
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-backoff-failure-policy: 6, or for each index as often as is written).
func jobRetries(of map[string]any) int64 {
	if n, ok := job.Whole(of["backoffLimit"]); ok {
		return n
	}
	n, ok := job.Whole(of["backoffLimitPerIndex"])
	if !ok {
		return 6
	}
	indexes, _ := job.Whole(of["completions"])
	return saturate.Mul(n, max(indexes, 1))
}

// retryPlaces are where kinds write how often a job is tried again: Kubeflow, Job and RayJob,
// Volcano, JobSet, FrameworkController, and the elastic agent of PyTorchJob.
var retryPlaces = []job.Path{
	"spec.runPolicy.backoffLimit", "spec.backoffLimit", "spec.maxRetry", "spec.failurePolicy.maxRestarts",
	"spec.retryPolicy.maxRetryCount", "spec.elasticPolicy.maxRestarts",
}

// retriesOf is how often the job is tried again at most; false where that is nowhere written or
// has no end. A negative number of FrameworkController has none.
func retriesOf(j *job.Job, roles []map[string]any) (most int64, bounded bool) {
	for _, at := range retryPlaces {
		n, ok := job.Whole(j.Field(at))
		switch {
		case ok && n < 0:
			return 0, false
		case ok:
			most, bounded = max(most, n), true
		}
	}
	for _, at := range []job.Path{"spec.failurePolicy.rules", "spec.podFailurePolicy.rules"} {
		if rules, _ := at.Resolve(j.Source.Object); restartsForEver(rules) {
			return 0, false
		}
	}
	if againForEver(j, roles) || slices.ContainsFunc(j.Roles, func(r job.Role) bool { return restartsInPlace(&r.Pod.Spec) }) {
		return 0, false
	}
	// What a role is tried again by itself comes in each attempt of the whole.
	var within int64
	operator := kinds.Of(j.Ref)
	for _, role := range roles {
		rules, _, _ := unstructured.NestedFieldNoCopy(role, "template", "spec", "podFailurePolicy", "rules")
		if restartsForEver(rules) {
			return 0, false
		}
		for _, at := range roleRetryPlaces {
			v, _, _ := unstructured.NestedFieldNoCopy(role, at...)
			n, ok := job.Whole(v)
			if ok && n < 0 {
				return 0, false
			}
			within = max(within, n)
		}
		if of := jobIn(operator, role); of != nil && operator.Jobs.Spec != "" {
			within = max(within, jobRetries(of))
		}
	}
	return saturate.Add(saturate.Mul(saturate.Add(most, 1), saturate.Add(within, 1)), -1), bounded
}

// againForEver says whether pods begin again without being counted: a container that its node starts again, where the
// operator looks at no restarts, or a pod that is made anew by its exit code, where no other restarts in place
// (https://github.com/kubeflow/training-operator/blob/v1.8.1/pkg/core/job.go, PastBackoffLimit, counts restarts of containers).
func againForEver(j *job.Job, roles []map[string]any) bool {
	if kinds.Of(j.Ref).UncountedRestarts {
		return slices.ContainsFunc(j.Roles, func(r job.Role) bool { return r.Pod.Spec.RestartPolicy != corev1.RestartPolicyNever })
	}
	anew := false
	for _, role := range roles {
		switch role["restartPolicy"] {
		case "ExitCode":
			anew = true
		case "OnFailure", "Always":
			return false
		}
	}
	return anew
}

// restartsInPlace says that a container of a pod that is not restarted begins again by a rule of its own, which no controller counts
// (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#individual-container-restart-rules).
func restartsInPlace(pod *corev1.PodSpec) bool {
	if p := pod.RestartPolicy; p == corev1.RestartPolicyOnFailure || p == corev1.RestartPolicyAlways {
		return false
	}
	again := func(c *corev1.Container, sidecar bool) bool {
		own := c.RestartPolicy
		return own != nil && (*own == corev1.ContainerRestartPolicyOnFailure || *own == corev1.ContainerRestartPolicyAlways && !sidecar) || len(c.RestartPolicyRules) > 0
	}
	return slices.ContainsFunc(pod.Containers, func(c corev1.Container) bool { return again(&c, false) }) ||
		slices.ContainsFunc(pod.InitContainers, func(c corev1.Container) bool { return again(&c, true) })
}

// roleRetryPlaces are where roles write how often they are tried again: JobSet's Jobs, Volcano's tasks, and the tasks
// of FrameworkController.
var roleRetryPlaces = [][]string{{"template", "spec", "backoffLimit"}, {"maxRetry"}, {"task", "retryPolicy", "maxRetryCount"}}

// restartsForEver says whether a rule restarts a JobSet, or a Job of it, without counting (sigs.k8s.io/jobset v0.12.0
// api/jobset/v1alpha2/jobset_types.go, RestartJobSetAndIgnoreMaxRestarts, RestartJobAndIgnoreMaxRestarts), or a pod that ended by itself
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy, Ignore). One that was evicted is
// not its author's.
func restartsForEver(rules any) bool {
	list, _ := rules.([]any)
	return slices.ContainsFunc(list, func(rule any) bool {
		of, _ := rule.(map[string]any)
		action := of["action"]
		return action == "RestartJobSetAndIgnoreMaxRestarts" || action == "RestartJobAndIgnoreMaxRestarts" || action == "Ignore" && of["onExitCodes"] != nil
	})
}
