// Package job is the normalised training job: what every kind of job is read
// into and what every check, the fit and the diagnosis read from. Plain values,
// no clients, nothing that changes after a reader has filled it in.
//
// It is not a Kubernetes API type and it keeps no quantity as text: amounts are
// integers in base units. Start reading at Job.
package job

import (
	"iter"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// Job is one training job, whatever resource it came from. It is never changed
// after its kind has read it; everything it points at is shared and read-only.
type Job struct {
	Ref   Ref
	Gang  GangPolicy
	Roles []Role // in the order the source declares them; map-typed sources in the operator's order
	// Beside are pods that the operator makes for the job and that are no part of its gang: a TensorBoard. Policies see
	// them; the fit and the diagnosis do not.
	Beside []Role
	// Suspended says that the source asks for no pods now: suspend, pause, a stopped execution.
	Suspended bool
	// ManagedElsewhere names the controller that has the job instead of its usual operator; empty: none.
	ManagedElsewhere string
	// Source is the object as it was written. Rules about one kind's own fields look here.
	Source *unstructured.Unstructured
	// Unread lists what the reader saw and could not use: unknown is kept, not dropped.
	Unread []Unread
	// DuplicateKeys lists the keys that the text of the object holds more than once. Only a file
	// shows them: what comes from the API server has each key once.
	DuplicateKeys []DuplicateKey
}

// Ref names one object of the API. UID is empty where the object is not stored yet.
type Ref struct{ Kind, APIVersion, Namespace, Name, UID string }

// String is "PyTorchJob ml/train", the way messages name a job.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.kind() + " " + r.Name
	}
	return r.kind() + " " + r.Namespace + "/" + r.Name
}

// plainGroups are the groups whose kind goes by its name alone, of kinds that several groups have: another one's is
// named with its group, as kubectl does.
var plainGroups = map[string]string{"Job": "batch", "MPIJob": "kubeflow.org"}

func (r Ref) kind() string {
	group, _, _ := strings.Cut(r.APIVersion, "/")
	if plain := plainGroups[r.Kind]; plain == "" || group == "" || group == plain {
		return r.Kind
	}
	return r.Kind + "." + group
}

// GangPolicy is what the source says about starting all pods together.
type GangPolicy struct {
	MinMembers                      int // 0: the source does not say
	Scheduler, Queue, PriorityClass string
	Path                            Path // where MinMembers is written; "" with MinMembers 0
	// Together is how pods have to lie to each other, where no pod says it: "all pods lie in one HyperNode"; empty: nothing is asked.
	Together string
}

// Role is one group of pods with one template: Master, Worker, launcher, node …
type Role struct {
	Name     string // the kind's own word, in its own spelling
	Replicas Range  // Min == Max unless elastic
	Surge    int    // pods that there may be besides while the job is rolled out
	Pod      Pod
	Launch   Launch
	Path     Path // the role itself, for example spec.pytorchReplicaSpecs.Worker
	// ReplicasPath is where the number of pods is written, or Path where it is a default.
	ReplicasPath Path
	// LeastPath is where it is written that fewer of what is counted at ReplicasPath are not enough; empty: nowhere.
	LeastPath Path
	// PodsEach is how many pods one of what is counted at ReplicasPath makes, where that is more than one: a JobSet counts
	// Jobs, a RayCluster groups of hosts.
	PodsEach int
	// PodsBeside is how many pods of other roles are counted at ReplicasPath, too: the leader of a group, whose size it is.
	PodsBeside int
	// Jobs is how many batch Jobs are made for its pods, at least; 0: none.
	Jobs int
	// Services is how many Services are made for its pods, at least; 0: none, or that is not known.
	Services int
	// StatefulSets is how many StatefulSets are made for its pods; 0: none.
	StatefulSets int
	// Along is the role with each of whose pods equally many of this one come; empty: the number stands by itself.
	Along string
	// Single says that the operator takes exactly one pod of this role: a launcher, a Master.
	Single bool
	// Container is the name of the container that trains, as the operator looks for it; empty: the first one.
	Container string
	// After names roles that must have completed before this one starts: they do not run together.
	After []string
	// Parts are equal parts of the role that choose their neighbours by themselves; nil: it has none.
	Parts *Parts
}

// Range is an inclusive span of counts.
type Range struct{ Min, Max int }

// Exactly is the range of one number.
func Exactly(n int) Range { return Range{n, n} }

// Pod is the pod template of a role as the operator would create it: with the
// operator's defaults and additions.
type Pod struct {
	Spec                corev1.PodSpec
	Labels, Annotations map[string]string
	Marks               Marks
	Requests            Resources // effective: init containers, sidecars, overhead and pod-level included
	Path                Path      // where the pod spec is written; see At
	// Partial says that the pod is also written in an object that was not seen (the runtime of
	// a TrainJob): what is missing here may be there.
	Partial bool
	// Origins are the parts of Spec that are written somewhere else than below Path.
	Origins Origins
	// Injected are the init containers of Spec, by name, that the operator adds when it makes the pods: a queue that
	// looks at the job counts none of them.
	Injected []string
}

// DuplicateKey is a key that stands in one mapping again: the last one counts.
type DuplicateKey struct {
	Path        Path
	First, Line int      // of the key: the earlier one and this one
	Same        bool     // both say the same
	Lost        []string // keys below the earlier one that this one lacks; sorted
}

// Presence is the answer of a look-up: three answers, never two.
type Presence int

const (
	Unknown Presence = iota // not looked at, or it may not be read
	Present
	Absent // the view is complete for this resource, and the object is not there
)

// Field is the value at a path of the object as it was written; nil where there is none.
func (j *Job) Field(at Path) any {
	if j == nil || j.Source == nil {
		return nil
	}
	v, err := at.Resolve(j.Source.Object)
	if err != nil {
		return nil
	}
	return v
}

// Whole is an integer as JSON decoders hand it over; 2.0 is one, "2" is not.
func Whole(in any) (int64, bool) {
	switch n := in.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case int32:
		return int64(n), true
	case float64:
		// 1<<63 is the first float64 that no int64 holds.
		if n != math.Trunc(n) || n < -(1<<63) || n >= 1<<63 {
			return 0, false
		}
		return int64(n), true
	default:
		return 0, false
	}
}

// MaxPods is the largest number of pods of all roles together. Roles that run one after
// another (Role.After) all count: a pod group of the job waits for all of them.
func (j *Job) MaxPods() int {
	n := 0
	for _, r := range j.Roles {
		n = saturate.Add(n, r.Replicas.Max)
	}
	return n
}

// MinPods is the smallest number of pods the job can train with.
func (j *Job) MinPods() int {
	n := 0
	for _, r := range j.Roles {
		n = saturate.Add(n, r.Replicas.Min)
	}
	return n
}

// GPUs is how many accelerators all pods of all roles ask for together.
func (j *Job) GPUs() int64 {
	var n int64
	for i := range j.Roles {
		_, pod := j.Roles[i].Pod.Accelerators()
		n = saturate.Add(n, saturate.Mul(pod, int64(j.Roles[i].Replicas.Max)))
	}
	return n
}

// EachRole are the roles, one after the other.
func (j *Job) EachRole() iter.Seq[*Role] {
	return func(yield func(*Role) bool) {
		for i := range j.Roles {
			if !yield(&j.Roles[i]) {
				return
			}
		}
	}
}

// Container is a container of a role, and where it is written in the spec of its pod.
type Container struct {
	*corev1.Container
	Rel Path
}

// EachContainer are the containers of a role, those that run before the others last.
func (r *Role) EachContainer() iter.Seq[Container] {
	return func(yield func(Container) bool) {
		for _, list := range []struct {
			at  Path
			all []corev1.Container
		}{{"containers", r.Pod.Spec.Containers}, {"initContainers", r.Pod.Spec.InitContainers}} {
			for i := range list.all {
				if !yield(Container{&list.all[i], list.at.Index(i)}) {
					return
				}
			}
		}
	}
}

// EachContainer are the containers of all roles.
func (j *Job) EachContainer() iter.Seq2[*Role, Container] {
	return func(yield func(*Role, Container) bool) {
		for r := range j.EachRole() {
			for c := range r.EachContainer() {
				if !yield(r, c) {
					return
				}
			}
		}
	}
}

// Elements are the elements of a list, and where each is written; none where there is no list.
func (j *Job) Elements(list Path) iter.Seq2[Path, any] {
	return func(yield func(Path, any) bool) {
		elements, _ := j.Field(list).([]any)
		for i, e := range elements {
			if !yield(list.Index(i), e) {
				return
			}
		}
	}
}

// Role finds a role by name, nil if there is none.
func (j *Job) Role(name string) *Role {
	for i := range j.Roles {
		if j.Roles[i].Name == name {
			return &j.Roles[i]
		}
	}
	return nil
}

// Trainer is the container that trains: the one the operator looks for, else the
// first. It is nil where there is none; the index counts in Spec.Containers.
func (r *Role) Trainer() (*corev1.Container, int) {
	cs := r.Pod.Spec.Containers
	for i := range cs {
		if cs[i].Name == r.Container {
			return &cs[i], i
		}
	}
	if r.Container != "" || len(cs) == 0 {
		return nil, -1
	}
	return &cs[0], 0
}

// At is where in the source a part of the pod spec is written. The longest origin
// wins, and of two equal ones the later; without one the part lies below Path.
func (p Pod) At(rel Path) Path {
	switch o, found := p.Origins.of(rel); {
	case !found:
		return p.Path.Join(rel)
	case o.Whole:
		return o.Path
	default:
		return o.Path.Join(rel.After(o.Rel))
	}
}
