package kinds

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

var trainJob = &Kind{
	Name:     "TrainJob",
	Resource: "trainjobs",
	GVKs:     []schema.GroupVersionKind{trainer("TrainJob")},
	Doc: "A TrainJob resolved against the runtime it names, as Kubeflow Trainer v2 does it: the replicated Jobs of " +
		"the runtime's JobSet, with podTemplateOverrides (v2.1) or runtimePatches (v2.2 and later) and with what " +
		"spec.trainer and spec.initializer say. Without the runtime there is one role, node, as far as " +
		"spec.trainer tells. Environment and volumes that Trainer adds are not part of the pods.",
	Runs: Told{
		English: "A TrainJob is turned into a JobSet by its runtime: initializers that load the dataset and the model come first, then the nodes train (with torchrun, or mpirun from a launcher). A failed initializer means that no node has started. When one node fails, the others lose their connections to it: these are consequences.",
		Chinese: "TrainJob 由其 runtime 转换成 JobSet：先运行加载数据集和模型的 initializer，再由各节点训练（torchrun，或由 launcher 运行 mpirun）。initializer 失败意味着训练节点还没有启动。某个节点失败后，其他节点失去与它的连接，这是结果。",
	},
	Needs:   trainJobNeeds,
	Read:    readTrainJob,
	Pods:    func(ref job.Ref) labels.Selector { return selector(requirement(jobSetName, ref.Name)) },
	Between: []schema.GroupVersionKind{jobSet.GVKs[0], batchJobs},
	Place:   placeInJobSet,
	State:   trainJobState, Completed: jobsCompleted("status", "jobsStatus"),
	Operator: Operator{
		Validates: Validation{
			Webhook: "validator.trainjob.trainer.kubeflow.org", // trainer v2.1.0 pkg/webhooks/trainjob_webhook.go
			Refuses: []string{
				"fields-of-another-version", "immutable-field-changed", "job-name-invalid", "managed-by-unknown", "patch-target-missing",
				"trainjob-field-refused",
			},
		},
		Names: dnsLabel1035, RoleNames: dnsLabel,
		LongestName: jobSetLongestName,
		Peers:       PeersByService,
		ManagedBy:   ManagedBy{At: "spec.managedBy", Known: []string{trainJobController, multiKueue}}, // pkg/apis/trainer/v1alpha1/trainjob_types.go
		Fixed:       trainJobFixed,
		KeptFields:  []job.Path{"spec.trainer", "spec.initializer"}, KeptWhy: "Trainer changes the JobSet of a job only while both are suspended",
		EndsWithoutPods: true, // its Jobs have 0 completions and are complete at once
		World:           WorldOfRole, Nodes: "spec.trainer.numNodes",
		Procs:      Procs{At: "spec.trainer.numProcPerNode", Role: nodeName},
		Containers: []string{nodeName, datasetInitializer, modelInitializer}, // pkg/constants/constants.go
		NCCL:       true,
		LabelsBy:   jobsController, LabelsAt: trainJobLabelsAt,
		Labels:    map[string]string{"scheduling.x-k8s.io/pod-group": "the coscheduling plugin of Trainer"}, // pkg/runtime/framework/plugins/coscheduling
		PodGroups: PodGroupsByField, Kueue: true,
	},
}

// trainJobFixed: v2.1.0 pkg/apis/trainer/v1alpha1/trainjob_types.go (XValidation) and
// pkg/runtime/framework/plugins/jobset; v2.3.0 for runtimePatches.
var trainJobFixed = []FixedField{
	{At: "spec.runtimeRef", Reason: "the JobSet of the job was made from that runtime"},
	{At: "spec.managedBy", Default: trainJobController, Reason: "who reconciles a job is settled when it is created"},
	{At: "spec.activeDeadlineSeconds", Reason: "how long a job may take is settled when it is created"}, // v2.3.0
	{At: "spec.podTemplateOverrides", WhileRunning: true, Reason: "the pods exist: suspend the job, wait until none is active, and change it then"},
	{At: "spec.runtimePatches", WhileRunning: true, Reason: "the pods exist: suspend the job, wait until none is active, and change it then"},
}

// trainJobLabelsAt are the places where a job writes over the runtime's templates.
func trainJobLabelsAt(j *job.Job) (out []job.Path) {
	for at := range j.Elements("spec.podTemplateOverrides") {
		out = append(out, at.Child("metadata"))
	}
	for patch := range j.Elements("spec.runtimePatches") {
		for at := range j.Elements(patch.Child("trainingRuntimeSpec", "template", "spec", "replicatedJobs")) {
			out = append(out, at.Child("template", "spec", "template", "metadata"))
		}
	}
	return out
}

// trainJobController is the value of managedBy that names Trainer itself.
const trainJobController = "trainer.kubeflow.org/trainjob-controller"

// The names that Trainer looks for (github.com/kubeflow/trainer/v2 v2.1.0 pkg/constants/constants.go).
const (
	ancestorLabel      = "trainer.kubeflow.org/trainjob-ancestor-step"
	ancestorTrainer    = "trainer"
	datasetInitializer = "dataset-initializer"
	modelInitializer   = "model-initializer"
	nodeName           = "node" // the container that trains, and the Job it belongs to
	launcherName       = "launcher"
)

// trainer is a kind of the group trainer.kubeflow.org.
func trainer(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "trainer.kubeflow.org", Version: "v1alpha1", Kind: kind}
}

// trainJobSpec holds the fields of v2.1 and of v2.2 and later: both call themselves
// v1alpha1, and which one a cluster serves cannot be seen in the object.
type trainJobSpec struct {
	RuntimeRef           runtimeRef        `json:"runtimeRef"`
	Initializer          *initializer      `json:"initializer"`
	Trainer              *trainerSpec      `json:"trainer"`
	Labels               map[string]string `json:"labels"`
	Annotations          map[string]string `json:"annotations"`
	PodTemplateOverrides []podOverride     `json:"podTemplateOverrides"`
	PodSpecOverrides     any               `json:"podSpecOverrides"` // v2.0
	RuntimePatches       []runtimePatch    `json:"runtimePatches"`
	Suspend              *bool             `json:"suspend"`
	ManagedBy            *string           `json:"managedBy"`
	ActiveDeadline       *int64            `json:"activeDeadlineSeconds"` // v2.3
}

type runtimeRef struct {
	APIGroup *string `json:"apiGroup"`
	Kind     *string `json:"kind"`
	Name     string  `json:"name"`
}

type initializer struct {
	Dataset *initializerSource `json:"dataset"`
	Model   *initializerSource `json:"model"`
}

type initializerSource struct {
	StorageURI *string                      `json:"storageUri"`
	Env        []corev1.EnvVar              `json:"env"`
	SecretRef  *corev1.LocalObjectReference `json:"secretRef"`
}

type trainerSpec struct {
	Image            *string                      `json:"image"`
	Command          []string                     `json:"command"`
	Args             []string                     `json:"args"`
	Env              []corev1.EnvVar              `json:"env"`
	NumNodes         *int32                       `json:"numNodes"`
	ResourcesPerNode *corev1.ResourceRequirements `json:"resourcesPerNode"`
	NumProcPerNode   *intstr.IntOrString          `json:"numProcPerNode"` // an integer only since v2.2
}

func trainJobNeeds(u *unstructured.Unstructured) []Want {
	ref, _ := dig(u, "spec", "runtimeRef").(map[string]any)
	kind, name := text(ref, "kind"), text(ref, "name")
	switch {
	case name == "":
		return nil
	case kind == "TrainingRuntime":
		return []Want{{GVK: trainer(kind), Namespace: u.GetNamespace(), Name: name}}
	case kind == "" || kind == "ClusterTrainingRuntime":
		return []Want{{GVK: trainer("ClusterTrainingRuntime"), Name: name}}
	default:
		return nil
	}
}

func readTrainJob(u *unstructured.Unstructured, got Got) (*job.Job, error) {
	r, o := open[trainJobSpec]("TrainJob", u)
	if o == nil {
		return r.finish(nil)
	}
	j := r.start(u, o.APIVersion, &o.Metadata)
	j.Suspended = o.Spec.Suspend != nil && *o.Spec.Suspend
	if m := o.Spec.ManagedBy; m != nil && *m != trainJobController {
		j.ManagedElsewhere = *m
	}
	if r.has("spec.podSpecOverrides") {
		r.skip("spec.podSpecOverrides", job.FieldOfOlderTrainer)
	}
	if len(o.Spec.PodTemplateOverrides) > 0 && len(o.Spec.RuntimePatches) > 0 {
		r.skip("spec.runtimePatches", job.PatchesOfTwoTrainers)
	}
	if s := o.Spec.Trainer; s != nil {
		r.namedOnce("spec.trainer.env", s.Env)
	}
	if s := o.Spec.Initializer; s != nil && s.Dataset != nil {
		r.namedOnce("spec.initializer.dataset.env", s.Dataset.Env)
	}
	if s := o.Spec.Initializer; s != nil && s.Model != nil {
		r.namedOnce("spec.initializer.model.env", s.Model.Env)
	}
	t := &resolution{r: r, name: j.Ref.Name, spec: &o.Spec, ref: r.anchor("spec.runtimeRef"), runtime: lookup(r, u, got)}
	t.roles()
	t.override()
	t.patch()
	t.initialize()
	t.train()
	t.installFlux()
	t.openPort()
	for i := range t.out {
		settle(&t.out[i])
	}
	t.launch()
	for i := range t.out {
		t.out[i].Pod.Partial = t.runtime == nil
	}
	j.Roles = t.out
	t.places(j)
	j.Gang.Queue = o.Spec.Annotations[volcanoQueue]
	t.podGroup(&j.Gang)
	gang(r, j)
	return r.finish(j)
}

// namedOnce notes variables of one name, which the API server refuses: in the CRD the list is a map by name
// (v2.1.0 manifests/base/crds/trainer.kubeflow.org_trainjobs.yaml, x-kubernetes-list-map-keys).
func (r *reader) namedOnce(at job.Path, env []corev1.EnvVar) {
	first := make(map[string]int, len(env))
	for i, e := range env {
		if other, twice := first[e.Name]; twice && e.Name != "" {
			r.problem(at.Index(i).Child("name"), fmt.Sprintf("%q, as %s has", cut(e.Name), at.Index(other)), "a name that no other variable of the list has")
			continue
		}
		first[e.Name] = i
	}
}

// lookup asks for the runtime. Without it the reader goes on with what the job says.
func lookup(r *reader, u *unstructured.Unstructured, got Got) *runtimeSpec {
	at := r.anchor("spec.runtimeRef")
	wants := trainJobNeeds(u)
	if len(wants) == 0 {
		if name := at.Child("name"); !r.has("spec.runtimeRef.name") {
			r.lacks(r.anchor(name), "missing", "the name of a ClusterTrainingRuntime or TrainingRuntime")
		} else {
			r.skip("spec.runtimeRef.kind", job.RuntimeKindUnknown)
		}
		return nil
	}
	want := wants[0]
	object, presence := got.Get(want)
	named := fmt.Sprintf("%s %s", want.GVK.Kind, want.Name)
	switch {
	case presence == job.Absent:
		r.skip(at, job.RuntimeMissing, named)
		return nil
	case presence != job.Present || object == nil:
		r.skip(at, job.RuntimeUnseen, named)
		return nil
	}
	inner, o := open[runtimeSpec](want.GVK.Kind, object)
	for _, p := range inner.problems {
		r.skip(at, job.RuntimeUnreadable, named, p.String())
	}
	for _, u := range inner.unread {
		if u.NotAField() {
			kind := job.RuntimeFieldUnknown
			if u.Kind == job.FieldNewer {
				kind = job.RuntimeFieldNewer
			}
			r.skip(at, kind, string(inner.byName(u.Path)), named, u.String())
		}
	}
	if o == nil {
		return nil
	}
	return &o.Spec
}

// trainJobState has no condition for running to go by: what the JobSet says about its
// Jobs is copied to status.jobsStatus.
func trainJobState(u *unstructured.Unstructured) State {
	order := []verdict{{"Failed", Failed}, {"Complete", Succeeded}, {"Suspended", Suspended}}
	if s, ok := decide(conditions(u), order); ok {
		return s
	}
	return jobsState(digList(u, "status", "jobsStatus"))
}
