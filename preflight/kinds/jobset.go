package kinds

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

var jobSet = &Kind{
	Name:     "JobSet",
	Resource: "jobsets",
	GVKs:     []schema.GroupVersionKind{{Group: "jobset.x-k8s.io", Version: "v1alpha2", Kind: "JobSet"}},
	Doc: "Every replicated Job of a JobSet is a role of replicas × parallelism pods, with the defaults of JobSet's " +
		"webhook (one replica, restart policy OnFailure). A role that depends on another's completion does not run " +
		"together with it; readiness and startup order do not matter here. exclusive-topology ties each Job to a place of its own. " +
		"Fields newer than v0.10 are unread.",
	Runs: Told{
		English: "A JobSet makes the Jobs of each replicated job. When one Job fails, failurePolicy decides whether the JobSet fails or all Jobs are deleted and made again, with their pods and logs: pods that were deleted then are a consequence.",
		Chinese: "JobSet 为每个 replicatedJob 创建 Job。任一 Job 失败后，由 failurePolicy 决定 JobSet 失败，还是删除并重建全部 Job 及其 Pod 和日志；此时被删除的 Pod 是结果。",
	},
	Read:    reading("JobSet", readJobSet),
	Pods:    func(ref job.Ref) labels.Selector { return selector(requirement(jobSetName, ref.Name)) },
	Between: []schema.GroupVersionKind{batchJobs},
	Place:   placeInJobSet,
	State:   jobSetState, Completed: jobsCompleted("status", "replicatedJobsStatus"),
	Operator: Operator{
		Validates: Validation{
			Webhook: "vjobset.kb.io", // jobset v0.10.1 pkg/webhooks/jobset_webhook.go
			Refuses: []string{
				"immutable-field-changed", "job-name-invalid", "job-name-too-long", "jobset-field-refused", "managed-by-unknown",
				"role-name-invalid", "role-name-twice", "role-reference-missing",
			},
		},
		Names: dnsLabel1035, RoleNames: dnsLabel,
		LongestName: jobSetLongestName,
		Hosts:       jobSetHosts,
		Peers:       PeersByService,
		Annotations: []string{jobSetExclusive, jobSetNodeSelector},
		ManagedBy:   ManagedBy{At: "spec.managedBy"},
		TTL:         "spec.ttlSecondsAfterFinished",
		Fixed:       jobSetFixed,
		Choices: []Choice{ // v0.12.0 api/jobset/v1alpha2/jobset_types.go
			{At: "spec.successPolicy.operator", Words: []string{"All", "Any"}, Required: true},
			{At: "spec.startupPolicy.startupPolicyOrder", Words: []string{"AnyOrder", "InOrder"}, Required: true},
			{At: "spec.failurePolicy.restartStrategy", Words: []string{"Recreate", "BlockingRecreate", "InPlaceRestart"}},
			{At: "spec.failurePolicy.rules", Each: "action", Words: []string{"FailJobSet", "RestartJobSet", "RestartJobSetAndIgnoreMaxRestarts", "RestartJob", "RestartJobAndIgnoreMaxRestarts"}, Required: true},
		},
		RoleChoices: append(batchChoices("template.spec"),
			Choice{At: "dependsOn", Each: "status", Words: []string{"Ready", "Complete"}, Required: true},
		),
		DependsOn: true,
		Jobs:      &Jobs{Spec: "template.spec", Indexed: true}, // the webhook's default
		World:     WorldOfPod,
		EnvUnset:  jobSetEnv, NoEnv: "neither does the controller of Jobs",
		LabelsBy: jobsController, LabelsAt: jobSetLabelsAt,
		Kueue: true,
	},
}

// jobsController is what writes labels on the pods of a JobSet (v0.10.1
// pkg/controllers/jobset_controller.go, labelAndAnnotateObject).
const jobsController = "the controller of Jobs and JobSets"

// jobSetFixed: v0.10.1 pkg/webhooks/jobset_webhook.go, ValidateUpdate.
var jobSetFixed = []FixedField{
	{At: "spec.replicatedJobs", WhileRunning: true, Reason: "the Jobs are made once from the template; while the JobSet is suspended, labels, selectors and tolerations may change"},
	{At: "spec.network", Reason: "the pods know their peers by these names"},
	{At: "spec.successPolicy", Reason: "what success means is settled when the JobSet is created"},
	{At: "spec.failurePolicy", Reason: "what a failure leads to is settled when the JobSet is created"},
	{At: "spec.coordinator", Reason: "the pods know their coordinator by name"},
	{At: "spec.managedBy", Default: jobSetController, Reason: "who reconciles a job is settled when it is created"},
}

// jobSetLongestName: the index of the Job inside the replicated Job is 0 at least, the pod's too.
func jobSetLongestName(_ *job.Job, r *job.Role, name string) (child, what string) {
	return name + "-" + r.Name + "-0-0-" + GeneratedSuffix, "shortest name of a pod of " + r.Name
}

// jobSetHosts are <jobset>-<role>-<job>-<pod> in a domain of the JobSet's
// (v0.10.1 pkg/controllers, GetSubdomain); none where it makes no service.
func jobSetHosts(j *job.Job, r *job.Role) Hosts {
	spec := r.Path.Child("template", "spec")
	// An index below the completions for each; no more of them run than that.
	pods := cmp.Or(countIn(j, spec.Child("completions")), max(1, countIn(j, spec.Child("parallelism"))))
	return Hosts{
		Prefix: j.Source.GetName() + "-" + strings.ToLower(r.Name) + "-",
		Jobs:   countIn(j, r.Path.Child("replicas")), Pods: pods,
		Domain: cmp.Or(textIn(j, "spec.network.subdomain"), j.Source.GetName()),
	}
}

func jobSetEnv(j *job.Job, r *job.Role, _ int) []string {
	return indexEnv(cmp.Or(textIn(j, r.Path.Child("template", "spec", "completionMode")), "Indexed"))
}

// jobSetLabelsAt are the templates of the Jobs, whose labels the pods' are beside.
func jobSetLabelsAt(j *job.Job) (out []job.Path) {
	for i := range j.Roles {
		out = append(out, j.Roles[i].Path.Child("template", "metadata"))
	}
	return out
}

// Labels of JobSet on pods (sigs.k8s.io/jobset v0.10.1 api/jobset/v1alpha2/jobset_types.go)
// and the index that the Job controller adds.
const (
	jobSetName            = "jobset.sigs.k8s.io/jobset-name"
	replicatedJobName     = "jobset.sigs.k8s.io/replicatedjob-name"
	replicatedJobReplicas = "jobset.sigs.k8s.io/replicatedjob-replicas"
	jobIndex              = "jobset.sigs.k8s.io/job-index"
	completionIndex       = "batch.kubernetes.io/job-completion-index"
	jobSetJobKey          = "jobset.sigs.k8s.io/job-key"
	jobSetPriority        = "jobset.sigs.k8s.io/priority"
	jobSetController      = "jobset.sigs.k8s.io/jobset-controller"
)

type jobSetSpec struct {
	ReplicatedJobs []replicatedJob `json:"replicatedJobs"`
	Network        *struct {
		EnableDNSHostnames       *bool  `json:"enableDNSHostnames"`
		Subdomain                string `json:"subdomain"`
		PublishNotReadyAddresses *bool  `json:"publishNotReadyAddresses"`
	} `json:"network"`
	SuccessPolicy any `json:"successPolicy"`
	FailurePolicy *struct {
		MaxRestarts     int32 `json:"maxRestarts"`
		RestartStrategy any   `json:"restartStrategy"`
		Rules           any   `json:"rules"`
	} `json:"failurePolicy"`
	StartupPolicy any   `json:"startupPolicy"`
	Suspend       *bool `json:"suspend"`
	Coordinator   *struct {
		ReplicatedJob string `json:"replicatedJob"`
		JobIndex      int    `json:"jobIndex"`
		PodIndex      int    `json:"podIndex"`
	} `json:"coordinator"`
	ManagedBy               *string `json:"managedBy"`
	TTLSecondsAfterFinished *int32  `json:"ttlSecondsAfterFinished"`
	VolumeClaimPolicies     any     `json:"volumeClaimPolicies"` // v0.11
}

type replicatedJob struct {
	Name      string                  `json:"name"`
	GroupName string                  `json:"groupName"`
	Replicas  *int32                  `json:"replicas"`
	Template  batchv1.JobTemplateSpec `json:"template"`
	DependsOn []dependsOn             `json:"dependsOn"`
}

type dependsOn struct {
	Name   string `json:"name"`
	Status string `json:"status"`
}

func readJobSet(r *reader, j *job.Job, o *object[jobSetSpec]) {
	j.Suspended = o.Spec.Suspend != nil && *o.Spec.Suspend
	if m := o.Spec.ManagedBy; m != nil && *m != jobSetController {
		j.ManagedElsewhere = *m
	}
	if f := o.Spec.FailurePolicy; f != nil {
		r.count("spec.failurePolicy.maxRestarts", &f.MaxRestarts, 0) // below 0 it is passed by the first failure
	}
	list := job.Path("spec.replicatedJobs")
	r.wantList(list, len(o.Spec.ReplicatedJobs), "at least one replicated Job")
	j.Roles = slices.Grow(j.Roles, len(o.Spec.ReplicatedJobs))
	for i, at := range r.elements(list, len(o.Spec.ReplicatedJobs)) {
		rj := &o.Spec.ReplicatedJobs[i]
		role := job.Role{Name: rj.Name, Path: at, After: completedBefore(rj.DependsOn)}
		role.Replicas, role.ReplicasPath, role.PodsEach = r.jobSetPods(rj, at)
		role.Jobs = positive(rj.Replicas, 1)
		role.Pod = r.pod(&rj.Template.Spec.Template, at.Child("template", "spec", "template"))
		role.Pod.Spec.RestartPolicy = cmp.Or(role.Pod.Spec.RestartPolicy, corev1.RestartPolicyOnFailure)
		if n := o.Spec.Network; i == 0 && (n == nil || n.Subdomain == "" && (n.EnableDNSHostnames == nil || *n.EnableDNSHostnames)) {
			role.Services = 1 // of the name of the JobSet (v0.12.0 pkg/controllers, createHeadlessSvcIfNecessary); one that is named may be there
		}
		jobSetMarks(&role, j.Ref.Name, rj.Name, &rj.Template.Spec)
		settle(&role)
		j.Roles = append(j.Roles, role)
	}
	jobSetPlaces(j, o.Spec.ReplicatedJobs, func(i int) (string, job.Path) { return ExclusiveTopology(j, &j.Roles[i]) })
	gang(r, j)
	jobSetNodes(j)
}

// jobSetPods is how many pods of a replicated Job run together, and where to change it.
func (r *reader) jobSetPods(rj *replicatedJob, at job.Path) (pods job.Range, path job.Path, perCount int) {
	jobs := r.count(at.Child("replicas"), rj.Replicas, 1)
	spec := at.Child("template", "spec")
	each := r.together(&rj.Template.Spec, spec)
	where := r.written(at.Child("replicas"), spec.Child("parallelism"), at)
	if jobs == 1 {
		where = r.written(spec.Child("parallelism"), at.Child("replicas"), at)
	}
	// JobSet's webhook has the same limit (v0.10.1 pkg/webhooks/jobset_webhook.go).
	if product := int64(jobs) * int64(each); product > math.MaxInt32 {
		r.problem(where, fmt.Sprintf("%d Jobs of %d pods", jobs, each), fmt.Sprintf("at most %d pods together", math.MaxInt32))
		return job.Exactly(math.MaxInt32), where, 0
	}
	if where == at.Child("replicas") && jobs > 1 && each > 1 {
		perCount = each
	}
	return job.Exactly(jobs * each), where, perCount
}

// together is how many pods of one Job run at the same time: its parallelism, but no
// more than its completions.
func (r *reader) together(spec *batchv1.JobSpec, at job.Path) int {
	n := r.count(at.Child("parallelism"), spec.Parallelism, 1)
	if spec.Completions != nil {
		n = min(n, r.count(at.Child("completions"), spec.Completions, n))
	}
	return n
}

// completedBefore are the Jobs that have to be complete. The status Ready only orders
// the start: those run together.
func completedBefore(all []dependsOn) []string {
	var out []string
	for _, d := range all {
		if d.Status == "Complete" {
			out = append(out, d.Name)
		}
	}
	return out
}

// mostNamed is how long a list may be for its elements to be called by name: a path with
// a name is looked up by walking the list.
const mostNamed = 64

// elements are the paths of the n elements of a list: by name where that says which one,
// else by index.
func (r *reader) elements(at job.Path, n int) []job.Path {
	value, _ := at.Resolve(r.source)
	l, _ := value.([]any)
	names, times := make([]string, n), map[string]int{}
	for i := range min(n, len(l)) {
		m, _ := l[i].(map[string]any)
		names[i] = text(m, "name")
		times[names[i]]++
	}
	out := make([]job.Path, n)
	for i, name := range names {
		index := at.Index(i)
		out[i] = index
		if n <= mostNamed && times[name] == 1 && plainName.MatchString(name) {
			out[i] = at.Named(name)
			r.rename(index, out[i])
		}
	}
	return out
}

func (r *reader) rename(index, name job.Path) {
	if r.named == nil {
		r.named = map[job.Path]job.Path{}
	}
	r.named[index] = name
}

// wantList notes a list that must not be empty. A value that is no list was noted before.
func (r *reader) wantList(at job.Path, n int, want string) {
	value, _ := at.Resolve(r.source)
	if _, isList := value.([]any); n == 0 && (isList || value == nil) {
		r.lacks(r.anchor(at), absence(value), want)
	}
}

// placeInJobSet numbers the pods of a role. The labels do not tell how many pods each
// Job has, so the pods of several Jobs are interleaved: pod 0 of every Job, then pod 1.
// With one Job the number is the completion index; with one pod per Job, the Job's.
func placeInJobSet(pod *corev1.Pod) (string, int, bool) {
	role := pod.Labels[replicatedJobName]
	if role == "" {
		return "", 0, false
	}
	ofJob, okJob := atoi(pod.Labels[jobIndex])
	ofPod, okPod := atoi(pod.Labels[completionIndex])
	if !okPod {
		ofPod, okPod = atoi(pod.Annotations[completionIndex])
	}
	if !okJob || !okPod || ofJob > 1<<31 || ofPod > 1<<31 {
		return role, 0, false
	}
	jobs, _ := atoi(pod.Labels[replicatedJobReplicas])
	return role, ofPod*min(max(jobs, 1), 1<<31) + ofJob, true
}

// jobSetState trusts terminalState and conditions; in between it counts Jobs, because
// there is no condition for running.
func jobSetState(u *unstructured.Unstructured) State {
	order := []verdict{{"Failed", Failed}, {"Completed", Succeeded}, {"Suspended", Suspended}}
	if s, ok := decide(conditions(u), order); ok {
		return s
	}
	switch dig(u, "status", "terminalState") {
	case "Failed":
		return State{Phase: Failed}
	case "Completed":
		return State{Phase: Succeeded}
	}
	s := jobsState(digList(u, "status", "replicatedJobsStatus"))
	if restarts, _ := job.Whole(dig(u, "status", "restarts")); restarts > 0 && s.Phase == Created {
		s.Phase = Restarting
		s.Message = fmt.Sprintf("restarted %s; %s", words.Count(int(restarts), "time", "times"), s.Message)
	}
	return s
}

// jobsState derives the phase from the counts of Jobs per role: a Job is ready when all
// its pods are, and active as soon as one pod exists, which may still be pending.
func jobsState(all []any) State {
	s := State{}
	for _, e := range all {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		ready, active, succeeded, failed := number(m, "ready"), number(m, "active"), number(m, "succeeded"), number(m, "failed")
		if s.Message != "" {
			s.Message += "; "
		}
		s.Message += fmt.Sprintf("%s: %d ready, %d active, %d succeeded, %d failed", text(m, "name"), ready, active, succeeded, failed)
		if ready > 0 || succeeded > 0 {
			s.Phase = Running
		} else if s.Phase == PhaseUnknown {
			s.Phase = Created
		}
	}
	return s
}
