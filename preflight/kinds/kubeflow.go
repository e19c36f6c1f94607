package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Labels that training-operator and mpi-operator put on pods
// (github.com/kubeflow/training-operator v1.9.3 pkg/apis/kubeflow.org/v1/common_types.go).
const (
	operatorNameLabel = "training.kubeflow.org/operator-name"
	jobNameLabel      = "training.kubeflow.org/job-name"
	replicaTypeLabel  = "training.kubeflow.org/replica-type"
	replicaIndexLabel = "training.kubeflow.org/replica-index"
)

// Values of managedBy that name the usual operator.
const (
	trainingOperator = "kubeflow.org/training-operator"
	mpiOperator      = "kubeflow.org/mpi-operator"
)

// replicaSpec is one role of a kubeflow.org/v1 job.
type replicaSpec struct {
	Replicas      *int32                 `json:"replicas"`
	Template      corev1.PodTemplateSpec `json:"template"`
	RestartPolicy string                 `json:"restartPolicy"`
}

type runPolicy struct {
	CleanPodPolicy          *string           `json:"cleanPodPolicy"`
	TTLSecondsAfterFinished *int32            `json:"ttlSecondsAfterFinished"`
	ActiveDeadlineSeconds   *int64            `json:"activeDeadlineSeconds"`
	BackoffLimit            *int32            `json:"backoffLimit"`
	Suspend                 *bool             `json:"suspend"`
	SchedulingPolicy        *schedulingPolicy `json:"schedulingPolicy"`
	ManagedBy               *string           `json:"managedBy"`
}

type schedulingPolicy struct {
	MinAvailable           *int32              `json:"minAvailable"`
	Queue                  string              `json:"queue"`
	MinResources           corev1.ResourceList `json:"minResources"`
	PriorityClass          string              `json:"priorityClass"`
	ScheduleTimeoutSeconds *int32              `json:"scheduleTimeoutSeconds"`
}

// replicaMap says how one kind of the operator reads its map of roles. The defaults are
// those of its controllers; there is no mutating webhook, so nothing else applies them.
type replicaMap struct {
	controller string   // as it calls itself in the labels of pods
	field      string   // below spec
	roles      []string // in the operator's order
	container  string   // the one the operator looks for; empty: the first
	portName   string   // empty: no port is added
	port       int32
	restart    string            // default restart policy
	restarts   map[string]string // defaults other than that, by role
	replicas   map[string]int    // defaults other than 1, by role
	anyCase    bool              // roles are found whatever their case (setTypeNameToCamelCase)
	exactCase  bool              // … but the operator's webhook wants them exactly so
	everyKey   bool              // the operator makes pods of roles it does not know, too
}

// kind is a kind of training-operator, with what all of them have in common.
func (m replicaMap) kind(k Kind) *Kind {
	name := strings.ToLower(k.Name)
	k.Resource = name + "s"
	k.GVKs = []schema.GroupVersionKind{kubeflow("v1", k.Name)}
	k.Pods = kubeflowPods(m.controller)
	k.Place = m.place
	k.State = kubeflowState
	k.Completed = kubeflowCompleted
	k.Operator = trainingWebhook(name, k.Operator)
	return &k
}

// training reads such a job. What a kind adds to the pods of its roles it adds before they are settled.
func (m replicaMap) training(r *reader, j *job.Job, policy *runPolicy, specs map[string]*replicaSpec, add ...func()) {
	policy.apply(r, j, trainingOperator)
	j.Roles = m.read(r, specs)
	trainingMarks(j, m.controller)
	for _, more := range add {
		more()
	}
	settleAll(j)
	gang(r, j)
}

func (m replicaMap) path() job.Path { return job.Path("spec").Child(m.field) }

// read turns the map into roles.
func (m replicaMap) read(r *reader, specs map[string]*replicaSpec) []job.Role {
	value, _ := m.path().Resolve(r.source)
	written, isMap := value.(map[string]any)
	if len(written) == 0 {
		if value == nil || isMap {
			r.lacks(r.anchor(m.path()), absence(value), "an object with the roles "+strings.Join(m.roles, ", "))
		}
		return nil
	}
	keys := m.keys(r, written)
	written = maps.Clone(written)
	var out []job.Role
	for _, name := range m.roles {
		key, ok := keys[name]
		if !ok {
			continue
		}
		spec := specs[key]
		if spec == nil {
			if written[key] == nil {
				r.problem(m.path().Key(key), "null", "an object with replicas and template")
			}
			continue
		}
		out = append(out, m.role(r, name, key, spec))
		delete(written, key)
	}
	for _, key := range sortedKeys(written) {
		// Of two spellings of a role the operator keeps one, and which is not settled: both count.
		spelt := m.anyCase && slices.ContainsFunc(m.roles, func(name string) bool { return strings.EqualFold(name, key) })
		if spec := specs[key]; (m.everyKey || spelt) && spec != nil {
			out = append(out, m.role(r, key, key, spec))
		}
	}
	return out
}

// keys maps the roles of the operator to the keys they are written under, and notes the
// keys that are no roles.
func (m replicaMap) keys(r *reader, written map[string]any) map[string]string {
	out := map[string]string{}
	for _, name := range m.roles {
		if _, ok := written[name]; ok {
			out[name] = name
		}
	}
	for _, key := range sortedKeys(written) {
		if slices.Contains(m.roles, key) {
			continue
		}
		at := m.path().Key(key)
		i := slices.IndexFunc(m.roles, func(name string) bool { return strings.EqualFold(name, key) })
		switch {
		case i >= 0 && m.anyCase && out[m.roles[i]] == "":
			out[m.roles[i]] = key
			if m.exactCase {
				r.skip(at, job.RoleSpelling, m.roles[i])
			}
		case m.everyKey && written[key] != nil:
			r.skip(at, job.RoleUnlisted, append([]string{r.kind}, m.roles...)...)
		case nearest(key, m.roles) != "":
			r.skip(at, job.RoleMisspelt, allNearest(key, m.roles)...)
		default:
			r.skip(at, job.RoleUnknown, append([]string{r.kind}, m.roles...)...)
		}
	}
	return out
}

func (m replicaMap) role(r *reader, name, key string, spec *replicaSpec) job.Role {
	at := m.path().Key(key)
	replicas := 1
	if n, ok := m.replicas[name]; ok {
		replicas = n
	}
	replicas = r.count(at.Child("replicas"), spec.Replicas, replicas)
	role := job.Role{
		Name: name, Replicas: job.Exactly(replicas), Path: at,
		ReplicasPath: r.written(at.Child("replicas"), at),
		Container:    m.container,
		Single:       name == "Master" || name == "Chief" || name == "Launcher",
		Pod:          r.pod(&spec.Template, at.Child("template")),
	}
	m.overwriteRestart(r, &role, spec)
	if m.portName != "" { // each pod gets a Service (pkg/controller.v1/common/service.go, ReconcileServices)
		role.Services = replicas
	}
	m.addPort(&role.Pod)
	return role
}

// overwriteRestart does what the operator does: the role's policy replaces the pod's,
// and ExitCode becomes Never (pkg/controller.v1/common/pod.go, setRestartPolicy).
func (m replicaMap) overwriteRestart(r *reader, role *job.Role, spec *replicaSpec) {
	policy := corev1.RestartPolicy(spec.RestartPolicy)
	switch policy {
	case "":
		policy = corev1.RestartPolicy(cmp.Or(m.restarts[role.Name], m.restart))
	case "ExitCode":
		policy = corev1.RestartPolicyNever
	default: // as written
	}
	if own := role.Pod.Spec.RestartPolicy; own != "" && own != policy {
		r.skip(role.Pod.At("restartPolicy"), job.RestartPolicyOverwritten, string(own), string(policy))
	}
	inject(&role.Pod, "restartPolicy", r.written(role.Path.Child("restartPolicy"), role.Path))
	role.Pod.Spec.RestartPolicy = policy
}

// addPort adds the port that the operator's Service needs, as its defaulting does: to
// the container it looks for, else to the first.
func (m replicaMap) addPort(p *job.Pod) {
	if m.portName == "" || len(p.Spec.Containers) == 0 {
		return
	}
	i := max(slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == m.container }), 0)
	c := &p.Spec.Containers[i]
	if slices.ContainsFunc(c.Ports, func(q corev1.ContainerPort) bool { return q.Name == m.portName }) {
		return
	}
	rel := job.Path("containers").Index(i)
	inject(p, rel.Child("ports").Index(len(c.Ports)), p.At(rel))
	c.Ports = append(c.Ports, corev1.ContainerPort{Name: m.portName, ContainerPort: m.port, Protocol: corev1.ProtocolTCP})
}

// count is a number of pods; a negative one is a problem and counts as 0.
func (r *reader) count(at job.Path, n *int32, otherwise int) int {
	switch {
	case n == nil:
		return otherwise
	case *n < 0:
		r.problem(at, describe(int64(*n)), "0 or more")
		return 0
	default:
		return int(*n)
	}
}

// apply reads what all kinds of the operator share into the job.
func (p *runPolicy) apply(r *reader, j *job.Job, operator string) {
	j.Suspended = p.Suspend != nil && *p.Suspend
	// mpi-operator refuses what is below 0, and training-operator takes it for a limit that is passed and a time that is over
	// (https://github.com/kubeflow/mpi-operator/blob/v0.7.0/pkg/apis/kubeflow/validation/validation.go, validateRunPolicy;
	// training-operator v1.9.3 pkg/controller.v1/common/job.go, PastBackoffLimit and CleanupJob).
	r.count("spec.runPolicy.backoffLimit", p.BackoffLimit, 0)
	r.count("spec.runPolicy.ttlSecondsAfterFinished", p.TTLSecondsAfterFinished, 0)
	if p.ManagedBy != nil && *p.ManagedBy != operator {
		j.ManagedElsewhere = *p.ManagedBy
	}
	if s := p.SchedulingPolicy; s != nil {
		policy := job.Path("spec.runPolicy.schedulingPolicy")
		if s.MinAvailable != nil {
			j.Gang.MinMembers = r.count(policy.Child("minAvailable"), s.MinAvailable, 0)
			j.Gang.Path = policy.Child("minAvailable")
		}
		j.Gang.Queue = s.Queue
		j.Gang.PriorityClass = s.PriorityClass
	}
}

// elastic makes a role a range. The operator starts with replicas whatever the range
// says, and only an autoscaler, which it makes for metrics, goes above that: a maximum
// without metrics is a wish without an effect.
func elastic(r *reader, role *job.Role, at job.Path, least, most *int32, metrics int) {
	if least == nil && most == nil {
		return
	}
	low := r.count(at.Child("minReplicas"), cmp.Or(least, most), 0)
	high := r.count(at.Child("maxReplicas"), cmp.Or(most, least), 0)
	if low > high {
		r.problem(at.Child("minReplicas"), describe(low), fmt.Sprintf("at most maxReplicas, which is %d", high))
		return
	}
	n := role.Replicas.Max
	role.Replicas.Min, role.LeastPath = min(low, n), r.written(at.Child("minReplicas"), "")
	if metrics > 0 {
		role.Replicas.Max = max(high, n)
	}
}

// kubeflow is a version and kind of the group kubeflow.org.
func kubeflow(version, kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "kubeflow.org", Version: version, Kind: kind}
}

// kubeflowPods selects the pods of a job by its name and its operator: jobs of two kinds
// may share a name.
func kubeflowPods(operators ...string) func(job.Ref) labels.Selector {
	return func(ref job.Ref) labels.Selector {
		return selector(requirement(jobNameLabel, ref.Name), requirement(operatorNameLabel, operators...))
	}
}

// place reads role and index from the operator's labels; mpi-operator has another one for the role. Where the
// index of a worker is not labelled (MPIJob v1) it is the last part of the pod's name; a launcher is alone.
func (m replicaMap) place(pod *corev1.Pod) (string, int, bool) {
	role := cmp.Or(pod.Labels[replicaTypeLabel], pod.Labels[jobRoleLabel])
	i := slices.IndexFunc(m.roles, func(name string) bool { return strings.EqualFold(name, role) })
	if i < 0 {
		return "", 0, false
	}
	if index, ok := atoi(pod.Labels[replicaIndexLabel]); ok {
		return m.roles[i], index, true
	}
	if m.roles[i] == "Launcher" {
		return m.roles[i], 0, true
	}
	index, ok := atoi(pod.Name[strings.LastIndexByte(pod.Name, '-')+1:])
	return m.roles[i], index, ok
}
