package kinds

import (
	"cmp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var colossalaiJob = &Kind{
	Name:     "ColossalAIJob",
	Resource: "colossalaijobs",
	GVKs:     []schema.GroupVersionKind{{Group: "batch.tensorstack.dev", Version: "v1beta1", Kind: "ColossalAIJob"}},
	Doc: "The launcher and the worker of TensorStack's ColossalAIJob, after its public manual (neither its CRD nor " +
		"its controller is public). The worker's own command is shown as written although sshd runs in its place. " +
		"Succeeded only says that the launcher ended: whether the training succeeded stands in the launcher's log.",
	Read:  readColossalAIJob,
	Pods:  func(ref job.Ref) labels.Selector { return selector(requirement("colossalaijob", ref.Name)) },
	Place: placeInColossalAIJob,
	State: colossalaiState,
	Operator: Operator{
		Hold:      "spec.runMode.pause.enabled",
		KeepsLogs: "Leave cleanUpWorkers out, and delete the job when its logs have been read.",
		Launcher:  "Remove the GPUs from spec.launcher.resources.",
	},
}

// Source: github.com/t9k/user-manuals fbf6b3cd src/modules/jobs/colossalaijob.md.
type colossalaiSpec struct {
	SSH       colossalaiSSH       `json:"ssh"`
	Launcher  *corev1.Container   `json:"launcher"`
	Worker    colossalaiWorker    `json:"worker"`
	RunPolicy colossalaiRunPolicy `json:"runPolicy"`
	Scheduler colossalaiScheduler `json:"scheduler"`
	RunMode   colossalaiRunMode   `json:"runMode"`
}

type colossalaiSSH struct {
	AuthMountPath string `json:"authMountPath"`
	SSHDPath      string `json:"sshdPath"`
}

type colossalaiWorker struct {
	Replicas      *int32                 `json:"replicas"`
	ProcPerWorker *int32                 `json:"procPerWorker"`
	Command       []string               `json:"command"`
	TorchArgs     []string               `json:"torchArgs"`
	Template      corev1.PodTemplateSpec `json:"template"`
}

type colossalaiRunPolicy struct {
	CleanUpWorkers *bool `json:"cleanUpWorkers"`
}

type colossalaiScheduler struct {
	T9kScheduler *struct {
		Queue    string `json:"queue"`
		Priority *int32 `json:"priority"`
	} `json:"t9kScheduler"`
}

type colossalaiRunMode struct {
	Debug struct {
		Enabled      bool                `json:"enabled"`
		ReplicaSpecs []colossalaiReplica `json:"replicaSpecs"`
	} `json:"debug"`
	Pause struct {
		Enabled     bool                `json:"enabled"`
		ResumeSpecs []colossalaiReplica `json:"resumeSpecs"`
	} `json:"pause"`
}

type colossalaiReplica struct {
	Type              string   `json:"type"`
	SkipInitContainer bool     `json:"skipInitContainer"`
	Command           []string `json:"command"`
	Args              []string `json:"args"`
}

// t9kScheduler is the scheduler that spec.scheduler.t9kScheduler asks for.
const t9kScheduler = "t9k-scheduler"

// t9kQueue is where a PodGroup of T9k waits that names no queue (PodGroup of
// scheduler.tensorstack.dev/v1beta1, spec.queue).
const t9kQueue = "default"

func readColossalAIJob(u *unstructured.Unstructured, _ Got) (*job.Job, error) {
	r, o := open[colossalaiSpec]("ColossalAIJob", u)
	if o == nil {
		return r.finish(nil)
	}
	j := r.start(u, o.APIVersion, &o.Metadata)
	j.Suspended = o.Spec.RunMode.Pause.Enabled
	if t := o.Spec.Scheduler.T9kScheduler; t != nil {
		j.Gang.Scheduler, j.Gang.Queue = t9kScheduler, cmp.Or(t.Queue, t9kQueue)
	}
	j.Roles = []job.Role{colossalaiLauncher(r, o.Spec.Launcher), colossalaiWorkers(r, &o.Spec.Worker)}
	gang(r, j)
	return r.finish(j)
}

// colossalaiLauncher builds the launcher's pod from the few fields the kind has for it.
func colossalaiLauncher(r *reader, c *corev1.Container) job.Role {
	at := r.anchor("spec.launcher")
	if c == nil {
		c = &corev1.Container{}
		if !r.has("spec.launcher") {
			r.lacks(at, "missing", "an object with image and resources")
		}
	}
	c.Name = "launcher"
	container := job.Path("containers").Index(0)
	role := job.Role{
		Name: "launcher", Replicas: job.Exactly(1), Path: at, ReplicasPath: at, Container: c.Name, Single: true,
		Pod: job.Pod{
			Spec: corev1.PodSpec{Containers: []corev1.Container{*c}},
			Path: at,
			Origins: []job.Origin{
				{Path: at, Whole: true}, {Rel: container, Path: at}, {Rel: container.Child("name"), Path: at, Whole: true},
			},
		},
	}
	settle(&role)
	role.Launch = job.Launch{Program: "colossalai", Path: r.written("spec.worker.command", at)}
	return role
}

func colossalaiWorkers(r *reader, w *colossalaiWorker) job.Role {
	at := r.anchor("spec.worker")
	replicas := r.count("spec.worker.replicas", w.Replicas, 1)
	role := job.Role{
		Name: "worker", Replicas: job.Exactly(replicas), Path: at, Container: "worker",
		ReplicasPath: r.written("spec.worker.replicas", at),
		Pod:          r.pod(&w.Template, "spec.worker.template"),
	}
	settle(&role)
	role.Launch = job.Launch{
		Program: "colossalai", Nodes: job.Exactly(replicas),
		ProcsPerNode: job.Exactly(r.count("spec.worker.procPerWorker", w.ProcPerWorker, 1)),
		ProcsPath:    r.written("spec.worker.procPerWorker", at),
		Path:         r.written("spec.worker.command", at),
	}
	return role
}

// placeInColossalAIJob reads <job>-<type>-<i> from the label, else from the pod's name,
// where the launcher has no number.
func placeInColossalAIJob(pod *corev1.Pod) (string, int, bool) {
	name := pod.Labels["colossalaijob"]
	rest, ok := strings.CutPrefix(cmp.Or(pod.Labels["colossalaijob-replica"], pod.Name), name+"-")
	if name == "" || !ok {
		return "", 0, false
	}
	role, number, _ := strings.Cut(rest, "-")
	index, ok := atoi(number)
	switch {
	case role == "launcher":
		return role, 0, true
	case role == "worker" && ok:
		return role, index, true
	default:
		return "", 0, false
	}
}

// colossalaiPhases are the manual's phases. Completed is not looked at: the manual's own
// example of a failed job has it False and describes it as True.
var colossalaiPhases = map[string]Phase{
	"Pending": Created, "Running": Running, "Paused": Suspended, "Resuming": Created, // after a pause, not after a failure
	"Succeeded": Succeeded, "Failed": Failed,
}

func colossalaiState(u *unstructured.Unstructured) State {
	all := conditions(u)
	if s, failed := decide(all, []verdict{{"Failed", Failed}}); failed {
		s.Trigger = colossalaiTrigger(u)
		return s
	}
	phase, _ := dig(u, "status", "phase").(string)
	if phase == "Unknown" {
		return State{Reason: phase, Message: "the operator does not know how it stands"}
	}
	if p, known := colossalaiPhases[phase]; known {
		s, _ := decide(all, []verdict{{"ReplicaFailure", p}, {"Paused", p}, {"Running", p}, {"Initialized", p}, {"Initializing", p}})
		s.Phase = p
		if phase == "Resuming" {
			s.Reason, s.Message = phase, "it resumes after a pause"
		}
		if p == Failed {
			s.Trigger = colossalaiTrigger(u)
		}
		return s
	}
	s, _ := decide(all, []verdict{{"Paused", Suspended}, {"Running", Running}, {"Initialized", Created}, {"Initializing", Created}})
	return s
}

// colossalaiTrigger is the first failed pod that the status lists. The manual's example
// calls the list status; the reference of the same group calls it replicas.
func colossalaiTrigger(u *unstructured.Unstructured) string {
	for _, t := range digList(u, "status", "tasks") {
		task, _ := t.(map[string]any)
		for _, key := range []string{"status", "replicas"} {
			pods, _ := task[key].([]any)
			for _, p := range pods {
				if pod, _ := p.(map[string]any); text(pod, "phase") == "Failed" {
					return text(pod, "name")
				}
			}
		}
	}
	return ""
}
