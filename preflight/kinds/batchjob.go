package kinds

import (
	"fmt"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var batchJob = &Kind{
	Name:     "Job",
	Resource: "jobs",
	GVKs:     []schema.GroupVersionKind{{Group: "batch", Version: "v1", Kind: "Job"}},
	Doc: "The one role of a Job is called pod: as many pods as run at the same time, which is the parallelism (1) " +
		"but no more than the completions.",
	Runs: Told{
		English: "The pods of a Job are alike unless it is Indexed, when each has its index in JOB_COMPLETION_INDEX. A failed pod is replaced, or its container started again where restartPolicy is OnFailure, until backoffLimit is used up; the Job fails then and its running pods are ended, so a pod that was terminated may be a consequence.",
		Chinese: "Job 的各个 Pod 相同；Indexed 模式下每个 Pod 的序号在 JOB_COMPLETION_INDEX 中。Pod 失败后会被新 Pod 取代（restartPolicy 为 OnFailure 时只重启容器），直到用完 backoffLimit，此时 Job 失败，其余 Pod 被终止，因此被终止的 Pod 可能只是结果。",
	},
	Read:  reading("Job", readBatchJob),
	Pods:  func(ref job.Ref) labels.Selector { return selector(requirement(batchv1.JobNameLabel, ref.Name)) },
	Place: placeInBatchJob,
	State: batchJobState, Completed: batchJobCompleted,
	Operator: Operator{
		Validates: Validation{APIServer: true, Refuses: []string{
			"container-image-missing", "container-name-invalid", "device-claim-not-declared", "job-name-too-long", "job-restart-policy-missing",
			"managed-by-unknown", "name-twice", "pod-security-violated", "pod-value-refused", "restart-policy-always",
		}},
		LongestName: batchLongestName,
		Hosts:       batchHosts,
		Peers:       PeersBySubdomain,
		ManagedBy:   ManagedBy{At: "spec.managedBy"},
		Deadline:    "spec.activeDeadlineSeconds", TTL: "spec.ttlSecondsAfterFinished",
		Choices:  batchChoices("spec"),
		Jobs:     &Jobs{},
		ZeroPods: true, // parallelism 0 holds a Job back
		World:    WorldOfPod,
		EnvUnset: jobEnv, NoEnv: "neither does the controller of Jobs",
		Kueue: true,
	},
}

var completionModes = []string{"Indexed", "NonIndexed"}

// batchChoices are the words that the spec of a Job takes (k8s.io/api v0.37.2 batch/v1/types.go).
func batchChoices(spec job.Path) []Choice {
	return []Choice{
		{At: spec.Child("completionMode"), Words: completionModes},
		{At: spec.Child("podReplacementPolicy"), Words: []string{"TerminatingOrFailed", "Failed"}},
		{At: spec.Child("podFailurePolicy", "rules"), Each: "action", Words: []string{"FailJob", "FailIndex", "Ignore", "Count"}},
		{At: spec.Child("podFailurePolicy", "rules"), Each: "onExitCodes.operator", Words: []string{"In", "NotIn"}},
	}
}

// batchLongestName: pods with an index have it in their host's name, up to that of the last completion
// (k8s.io/kubernetes v1.37.1 pkg/apis/batch/validation/validation.go, ValidateJob).
func batchLongestName(j *job.Job, _ *job.Role, name string) (child, what string) {
	if last := countIn(j, "spec.completions") - 1; textIn(j, "spec.completionMode") == "Indexed" && last >= 0 {
		return name + "-" + strconv.Itoa(last), "host of the last pod"
	}
	return name, "label with the job's name"
}

// batchHosts: the controller of Jobs gives the pods with an index host's names, which a name server knows below a subdomain
// alone; others have random ones (https://kubernetes.io/docs/concepts/workloads/controllers/job/#completion-mode,
// https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/#pod-s-hostname-and-subdomain-fields).
func batchHosts(j *job.Job, r *job.Role) Hosts {
	pods := countIn(j, "spec.completions")
	if textIn(j, "spec.completionMode") != "Indexed" || pods == 0 {
		return Hosts{}
	}
	h := Hosts{Prefix: j.Source.GetName() + "-", Pods: pods, Domain: r.Pod.Spec.Subdomain}
	if h.Domain == "" {
		h.Unserved = "pods of a Job have a name in the network only with spec.template.spec.subdomain, and a headless Service of that name"
	}
	return h
}

// jobEnv is what the Job controller sets (k8s.io/kubernetes pkg/controller/job/indexed_job_utils.go).
func jobEnv(j *job.Job, _ *job.Role, _ int) []string {
	return indexEnv(textIn(j, "spec.completionMode"))
}

func indexEnv(mode string) []string {
	if mode == "Indexed" {
		return []string{"JOB_COMPLETION_INDEX"}
	}
	return nil
}

// batchRole is the name of the one role.
const batchRole = "pod"

func readBatchJob(r *reader, j *job.Job, o *object[batchv1.JobSpec]) {
	// A parallelism of 0 pauses a Job (https://kubernetes.io/docs/concepts/workloads/controllers/job/#controlling-parallelism).
	idle := o.Spec.Parallelism != nil && *o.Spec.Parallelism == 0
	j.Suspended = idle || o.Spec.Suspend != nil && *o.Spec.Suspend
	if m := o.Spec.ManagedBy; m != nil && *m != batchv1.JobControllerName {
		j.ManagedElsewhere = *m
	}
	role := job.Role{
		Name: batchRole, Path: "spec",
		Replicas:     job.Exactly(r.together(&o.Spec, "spec")),
		ReplicasPath: r.written("spec.parallelism", "spec.completions", "spec"),
		Pod:          r.pod(&o.Spec.Template, "spec.template"),
	}
	batchMarks(&role, j.Ref.Name, &o.Spec)
	settle(&role)
	j.Roles = []job.Role{role}
	gang(r, j)
	r.minParallelism(j)
}

// kueueMinParallelism is with how many pods Kueue may admit a Job that its quota does not hold whole
// (https://kueue.sigs.k8s.io/docs/tasks/run/jobs/#partial-admission).
const kueueMinParallelism = "kueue.x-k8s.io/job-min-parallelism"

// minParallelism reads that number; of a Job without a queue it is not read.
func (r *reader) minParallelism(j *job.Job) {
	text, written := j.Source.GetAnnotations()[kueueMinParallelism]
	if !written || marks(j.Source)(kueueQueue) == "" {
		return
	}
	pods := &j.Roles[0].Replicas
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n >= pods.Max {
		r.wrong(job.Path("metadata.annotations").Key(kueueMinParallelism), text, fmt.Sprintf("a number of pods above 0 and below %d, in quotes", pods.Max))
		return
	}
	pods.Min = n
}

func placeInBatchJob(pod *corev1.Pod) (string, int, bool) {
	if pod.Labels[batchv1.JobNameLabel] == "" {
		return "", 0, false
	}
	index, ok := atoi(pod.Labels[completionIndex])
	if !ok {
		index, _ = atoi(pod.Annotations[completionIndex])
	}
	return batchRole, index, true // pods of a Job without indices are all alike
}

// batchJobState reads the Job controller's conditions; before one is true the counts
// tell (k8s.io/api v0.37 batch/v1: ready pods, active ones, failed ones).
func batchJobState(u *unstructured.Unstructured) State {
	order := []verdict{
		{"Failed", Failed},
		{"Complete", Succeeded},
		{"FailureTarget", Failed},
		{"SuccessCriteriaMet", Succeeded},
		{"Suspended", Suspended},
	}
	if s, ok := decide(conditions(u), order); ok {
		return s
	}
	status, _ := dig(u, "status").(map[string]any)
	if len(status) == 0 {
		return State{}
	}
	ready, active, failed := number(status, "ready"), number(status, "active"), number(status, "failed")
	s := State{Phase: Created, Since: text(status, "startTime"), Message: fmt.Sprintf("%d ready, %d active, %d failed", ready, active, failed)}
	switch {
	case ready > 0:
		s.Phase = Running
	case failed > 0:
		s.Phase = Restarting
	}
	return s
}
