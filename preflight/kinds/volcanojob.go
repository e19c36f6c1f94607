package kinds

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

var volcanoJob = &Kind{
	Name:     "Job.batch.volcano.sh",
	Resource: "jobs",
	GVKs:     []schema.GroupVersionKind{{Group: "batch.volcano.sh", Version: "v1alpha1", Kind: "Job"}},
	Doc: "Every task of a Volcano Job is a role, with the defaults of Volcano's webhook (its own scheduler, the queue " +
		"default, a task's minAvailable is its replicas): a task that can do with fewer is a range. The gang waits for " +
		"minAvailable pods. A task that depends on another starts after that one runs, and both run together. " +
		"Volumes of the job are part of the pods; environment, secrets and host files of its plugins are not.",
	Runs: Told{
		English: "Volcano starts the pods of all tasks together as a gang. Policies of the job or of a task say what follows a failed or evicted pod: RestartJob makes all pods again, AbortJob and TerminateJob end them, so pods that were killed after the first failure are a consequence.",
		Chinese: "Volcano 把所有 task 的 Pod 作为一组同时启动。任务或 task 的 policies 决定 Pod 失败或被驱逐后的动作：RestartJob 重建全部 Pod，AbortJob 和 TerminateJob 终止它们，因此首次失败之后被终止的 Pod 是结果。",
	},
	Read:  reading("Job", readVolcanoJob),
	Pods:  func(ref job.Ref) labels.Selector { return selector(requirement(volcanoJobName, ref.Name)) },
	Place: placeInVolcanoJob,
	State: volcanoJobState, Completed: volcanoCompleted,
	Operator: Operator{
		Validates: Validation{
			Webhook: "validatejob.volcano.sh", // volcano ed72c7c8 pkg/webhooks/admission/jobs/validate/admit_job.go
			Refuses: []string{"gang-min-above-replicas", "immutable-field-changed", "job-name-too-long", "role-name-invalid", "role-name-twice", "volcano-field-refused"},
		},
		RoleNames: dnsLabel, LongestName: lastPod, Hosts: volcanoHosts,
		TTL:   "spec.ttlSecondsAfterFinished",
		Fixed: volcanoFixed,
		Choices: []Choice{
			{At: "spec.networkTopology.mode", Words: []string{"hard", "soft"}},
			{At: "spec.policies", Each: "action", Words: volcanoActions},
			{At: "spec.policies", Each: "event", Words: volcanoEvents},
		},
		RoleChoices: []Choice{
			{At: "topologyPolicy", Words: []string{"none", "best-effort", "restricted", "single-numa-node"}},
			{At: "dependsOn.iteration", Words: []string{"any", "all"}},
			{At: "policies", Each: "action", Words: volcanoActions},
			{At: "policies", Each: "event", Words: volcanoEvents},
		},
		RoleFlags: map[job.Path][]string{ // volcano ed72c7c8 pkg/controllers/job/plugins/distributed-framework, addFlags
			"spec.plugins.pytorch": {"master", "worker"}, "spec.plugins.mpi": {"worker"}, // without its master the webhook refuses the job
		},
		PolicyEnds: true, ZeroPods: true, UncountedRestarts: true,
		Env: volcanoEnv, NoEnv: "neither does Volcano without its plugins env and pytorch",
		LabelsBy: "Volcano", PodGroups: PodGroupsByField, SchedulerField: "spec.schedulerName",
	},
}

// volcanoActions: volcano.sh/apis v1.14.0 pkg/apis/bus/v1alpha1/actions.go.
var volcanoActions = []string{
	"AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition", "TerminateJob", "CompleteJob", "ResumeJob", "SyncJob", "EnqueueJob",
}

// volcanoEvents: volcano ed72c7c8 pkg/webhooks/admission/jobs/validate/util.go, policyEventMap, those that a job may name.
var volcanoEvents = []string{"*", "PodFailed", "PodEvicted", "PodPending", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated"}

// volcanoFixed: volcano ed72c7c8 pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobUpdate.
var volcanoFixed = []FixedField{
	{At: "spec.queue", Default: volcanoDefaultQueue, Reason: "the pod group waits in the queue that it was made for"},
	{At: "spec.schedulerName", Default: volcanoScheduler, Reason: "the pods name their scheduler when they are made"},
	{At: "spec.plugins", Reason: "what the plugins add is settled when the job is created"},
	{At: "spec.policies", Reason: "what an event leads to is settled when the job is created"},
	{At: "spec.volumes", Reason: "the pods mount what the job had when it was created"},
}

// volcanoEnv is what plugins of the job append to its containers (volcano ed72c7c8 pkg/controllers/job/plugins, env/env.go and
// distributed-framework/pytorch/pytorch.go). Which tasks are masters and workers may be written in arguments of the plugin.
func volcanoEnv(j *job.Job, _ *job.Role, _ int) (out []string) {
	plugin := func(name string) bool { return j.Field(job.Path("spec.plugins").Key(name)) != nil }
	if plugin("env") {
		out = append(out, "VK_TASK_INDEX", "VC_TASK_INDEX")
	}
	if plugin("pytorch") {
		out = append(out, "MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK")
	}
	return out
}

// volcanoHosts are the names of the pods, which the plugin svc makes known in a domain of the job's.
func volcanoHosts(j *job.Job, r *job.Role) Hosts {
	return Hosts{Prefix: j.Source.GetName() + "-" + r.Name + "-", Pods: r.Replicas.Max, Domain: j.Source.GetName()}
}

// Labels of Volcano on the pods of a Job (volcano.sh/apis v1.14.0 pkg/apis/batch/v1alpha1/labels.go).
const (
	volcanoPrefix  = "volcano.sh/"
	volcanoJobName = volcanoPrefix + "job-name"
	volcanoTask    = volcanoPrefix + "task-spec"
	volcanoIndex   = volcanoPrefix + "task-index"
)

// Defaults of Volcano's webhook (volcano ed72c7c8 pkg/webhooks/admission/jobs/mutate/mutate_job.go).
const (
	volcanoScheduler    = "volcano"
	volcanoDefaultQueue = "default"
)

// Reasons of a job that somebody ended (volcano.sh/apis v1.14.0 pkg/apis/batch/v1alpha1/job.go). One that a
// policy of the job ended has another; see volcanoEnded.
const (
	volcanoAborted    = "Aborted"
	volcanoTerminated = "Terminated"
)

type volcanoSpec struct {
	SchedulerName           string                `json:"schedulerName"`
	MinAvailable            *int32                `json:"minAvailable"`
	Volumes                 []volcanoVolume       `json:"volumes"`
	Tasks                   []volcanoTaskSpec     `json:"tasks"`
	Policies                []volcanoPolicyFields `json:"policies"`
	Plugins                 map[string][]string   `json:"plugins"`
	RunningEstimate         any                   `json:"runningEstimate"`
	Queue                   string                `json:"queue"`
	MaxRetry                *int32                `json:"maxRetry"`
	TTLSecondsAfterFinished *int32                `json:"ttlSecondsAfterFinished"`
	PriorityClassName       string                `json:"priorityClassName"`
	MinSuccess              *int32                `json:"minSuccess"`
	NetworkTopology         any                   `json:"networkTopology"`
}

type volcanoPolicyFields struct {
	Action   any    `json:"action"`
	Event    any    `json:"event"`
	Events   []any  `json:"events"`
	ExitCode *int32 `json:"exitCode"`
	Timeout  any    `json:"timeout"`
}

type volcanoVolume struct {
	MountPath       string                            `json:"mountPath"`
	VolumeClaimName string                            `json:"volumeClaimName"`
	VolumeClaim     *corev1.PersistentVolumeClaimSpec `json:"volumeClaim"`
}

type volcanoTaskSpec struct {
	Name           string                 `json:"name"`
	Replicas       *int32                 `json:"replicas"`
	MinAvailable   *int32                 `json:"minAvailable"`
	Template       corev1.PodTemplateSpec `json:"template"`
	Policies       []volcanoPolicyFields  `json:"policies"`
	TopologyPolicy string                 `json:"topologyPolicy"`
	MaxRetry       *int32                 `json:"maxRetry"`
	DependsOn      *struct {
		Name      []string `json:"name"`
		Iteration string   `json:"iteration"`
	} `json:"dependsOn"`
	PartitionPolicy *struct {
		TotalPartitions *int32 `json:"totalPartitions"`
		PartitionSize   *int32 `json:"partitionSize"`
		MinPartitions   *int32 `json:"minPartitions"`
		NetworkTopology any    `json:"networkTopology"`
	} `json:"partitionPolicy"`
}

func readVolcanoJob(r *reader, j *job.Job, o *object[volcanoSpec]) {
	j.Gang = job.GangPolicy{
		Scheduler: cmp.Or(o.Spec.SchedulerName, volcanoScheduler), Queue: cmp.Or(o.Spec.Queue, volcanoDefaultQueue),
		PriorityClass: o.Spec.PriorityClassName, Together: inHyperNode("all pods lie", o.Spec.NetworkTopology),
	}
	list := job.Path("spec.tasks")
	r.wantList(list, len(o.Spec.Tasks), "at least one task")
	if !o.Spec.mounted(r) {
		o.Spec.Volumes = nil
	}
	for i, at := range r.elements(list, len(o.Spec.Tasks)) {
		role := o.Spec.Tasks[i].role(r, at, i)
		if p := o.Spec.Tasks[i].PartitionPolicy; p != nil && j.Gang.Together == "" {
			j.Gang.Together = inHyperNode("the pods of each partition of "+role.Name+" lie", p.NetworkTopology)
		}
		o.Spec.fill(r, &role)
		o.Spec.waitForMaster(&role)
		volcanoMarks(&role, j, o.Spec.Tasks[i].PartitionPolicy != nil)
		settle(&role)
		j.Roles = append(j.Roles, role)
	}
	if n := r.count("spec.minAvailable", o.Spec.MinAvailable, 0); n > 0 {
		j.Gang.MinMembers, j.Gang.Path = n, "spec.minAvailable"
	}
	gang(r, j)
}

// inHyperNode says which pods Volcano places together; empty: it may place them anywhere. The mode is hard where none is
// written (https://volcano.sh/en/docs/network_topology_aware_scheduling/).
func inHyperNode(which string, topology any) string {
	asked, _ := topology.(map[string]any)
	if mode, _ := asked["mode"].(string); asked == nil || mode != "" && mode != "hard" {
		return ""
	}
	highest := ""
	if tier := asked["highestTierAllowed"]; tier != nil {
		highest = fmt.Sprint(tier)
	}
	return which + " in " + hyperNode(highest)
}

// hyperNode is one up to a tier; empty: of any.
func hyperNode(highest string) string {
	if highest == "" {
		return "one HyperNode"
	}
	return "one HyperNode of tier " + cut(highest) + " at most"
}

// role is one task. Its replicas have no default: a task that does not say how many has none.
func (t *volcanoTaskSpec) role(r *reader, at job.Path, i int) job.Role {
	role := job.Role{
		Name: cmp.Or(t.Name, fmt.Sprintf("default%d", i)), Path: at, ReplicasPath: r.written(at.Child("replicas"), at),
		LeastPath: r.written(at.Child("minAvailable"), ""), Pod: r.pod(&t.Template, at.Child("template")),
	}
	most := r.count(at.Child("replicas"), t.Replicas, 0)
	least := r.count(at.Child("minAvailable"), t.MinAvailable, most)
	if p := t.PartitionPolicy; t.MinAvailable == nil && p != nil && p.MinPartitions != nil && p.PartitionSize != nil && *p.MinPartitions > 0 {
		each := r.count(at.Child("partitionPolicy", "partitionSize"), p.PartitionSize, 1)
		least = int(min(int64(most), int64(*p.MinPartitions)*int64(each)))
	}
	if least > most {
		r.problem(at.Child("minAvailable"), describe(int64(least)), fmt.Sprintf("at most replicas, which is %d", most))
		least = most
	}
	role.Replicas = job.Range{Min: least, Max: most}
	return role
}

// fill adds to the pods of a task what the job says for all of them (volcano ed72c7c8
// pkg/controllers/job/job_controller_util.go, createJobPod). A volume without the name of a claim gets a
// claim of its own, whose name is settled when it is made.
func (s *volcanoSpec) fill(r *reader, role *job.Role) {
	p := &role.Pod
	if p.Spec.SchedulerName == "" {
		p.Spec.SchedulerName = cmp.Or(s.SchedulerName, volcanoScheduler)
		inject(p, "schedulerName", r.written("spec.schedulerName", role.Path))
	}
	if p.Spec.PriorityClassName == "" && s.PriorityClassName != "" {
		p.Spec.PriorityClassName = s.PriorityClassName
		inject(p, "priorityClassName", "spec.priorityClassName")
	}
	p.Spec.Volumes = slices.Grow(slices.Clip(p.Spec.Volumes), len(s.Volumes))
	for k := range p.Spec.Containers {
		c := &p.Spec.Containers[k]
		c.VolumeMounts = slices.Grow(slices.Clip(c.VolumeMounts), len(s.Volumes))
	}
	for i, v := range s.Volumes {
		if v.VolumeClaimName == "" {
			continue
		}
		at := job.Path("spec.volumes").Index(i)
		name := fmt.Sprintf("volume-of-the-job-%d", i)
		inject(p, job.Path("volumes").Index(len(p.Spec.Volumes)), at)
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.VolumeClaimName},
		}})
		for k := range p.Spec.Containers {
			c := &p.Spec.Containers[k]
			inject(p, job.Path("containers").Index(k).Child("volumeMounts").Index(len(c.VolumeMounts)), at)
			c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: v.MountPath})
		}
	}
}

// mounted says whether the volumes of the job are added to its pods: each is mounted in each container of each task, so
// that a job of some hundred kilobytes could come to gigabytes. Of more than are values in a spec none is.
func (s *volcanoSpec) mounted(r *reader) bool {
	n := 0
	for i := range s.Tasks {
		n = saturate.Add(n, saturate.Mul(len(s.Volumes), 1+len(s.Tasks[i].Template.Spec.Containers)))
	}
	if n > largest {
		r.lacks("spec.volumes", fmt.Sprintf("a list of %d, which are %d mounts in all containers", len(s.Volumes), n), fmt.Sprintf("at most %d mounts", largest))
	}
	return n <= largest
}

// waitForMaster adds the init container that the plugin pytorch puts into the workers' pods where it is told to, of an
// image that is an argument of the plugin (volcano ed72c7c8 pkg/controllers/job/plugins/distributed-framework/pytorch/pytorch.go).
// Arguments before one that the plugin cannot read hold.
func (s *volcanoSpec) waitForMaster(role *job.Role) {
	flags := flag.NewFlagSet("pytorch", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	wait, image := flags.Bool("wait-master-enabled", false, ""), flags.String("wait-master-image", "busybox:1.36.1", "")
	master, worker := flags.String("master", "master", ""), flags.String("worker", "worker", "")
	flags.Int("port", 0, "")
	flags.Int("wait-master-timeout", 0, "")
	_ = flags.Parse(s.Plugins["pytorch"])
	const name = "wait-for-master"
	if *wait && role.Name == *worker && slices.ContainsFunc(s.Tasks, func(t volcanoTaskSpec) bool { return t.Name == *master }) &&
		!slices.ContainsFunc(role.Pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == name }) {
		injectInit(&role.Pod, corev1.Container{Name: name, Image: *image, Command: []string{"sh", "-c"}}, job.Path("spec.plugins").Key("pytorch"))
	}
}

// volcanoMarks are the labels of the pods of a task (createJobPod, as above).
func volcanoMarks(role *job.Role, j *job.Job, partitions bool) {
	m := job.Marks{
		Labels: map[string]string{
			volcanoJobName: j.Ref.Name, volcanoTask: role.Name, volcanoPrefix + "job-namespace": j.Ref.Namespace,
			volcanoQueueOld: j.Gang.Queue,
		},
		Varies: []string{volcanoIndex},
		Whole:  []string{volcanoPrefix},
		Some:   []string{volcanoPrefix + "preemptable", volcanoPrefix + "cooldown-time", volcanoPrefix + "job-forwarding"},
	}
	if partitions {
		m.Varies = append(m.Varies, volcanoPrefix+"partition-id")
	}
	role.Pod.Marks = m
}

func placeInVolcanoJob(pod *corev1.Pod) (string, int, bool) {
	task := cmp.Or(pod.Labels[volcanoTask], pod.Annotations[volcanoTask])
	index, ok := atoi(cmp.Or(pod.Labels[volcanoIndex], pod.Annotations[volcanoIndex]))
	return task, index, ok && task != ""
}

// volcanoPhases are those of status.state. Aborted jobs can be resumed; nothing of theirs runs. A job that
// is about to be aborted or terminated has been told to stop.
var volcanoPhases = map[string]Phase{
	"Pending": Created, "Running": Running, "Restarting": Restarting, "Completing": Running, "Completed": Succeeded,
	"Aborting": Failed, volcanoAborted: Failed, "Terminating": Failed, volcanoTerminated: Failed, "Failed": Failed,
}

func volcanoJobState(u *unstructured.Unstructured) State {
	status, _ := dig(u, "status").(map[string]any)
	state, _ := status["state"].(map[string]any)
	phase := text(state, "phase")
	s := State{Phase: volcanoPhases[phase], Reason: text(state, "reason"), Message: text(state, "message"), Since: text(state, "lastTransitionTime")}
	switch {
	case phase == "Aborting", phase == volcanoAborted:
		s.Reason = volcanoAborted
		s = volcanoEnded(u, s, "AbortJob", number(status, "failed"))
	case phase == "Terminating", phase == volcanoTerminated:
		s.Reason = volcanoTerminated
		s = volcanoEnded(u, s, "TerminateJob", number(status, "failed"))
	case s.Phase == Restarting && number(status, "failed") == 0:
		s.Phase, s.Reason, s.Message = Created, phase, "it starts again" // after a failure, or as somebody resumed it
	}
	if s.Message == "" && s.Phase != PhaseUnknown {
		s.Message = fmt.Sprintf("%d pending, %d running, %d succeeded, %d failed", number(status, "pending"), number(status, "running"), number(status, "succeeded"), number(status, "failed"))
	}
	return s
}
