package kinds

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// Operator is what the controller of a kind does, as far as checks rest on it: data, so that
// no check has to know a kind by its name. What is left empty the operator does not do, or it
// is not known to.
type Operator struct {
	Validates Validation

	// Names are the forms of metadata.name and of the names of roles that the author chooses; nil:
	// the first takes what any object does, the second is given by the kind.
	Names, RoleNames *NameForm
	// LongestName is the longest name that the operator derives for a role of a job so called and
	// that must be a DNS label, and what bears it; nil: there is none.
	LongestName func(j *job.Job, r *job.Role, name string) (child, what string)
	// Hosts are the names under which the pods of a role find each other; nil: not known.
	Hosts func(*job.Job, *job.Role) Hosts
	// Peers says how the pods find each other by name.
	Peers Peers

	// Annotations are those that authors write and the operator reads; there may be others that it writes itself.
	Annotations []string
	// ManagedBy is the field that gives a job to another controller.
	ManagedBy ManagedBy
	// Hold is the field with which a job of the kind is held back; empty: spec.suspend of the API
	// that the kind is made for.
	Hold string
	// Deadline and TTL are where a job says how long it may run, and how long it is kept.
	Deadline, TTL job.Path
	// CleanPods are where a job says which pods go at its end (All, Running, None), CleanWorkers is
	// where it says that the workers do.
	CleanPods    []job.Path
	CleanWorkers job.Path
	// CleanOrNothing says that the operator makes no pods where CleanPods hold another word.
	CleanOrNothing bool
	// Restamped are pod templates, two fields below spec, into which the operator's mutating webhook writes an
	// empty metadata.creationTimestamp at every update; the API server drops it again.
	Restamped []job.Path
	// KeepsLogs is what somebody does to keep the logs of a job that is cleaned up at its end.
	KeepsLogs string
	// Fixed are the fields that no update may change.
	Fixed []FixedField
	// KeptFields are changed in vain while the job runs, for the reason KeptWhy; KeepsTemplates says
	// that pods which run keep the template of their role.
	KeptFields     []job.Path
	KeptWhy        string
	KeepsTemplates bool
	// Choices are fields that take one of a few words; those of RoleChoices lie below a role.
	Choices, RoleChoices []Choice
	// RestartPolicies are what restartPolicy of a role takes, which replaces that of its template;
	// nil: a role has none.
	RestartPolicies []string
	// TypeLists are lists of objects that name a role as their type; DependsOn says that roles name
	// the roles that they depend on.
	TypeLists []job.Path
	// RoleFlags are lists of arguments that name roles, and which of these do: --worker=NAME.
	RoleFlags map[job.Path][]string
	DependsOn bool

	// Jobs says that the pods of a role are those of Jobs of batch/v1; nil: they are not.
	Jobs *Jobs
	// Masters are how many pods the roles that lead have; nil: the operator does not mind.
	Masters *Masters
	// EndsWithoutPods says that the operator calls a job without pods complete, ZeroPods that no pods
	// at all are a way to hold a job back, or have a check of their own.
	EndsWithoutPods, ZeroPods bool
	// UncountedRestarts says that a container which its node starts again counts against no bound of the job.
	UncountedRestarts bool
	// RemakesPods says that a pod which ended, whatever ended it, is made anew without being counted.
	RemakesPods bool
	// PolicyEnds says that a policy ends the job while pods of other roles still run.
	PolicyEnds bool

	// World says whom a launcher counts where its own command does not say; Nodes is where the job
	// does.
	World World
	Nodes job.Path
	// Procs is where a job says how many processes start in a pod.
	Procs Procs
	// Elastic is the range of pods with which the job goes on; nil: the kind has none.
	Elastic *Elastic
	// Parts are what the roles do in the launch, by their names; nil: the author names them.
	Parts map[string]Part
	// Containers are those that the operator looks for by name in the pods of a job whose roles the
	// author names, the one that trains first.
	Containers []string
	// HidesGPUs says that the operator hides the GPUs of the node from the launcher, NeedsWorkers that the
	// operator refuses a job without workers.
	HidesGPUs, NeedsWorkers bool
	// Launcher is what somebody does with GPUs that the launcher asks for.
	Launcher string
	// SSHD is how the launcher reaches the other pods.
	SSHD SSHD
	// Collective says that all pods compute one thing and wait for each other, NCCL that their GPUs do,
	// CountsPods that pods are told how many they are when they start.
	Collective, NCCL, CountsPods bool

	// Env are the variables that the operator appends to a container of a role after the job's own: of
	// two equal names the last one wins. EnvUnset are those that it sets where the job does not.
	Env, EnvUnset func(j *job.Job, r *job.Role, container int) []string
	// EnvValues are the values of those in Env that are the same for every job.
	EnvValues map[string]string
	// NoEnv says why a variable that a command may count on is not set; empty: what the operator sets
	// is not known well enough.
	NoEnv string
	// EnvBeside is the role without which the operator sets none of those that name the first process.
	EnvBeside string
	// Mounts are the volumes that the operator adds to the pods of a role, and where it mounts them in
	// the first container.
	Mounts func(j *job.Job, role string) (volumes, places []string)
	// LabelsBy is what writes the labels of job.Marks over the job's own; Labels are further keys, and what
	// writes those; LabelsAt is where a job writes labels besides the templates of its roles.
	LabelsBy string
	Labels   map[string]string
	LabelsAt func(*job.Job) []job.Path

	// PodGroups says what makes the group that a gang scheduler places together.
	PodGroups PodGroups
	// Kueue says that Kueue queues jobs of the kind; SchedulerField is where a job names its scheduler
	// for all pods.
	Kueue          bool
	SchedulerField job.Path
}

// Validation is what looks at a job before it is stored, besides the schema of its CRD.
type Validation struct {
	APIServer bool // the API server itself: a kind of its own
	// Webhook is the name of the entry of a ValidatingWebhookConfiguration by which the operator
	// looks at its jobs; empty: there is none in any version that was read.
	Webhook string
	// Refuses are the checks that have nothing to add to what this says itself.
	Refuses []string
}

// NameForm is a form of names.
type NameForm struct {
	Takes        func(string) bool
	Says, Remedy string // what it takes, in words; what to do, where that is not the check's own
}

// Hosts are the names of the pods of one role in the network: prefix-i, or prefix-i-j with Jobs.
type Hosts struct {
	Prefix     string
	Jobs, Pods int    // Jobs 0: there is only one number
	Domain     string // that the name is asked for in; empty: the namespace's
	Unserved   string // why no name server knows the names; empty: one does
}

// Peers is how pods of one job find each other by name.
type Peers int

// The ways in which they do.
const (
	PeersUnknown     Peers = iota
	PeersByService         // the operator makes what resolves their names
	PeersBySubdomain       // where the pods name the subdomain of a service
)

// ManagedBy is the field by which a job is given to a controller.
type ManagedBy struct {
	At    job.Path // empty: the kind has no such field
	Known []string // the controllers that it takes; nil: any with a name of the right form
}

// FixedField is a field that no update may change, and why.
type FixedField struct {
	At           job.Path
	Default      any  // the value that nothing stands for
	WhileRunning bool // it may be changed while the job is suspended
	Reason       string
}

// Choice is a field that takes one of a few words.
type Choice struct {
	At    job.Path
	Each  job.Path // the field below each element of the list at At; empty: At is the field
	Words []string
	// Required says that the object which holds the field is refused without it.
	Required bool
}

// Jobs says where the spec of the batch/v1 Job of a role is written, and what its pods are
// without a completionMode.
type Jobs struct {
	Spec    job.Path // below the role
	Indexed bool
}

// Masters are how many pods the roles that lead may have together.
type Masters struct {
	Least, Most int
	Required    bool // a job without such a role is refused
}

// World says which pods a launcher counts as its nodes.
type World int

// The pods that it may count.
const (
	WorldUnknown    World = iota // any roles together: the operator does not say
	WorldOfJob                   // those of all roles: the operator tells them so
	WorldOfRole                  // those of its own role: the operator tells them so
	WorldOfPod                   // its own pod: nothing tells the pods of each other
	WorldOfLauncher              // the operator calls the launcher itself
)

// Procs is where a job says how many processes start in each pod.
type Procs struct {
	At      job.Path // empty: nowhere
	Default int64    // how many there are where nothing is written; 0: not known
	PerGPU  bool     // where nothing is written, one for each GPU
	Role    string   // the role in which they start; empty: in all that train
}

// Elastic is where the range of pods is written.
type Elastic struct {
	At      job.Path
	Backend job.Path // of torchrun's rendezvous; empty: not a field of the kind
	Masters bool     // masters are told the range, too, and join
}

// SSHD says which role runs sshd for the launcher.
type SSHD struct {
	Role     string   // empty: none
	Replaces bool     // sshd runs in place of the container's command; false: where that has none
	Command  job.Path // what the launcher starts in each of the pods
	Program  job.Path // where a job says where sshd is
	Keys     job.Path // where a job says in which folder its keys are; where it does not, they are root's, in /root/.ssh
}

// PodGroups says what makes the pod groups of a kind.
type PodGroups int

// What makes them.
const (
	PodGroupsOfUser  PodGroups = iota // the author of the job makes them
	PodGroupsByFlag                   // the operator, for the scheduler that a flag of it names
	PodGroupsByField                  // the operator, as the job or its runtime says
)

// Of is what the operator of a job does; the zero Operator for a kind without a reader.
func Of(ref job.Ref) *Operator {
	group, version, _ := strings.Cut(ref.APIVersion, "/")
	for _, k := range All() {
		for i := range k.GVKs {
			if gvk := &k.GVKs[i]; gvk.Kind == ref.Kind && gvk.Group == group && gvk.Version == version {
				if o := k.Versions[version]; o != nil {
					return o
				}
				return &k.Operator
			}
		}
	}
	return &Operator{}
}

// JobSpec is where the spec of the batch/v1 Job of a role is written; ok is false where its pods
// are not those of Jobs.
func (o *Operator) JobSpec(r *job.Role) (at job.Path, ok bool) {
	if o.Jobs == nil {
		return "", false
	}
	return r.Path.Join(o.Jobs.Spec), true
}

// Has says whether one of the pods has the name.
func (h Hosts) Has(name string) bool {
	rest, ok := strings.CutPrefix(name, h.Prefix)
	if !ok {
		return false
	}
	first, second, two := strings.Cut(rest, "-")
	if h.Jobs == 0 {
		return !two && numberBelow(first, h.Pods)
	}
	return two && numberBelow(first, h.Jobs) && numberBelow(second, h.Pods)
}

// String names the first and the last of them.
func (h Hosts) String() string {
	first, last := "0", strconv.Itoa(h.Pods-1)
	if h.Jobs > 0 {
		first, last = "0-0", strconv.Itoa(h.Jobs-1)+"-"+strconv.Itoa(h.Pods-1)
	}
	if first == last {
		return h.Prefix + first
	}
	return h.Prefix + first + " to " + h.Prefix + last
}

func numberBelow(text string, n int) bool {
	i, err := strconv.Atoi(text)
	return err == nil && i >= 0 && i < n
}

// The forms of names.
var (
	dnsLabel1035 = &NameForm{
		Takes: func(s string) bool { return len(validation.IsDNS1035Label(s)) == 0 },
		Says:  "lower-case letters, digits and dashes, with a letter first, 63 at most",
	}
	dnsLabel = &NameForm{
		Takes: func(s string) bool { return len(validation.IsDNS1123Label(s)) == 0 },
		Says:  "lower-case letters, digits and dashes, 63 at most",
	}
)

// GeneratedSuffix stands for what the API server puts after generateName
// (k8s.io/apiserver pkg/storage/names/generate.go).
const GeneratedSuffix = "xxxxx"

// longestPrefix is how much of a generateName the API server keeps (the same file, MaxGeneratedNameLength).
const longestPrefix = validation.DNS1123LabelMaxLength - len(GeneratedSuffix)

// GeneratedName is a name as the API server makes one of a generateName.
func GeneratedName(prefix string) string {
	return prefix[:min(len(prefix), longestPrefix)] + GeneratedSuffix
}

// multiKueue is the controller that takes jobs to other clusters.
const multiKueue = "kueue.x-k8s.io/multikueue"

func textIn(j *job.Job, at job.Path) string {
	s, _ := j.Field(at).(string)
	return s
}

// countIn is a number that is written, else 1.
func countIn(j *job.Job, at job.Path) int {
	if n, ok := job.Whole(j.Field(at)); ok {
		return int(n)
	}
	return 1
}

// variables are the same ones for every container.
func variables(names ...string) func(*job.Job, *job.Role, int) []string {
	return func(*job.Job, *job.Role, int) []string { return names }
}

// cleanPath is a path of a file system as it is written, or else the usual one.
func cleanPath(written, otherwise string) string {
	return path.Clean(cmp.Or(written, otherwise))
}

// lastPod is the name of the last pod of a role: <job>-<role>-<i>.
func lastPod(_ *job.Job, r *job.Role, name string) (child, what string) {
	return name + "-" + strings.ToLower(r.Name) + "-" + strconv.Itoa(r.Replicas.Max-1), "last pod of " + r.Name
}

// trainingWebhook is what training-operator does with its kinds, MPIJobs excepted
// (training-operator v1.9.3 manifests/base/webhook/manifests.yaml, pkg/webhooks,
// pkg/controller.v1/common).
func trainingWebhook(kind string, o Operator) Operator {
	o.Validates.Webhook = "validator." + kind + ".training-operator.kubeflow.org"
	o.Validates.Refuses = append([]string{"container-image-missing", "container-name-missing", "job-name-invalid", "role-misspelt"}, o.Validates.Refuses...)
	o.Names, o.LongestName, o.Hosts, o.Peers = dnsLabel1035, lastPod, replicaHosts, PeersByService
	o.CountsPods = true
	return underRunPolicy(trainingOperator, o)
}

// underRunPolicy is what all kinds of kubeflow.org have in common, which have a runPolicy.
func underRunPolicy(operator string, o Operator) Operator {
	o.ManagedBy = ManagedBy{At: "spec.runPolicy.managedBy", Known: []string{operator, multiKueue}}
	o.Deadline, o.TTL = "spec.runPolicy.activeDeadlineSeconds", "spec.runPolicy.ttlSecondsAfterFinished"
	o.CleanPods = append([]job.Path{"spec.runPolicy.cleanPodPolicy"}, o.CleanPods...)
	// pkg/common/util/webhooks.go, and the CRDs' rule for the queue.
	o.Fixed = []FixedField{
		{At: "spec.runPolicy.managedBy", Default: operator, Reason: "who reconciles a job is settled when it is created: two controllers would both own its pods, or neither"},
		{At: "spec.runPolicy.schedulingPolicy.queue", Reason: "the pod group waits in the queue that it was made for"},
	}
	if o.RestartPolicies == nil {
		o.RestartPolicies = []string{"Always", "OnFailure", "Never", "ExitCode"}
	}
	o.KeepsTemplates = true
	o.LabelsBy = "the operator"
	o.PodGroups, o.Kueue = PodGroupsByFlag, true
	return o
}

// replicaHosts are the names of pods and services alike: <job>-<role>-<i>.
func replicaHosts(j *job.Job, r *job.Role) Hosts {
	return Hosts{Prefix: j.Source.GetName() + "-" + strings.ToLower(r.Name) + "-", Pods: r.Replicas.Max}
}

// GroupKind is how a check names the kind: PyTorchJob.kubeflow.org.
func (k *Kind) GroupKind() string { return k.GVKs[0].GroupKind().String() }

// Operators are those of all versions of the kind.
func (k *Kind) Operators() []*Operator {
	out := []*Operator{&k.Operator}
	for _, gvk := range k.GVKs {
		if o := k.Versions[gvk.Version]; o != nil && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}
