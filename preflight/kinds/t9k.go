package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// What the jobs of TensorStack's T9k have in common, after its public manual and API reference
// (github.com/t9k/user-manuals fbf6b3cd src/modules/jobs, src/references/api-reference): neither
// their CRDs nor their controllers are public.

// t9kKind is a kind of the group batch.tensorstack.dev, with what all of them have in common.
func t9kKind(k Kind) *Kind {
	kind, _, _ := strings.Cut(k.Name, ".")
	name := strings.ToLower(kind)
	k.Resource = name + "s"
	k.GVKs = []schema.GroupVersionKind{{Group: "batch.tensorstack.dev", Version: "v1beta1", Kind: kind}}
	k.Pods = t9kPods(name)
	k.Place = t9kPlace(name)
	k.State = t9kState
	return &k
}

// t9kScheduler is the scheduler that spec.scheduler.t9kScheduler asks for.
const t9kScheduler = "t9k-scheduler"

// t9kQueue is where a PodGroup of T9k waits that names no queue (PodGroup of
// scheduler.tensorstack.dev/v1beta1, spec.queue).
const t9kQueue = "default"

// t9kShared is the part of spec that all kinds of the group have.
type t9kShared struct {
	Scheduler t9kSchedulePolicy `json:"scheduler"`
	RunMode   t9kRunMode        `json:"runMode"`
}

type t9kSchedulePolicy struct {
	T9kScheduler *struct {
		Queue    string `json:"queue"`
		Priority *int32 `json:"priority"`
	} `json:"t9kScheduler"`
}

type t9kRunMode struct {
	Debug struct {
		Enabled      bool         `json:"enabled"`
		ReplicaSpecs []t9kCommand `json:"replicaSpecs"`
	} `json:"debug"`
	Pause struct {
		Enabled     bool         `json:"enabled"`
		ResumeSpecs []t9kCommand `json:"resumeSpecs"`
	} `json:"pause"`
}

// t9kCommand is what replicas of a type run instead of their command.
type t9kCommand struct {
	Type              string   `json:"type"`
	SkipInitContainer bool     `json:"skipInitContainer"`
	Command           []string `json:"command"`
	Args              []string `json:"args"`
}

func (s *t9kShared) apply(j *job.Job) {
	j.Suspended = s.RunMode.Pause.Enabled
	if t := s.Scheduler.T9kScheduler; t != nil {
		j.Gang.Scheduler, j.Gang.Queue = t9kScheduler, cmp.Or(t.Queue, t9kQueue)
	}
}

// t9kTensorBoard is the server that the operator makes beside the replicas: one pod, of which the author says the image
// and what it takes (src/references/api-reference/tensorboard.md, TensorBoardSpec).
type t9kTensorBoard struct {
	Image               string                      `json:"image"`
	Resources           corev1.ResourceRequirements `json:"resources"`
	TrainingLogFilesets []string                    `json:"trainingLogFilesets"`
	LogDir              any                         `json:"logDir"`
	Suspend             bool                        `json:"suspend"`
	Scheduler           any                         `json:"scheduler"`
}

// roles are its pod. While it is suspended there is none, but what it would run and take is decided all the same.
func (t *t9kTensorBoard) roles(r *reader) []job.Role {
	if t == nil {
		return nil
	}
	const at = job.Path("spec.tensorboardSpec")
	role := job.Role{
		Name: "tensorboard", Path: at, Replicas: job.Exactly(1), ReplicasPath: at, Single: true,
		Pod: job.Pod{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "tensorboard", Image: t.Image, Resources: t.Resources}}}, Path: at,
			Origins: job.OriginsOf(
				job.Origin{Path: at, Whole: true},
				job.Origin{Rel: "containers[0].image", Path: r.written(at.Child("image"), at), Whole: true},
				job.Origin{Rel: "containers[0].resources", Path: r.written(at.Child("resources"), at)},
			),
		},
	}
	settle(&role)
	role.Launch = job.Launch{}
	return []job.Role{role}
}

// t9kRunPolicy is that of the kinds whose controller restarts pods itself.
type t9kRunPolicy struct {
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds"`
	BackoffLimit          *int32 `json:"backoffLimit"`
	CleanUpPolicy         string `json:"cleanUpPolicy"`
}

// t9kElastic is the range in which a job may be scaled.
type t9kElastic struct {
	Enabled          bool   `json:"enabled"`
	MinReplicas      *int32 `json:"minReplicas"`
	MaxReplicas      *int32 `json:"maxReplicas"`
	ExpectedReplicas *int32 `json:"expectedReplicas"`
}

// t9kReplica is one role of the kinds that list theirs.
type t9kReplica struct {
	Type          string                 `json:"type"`
	Replicas      *int32                 `json:"replicas"`
	ScalingWeight *int32                 `json:"scalingWeight"`
	Template      corev1.PodTemplateSpec `json:"template"`
	RestartPolicy string                 `json:"restartPolicy"`
}

// t9kReplicas reads spec.replicaSpecs: one role an element. types are those that the kind has;
// empty: the reference names none. The pods' restart policy is Never whatever is written,
// because the controller restarts them itself.
func t9kReplicas(r *reader, specs []t9kReplica, types []string, container func(*corev1.PodSpec) string) []job.Role {
	list := job.Path("spec.replicaSpecs")
	r.wantList(list, len(specs), "at least one kind of replica")
	var out []job.Role
	for i := range specs {
		s, at := &specs[i], list.Index(i)
		name := s.Type
		if len(types) > 0 && name != "" && !slices.Contains(types, name) {
			r.skip(at.Child("type"), job.RoleUnknown, append([]string{r.kind}, types...)...)
		}
		name = cmp.Or(name, "worker")
		role := job.Role{
			Name: name, Path: at, Replicas: job.Exactly(r.count(at.Child("replicas"), s.Replicas, 1)),
			ReplicasPath: r.written(at.Child("replicas"), at), Single: name == "master" || name == "chief",
			Pod: r.pod(&s.Template, at.Child("template")),
		}
		role.Container = container(&role.Pod.Spec)
		t9kNever(r, &role)
		out = append(out, role)
	}
	return out
}

// t9kNever is what the controllers do to the restart policy of the pods that they restart themselves.
func t9kNever(r *reader, role *job.Role) {
	inject(&role.Pod, "restartPolicy", r.written(role.Path.Child("restartPolicy"), role.Path))
	role.Pod.Spec.RestartPolicy = corev1.RestartPolicyNever
}

// apply makes the one scaled role a range: the controller begins with expectedReplicas, and a
// group of the scheduler waits for minReplicas.
func (e *t9kElastic) apply(r *reader, role *job.Role) {
	if e == nil || !e.Enabled {
		return
	}
	const at = job.Path("spec.elastic")
	n := r.count(at.Child("expectedReplicas"), e.ExpectedReplicas, role.Replicas.Max)
	least, most := r.count(at.Child("minReplicas"), e.MinReplicas, n), r.count(at.Child("maxReplicas"), e.MaxReplicas, n)
	if e.MinReplicas != nil && e.MaxReplicas != nil && least > most {
		r.problem(at.Child("minReplicas"), describe(least), fmt.Sprintf("at most maxReplicas, which is %d", most))
		return
	}
	n = max(min(n, max(most, least)), least)
	role.Replicas = job.Range{Min: least, Max: n}
	role.ReplicasPath, role.LeastPath = r.written(at.Child("expectedReplicas"), role.ReplicasPath), r.written(at.Child("minReplicas"), "")
}

// named is the name of a container that the operator looks for before it takes the first one.
func named(name string) func(*corev1.PodSpec) string {
	return func(spec *corev1.PodSpec) string {
		if slices.ContainsFunc(spec.Containers, func(c corev1.Container) bool { return c.Name == name }) {
			return name
		}
		return ""
	}
}

// t9kOperator is what the controllers of the group do, as far as the manual says. Their names for pods are
// labels of them, so these may not be too long.
func t9kOperator(o Operator) Operator {
	o.Hold = "spec.runMode.pause.enabled"
	o.LongestName = lastPod
	o.TypeLists = []job.Path{"spec.runMode.debug.replicaSpecs", "spec.runMode.pause.resumeSpecs"}
	o.LabelsBy, o.PodGroups, o.SchedulerField = "the operator", PodGroupsByField, "spec.scheduler"
	return o
}

// t9kRestarts is what those controllers do besides that restart pods themselves.
func t9kRestarts(o Operator) Operator {
	o.KeepsLogs = "Leave cleanUpPolicy out, or set it to None, and delete the job when its logs have been read."
	o.Deadline = "spec.runPolicy.activeDeadlineSeconds"
	o.Choices = append(o.Choices, Choice{At: "spec.runPolicy.cleanUpPolicy", Words: []string{"None", "All", "Unfinished"}})
	return t9kOperator(o)
}

// restartWords are what restartPolicy of a replica takes.
var restartWords = []string{"Always", "OnFailure", "Never", "ExitCode"}

// launcherAndWorkers are the roles of the kinds whose launcher reaches the workers by ssh.
var launcherAndWorkers = map[string]Part{"launcher": Launcher, "worker": Worker}

// t9kPods selects the pods of a job: they are labelled with the kind in small letters.
func t9kPods(kind string) func(job.Ref) labels.Selector {
	return func(ref job.Ref) labels.Selector { return selector(requirement(kind, ref.Name)) }
}

// t9kPlace reads <job>-<type>-<i> from the label, else from the pod's name, where a launcher
// has no number.
func t9kPlace(kind string) func(*corev1.Pod) (string, int, bool) {
	return func(pod *corev1.Pod) (string, int, bool) {
		name := pod.Labels[kind]
		rest, ok := strings.CutPrefix(cmp.Or(pod.Labels[kind+"-replica"], pod.Name), name+"-")
		if name == "" || !ok {
			return "", 0, false
		}
		role, number, _ := strings.Cut(rest, "-")
		if role == "launcher" {
			return role, 0, true
		}
		index, ok := atoi(number)
		if !ok || role == "" {
			return "", 0, false
		}
		return role, index, true
	}
}

// t9kMarks are the labels of the pods of a job (t9k user-manuals, src/tasks/use-podgroup.md).
func t9kMarks(j *job.Job, kind string) {
	for i := range j.Roles {
		j.Roles[i].Pod.Marks = job.Marks{
			Labels: map[string]string{kind: j.Ref.Name, "tensorstack.dev/component": kind, "tensorstack.dev/component-type": "user"},
			Varies: []string{kind + "-replica"},
		}
	}
}

// t9kPhases are the manual's phases. Completed is not looked at: the manual's own example of a
// failed job has it False and describes it as True.
var t9kPhases = map[string]Phase{
	"Pending": Created, "Running": Running, "Paused": Suspended, "Resuming": Created, // after a pause, not after a failure
	"Succeeded": Succeeded, "Failed": Failed,
}

func t9kState(u *unstructured.Unstructured) State {
	all := conditions(u)
	if s, failed := decide(all, []verdict{{"Failed", Failed}}); failed {
		s.Trigger = t9kTrigger(u)
		return s
	}
	phase, _ := dig(u, "status", "phase").(string)
	if phase == "Unknown" {
		return State{Reason: phase, Message: "the operator does not know how it stands"}
	}
	if p, known := t9kPhases[phase]; known {
		says := []verdict{{"ReplicaFailure", p}, {"Paused", p}, {"Running", p}, {"Initialized", p}, {"Initializing", p}}
		if p == Succeeded { // what it says when it is over, not what it said when it began
			says = []verdict{{"Completed", p}}
		}
		s, _ := decide(all, says)
		s.Phase = p
		if phase == "Resuming" {
			s.Reason, s.Message = phase, "it resumes after a pause"
		}
		if p == Failed {
			s.Trigger = t9kTrigger(u)
		}
		return s
	}
	s, _ := decide(all, []verdict{{"Paused", Suspended}, {"Running", Running}, {"Initialized", Created}, {"Initializing", Created}})
	return s
}

// t9kTrigger is the first failed pod that the status lists. Some examples of the manual call
// the list status, others and the reference call it replicas.
func t9kTrigger(u *unstructured.Unstructured) string {
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
