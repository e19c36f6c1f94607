package kinds

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// runtimeSpec is the spec of ClusterTrainingRuntime and TrainingRuntime.
type runtimeSpec struct {
	MLPolicy       mlPolicy       `json:"mlPolicy"`
	PodGroupPolicy podGroupPolicy `json:"podGroupPolicy"`
	Template       struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     jobSetSpec        `json:"spec"`
	} `json:"template"`
}

type mlPolicy struct {
	NumNodes *int32       `json:"numNodes"`
	Torch    *torchPolicy `json:"torch"`
	MPI      *mpiPolicy   `json:"mpi"`
	JAX      any          `json:"jax"`     // v2.2
	XGBoost  any          `json:"xgboost"` // v2.2
	Flux     any          `json:"flux"`    // v2.2
}

type torchPolicy struct {
	NumProcPerNode *intstr.IntOrString `json:"numProcPerNode"`
	ElasticPolicy  any                 `json:"elasticPolicy"`
	EnvInjection   any                 `json:"envInjection"` // v2.3
}

type mpiPolicy struct {
	NumProcPerNode    *int32  `json:"numProcPerNode"`
	MPIImplementation *string `json:"mpiImplementation"`
	SSHAuthMountPath  *string `json:"sshAuthMountPath"`
	RunLauncherAsNode *bool   `json:"runLauncherAsNode"`
}

type podGroupPolicy struct {
	Coscheduling any `json:"coscheduling"`
	Volcano      any `json:"volcano"`
}

// resolution is a TrainJob on its way to pods.
type resolution struct {
	name    string // of the job, and of its JobSet
	r       *reader
	spec    *trainJobSpec
	ref     job.Path     // spec.runtimeRef, where everything of the runtime is said to be written
	runtime *runtimeSpec // nil: not seen
	out     []job.Role
	steps   []string // of every role, its ancestor step
}

// asNode says whether the MPI launcher counts as one of the nodes.
func (t *resolution) asNode() bool {
	return t.runtime != nil && t.runtime.MLPolicy.MPI != nil &&
		t.runtime.MLPolicy.MPI.RunLauncherAsNode != nil && *t.runtime.MLPolicy.MPI.RunLauncherAsNode
}

// roles makes the roles of the runtime's JobSet, or the one that is known without it.
func (t *resolution) roles() {
	if t.runtime == nil {
		t.add(nodeName, ancestorTrainer, &corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: nodeName}}},
		}, nil, t.nodes(1, nil))
		return
	}
	for i := range t.runtime.Template.Spec.ReplicatedJobs {
		rj := &t.runtime.Template.Spec.ReplicatedJobs[i]
		step := rj.Template.Labels[ancestorLabel]
		t.add(rj.Name, step, &rj.Template.Spec.Template, completedBefore(rj.DependsOn), t.pods(rj, step))
		jobSetMarks(&t.out[len(t.out)-1], t.name, rj.Name, &rj.Template.Spec)
	}
	if len(t.out) == 0 {
		t.r.skip(t.ref, job.RuntimeWithoutJobs)
	}
}

// places ties the pods of each Job to a place where the runtime, the job or a patch asks for that, the finest first
// (v2.1.0 pkg/runtime/framework/plugins/jobset/builder.go, NewBuilder; what is said of the JobSet is of all its Jobs).
func (t *resolution) places(j *job.Job) {
	if t.runtime == nil {
		return
	}
	all := t.runtime.Template.Spec.ReplicatedJobs
	jobSetPlaces(j, all, func(i int) (topology string, at job.Path) {
		var said []map[string]string
		for _, p := range t.spec.RuntimePatches {
			for _, one := range p.TrainingRuntimeSpec.Template.Spec.ReplicatedJobs {
				if one.Name == all[i].Name {
					said = append(said, one.Template.Metadata.Annotations)
				}
			}
		}
		said = append(said, all[i].Template.Annotations)
		for _, p := range t.spec.RuntimePatches {
			said = append(said, p.TrainingRuntimeSpec.Template.Metadata.Annotations)
		}
		for _, marks := range append(said, t.spec.Annotations, t.runtime.Template.Metadata.Annotations) {
			if _, byHand := marks[jobSetNodeSelector]; byHand {
				return "", ""
			}
			if marks[jobSetExclusive] != "" {
				return marks[jobSetExclusive], t.ref
			}
		}
		return "", ""
	})
}

// pods is how many pods of one replicated Job run (v2.1.0 pkg/runtime/core/trainingruntime.go
// newRuntimeInfo, the plugins torch, mpi and plainml, and jobset/builder.go).
func (t *resolution) pods(rj *replicatedJob, step string) int {
	jobs := 1
	if step == "" {
		jobs = positive(rj.Replicas, 1)
	}
	each := parallelism(&rj.Template.Spec)
	mpi := t.runtime.MLPolicy.MPI != nil
	if step == ancestorTrainer {
		each = positive(t.runtime.MLPolicy.NumNodes, 1)
	}
	if step == ancestorTrainer && !mpi || rj.Name == nodeName && mpi {
		each = t.nodes(each, rj)
	}
	return jobs * each
}

// nodes is what spec.trainer says about the number of nodes, else what the runtime does.
func (t *resolution) nodes(otherwise int, rj *replicatedJob) int {
	if t.spec.Trainer == nil || t.spec.Trainer.NumNodes == nil {
		return otherwise
	}
	n := t.r.count("spec.trainer.numNodes", t.spec.Trainer.NumNodes, otherwise)
	if rj != nil && t.asNode() {
		return max(n-1, 1)
	}
	return n
}

func (t *resolution) add(name, step string, template *corev1.PodTemplateSpec, after []string, n int) {
	template = template.DeepCopy() // the runtime is shared by all jobs that name it
	role := job.Role{
		Name: name, Replicas: job.Exactly(n), Jobs: min(1, n), After: after, Path: t.ref, ReplicasPath: t.ref,
		Pod: job.Pod{
			Spec: template.Spec, Labels: template.Labels, Annotations: template.Annotations,
			Path: t.ref, Origins: job.OriginsOf(job.Origin{Path: t.ref, Whole: true}),
		},
	}
	role.Pod.Spec.RestartPolicy = cmp.Or(role.Pod.Spec.RestartPolicy, corev1.RestartPolicyOnFailure) // JobSet's webhook
	if t.trains(name, step) {
		role.Path = t.r.written("spec.trainer", t.ref)
		role.ReplicasPath = t.r.written("spec.trainer.numNodes", role.Path)
		if t.asNode() { // which is counted, and a role of its own
			role.PodsBeside = 1
		}
	}
	switch step {
	case ancestorTrainer:
		role.Container = nodeName
	case datasetInitializer, modelInitializer:
		role.Container = step
	}
	t.out, t.steps = append(t.out, role), append(t.steps, step)
}

// trains says whether resources and environment of spec.trainer go to this role.
func (t *resolution) trains(name, step string) bool {
	return step == ancestorTrainer || name == nodeName && t.asNode()
}

// train applies spec.trainer to the containers called node (jobset/builder.go, Trainer).
func (t *resolution) train() {
	if t.spec.Trainer == nil {
		return
	}
	for i := range t.out {
		p := &t.out[i].Pod
		for k := range p.Spec.Containers {
			if p.Spec.Containers[k].Name == nodeName && t.trains(t.out[i].Name, t.steps[i]) {
				t.trainContainer(p, k, t.steps[i] == ancestorTrainer)
			}
		}
	}
}

func (t *resolution) trainContainer(p *job.Pod, k int, program bool) {
	const from = job.Path("spec.trainer")
	c, s := &p.Spec.Containers[k], t.spec.Trainer
	rel := job.Path("containers").Index(k)
	set := func(field, source string) {
		p.Origins.Add(job.Origin{Rel: rel.Child(field), Path: from.Child(source)})
	}
	if program && s.Image != nil {
		c.Image = *s.Image
		set("image", "image")
	}
	if program && s.Command != nil {
		c.Command = s.Command
		set("command", "command")
	}
	if program && s.Args != nil {
		c.Args = s.Args
		set("args", "args")
	}
	if res := s.ResourcesPerNode; res != nil && (res.Limits != nil || res.Requests != nil) {
		c.Resources = *res.DeepCopy()
		set("resources", "resourcesPerNode")
	}
	mergeEnv(p, rel, &c.Env, s.Env, from.Child("env"))
}

// installFlux adds the init container of the flux plugin. Its image is that of a variable of the container called node
// (v2.3.0 pkg/runtime/framework/plugins/flux/flux.go).
func (t *resolution) installFlux() {
	if t.runtime == nil || t.runtime.MLPolicy.Flux == nil {
		return
	}
	for i := range t.out {
		if t.out[i].Name != nodeName {
			continue
		}
		p, image, at := &t.out[i].Pod, "ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy", t.ref
		for k := range p.Spec.Containers {
			for n, e := range p.Spec.Containers[k].Env {
				if p.Spec.Containers[k].Name == nodeName && e.Name == "FLUX_VIEW_IMAGE" {
					image, at = e.Value, p.At(job.Path("containers").Index(k).Child("env").Index(n))
				}
			}
		}
		injectInit(p, corev1.Container{Name: "flux-installer", Image: image}, at)
	}
}

// rendezvousPort is what the torch plugin opens on the container called node (v2.1.0
// pkg/constants/constants.go, ContainerTrainerPort); it counts where the pod uses the host's network.
const rendezvousPort = 29500

// openPort adds the port of the torch plugin, which acts only where spec.trainer is written.
func (t *resolution) openPort() {
	if t.runtime == nil || t.runtime.MLPolicy.Torch == nil || t.spec.Trainer == nil {
		return
	}
	for i := range t.out {
		p := &t.out[i].Pod
		k := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == nodeName })
		if k < 0 || t.steps[i] != ancestorTrainer {
			continue
		}
		c := &p.Spec.Containers[k]
		if slices.ContainsFunc(c.Ports, func(q corev1.ContainerPort) bool { return q.ContainerPort == rendezvousPort }) {
			continue
		}
		inject(p, job.Path("containers").Index(k).Child("ports").Index(len(c.Ports)), t.ref)
		c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: rendezvousPort, Protocol: corev1.ProtocolTCP})
	}
}

// initialize applies spec.initializer to the containers that fetch data and model.
func (t *resolution) initialize() {
	if t.spec.Initializer == nil {
		return
	}
	for i := range t.out {
		switch t.steps[i] {
		case datasetInitializer:
			initializeFrom(&t.out[i].Pod, datasetInitializer, t.spec.Initializer.Dataset, "spec.initializer.dataset")
		case modelInitializer:
			initializeFrom(&t.out[i].Pod, modelInitializer, t.spec.Initializer.Model, "spec.initializer.model")
		}
	}
}

func initializeFrom(p *job.Pod, container string, s *initializerSource, at job.Path) {
	k := slices.IndexFunc(p.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })
	if s == nil || k < 0 {
		return
	}
	c, rel := &p.Spec.Containers[k], job.Path("containers").Index(k)
	if s.StorageURI != nil {
		uri := []corev1.EnvVar{{Name: "STORAGE_URI", Value: *s.StorageURI}}
		upsert(&c.Env, uri, func(e corev1.EnvVar) string { return e.Name },
			func(to, _ int) { inject(p, rel.Child("env").Index(to), at.Child("storageUri")) })
	}
	mergeEnv(p, rel, &c.Env, s.Env, at.Child("env"))
	if s.SecretRef != nil {
		inject(p, rel.Child("envFrom").Index(len(c.EnvFrom)), at.Child("secretRef"))
		c.EnvFrom = append(c.EnvFrom, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: *s.SecretRef}})
	}
}

// launch adds the number of processes that Trainer passes on, where the command itself
// is silent.
func (t *resolution) launch() {
	t.slots()
	if t.runtime == nil || t.spec.Trainer == nil {
		t.launchUnseen()
		return
	}
	for i := range t.out {
		if !t.trains(t.out[i].Name, t.steps[i]) {
			continue
		}
		l := &t.out[i].Launch
		if n := t.procs(&t.out[i]); n > 0 && l.ProcsPath == "" {
			l.ProcsPerNode = job.Exactly(n)
			l.ProcsPath = t.r.written("spec.trainer.numProcPerNode", t.ref)
			l.ProcsOfRuntime = l.ProcsPath == t.ref && t.runtimeCounts()
		}
	}
}

// runtimeCounts says whether the runtime writes the number of torch's processes as a number, and not as a word.
func (t *resolution) runtimeCounts() bool {
	torch := t.runtime.MLPolicy.Torch
	return torch != nil && torch.NumProcPerNode != nil && torch.NumProcPerNode.IntValue() > 0
}

// slots is the list of hosts that Trainer writes for Open MPI (v2.1.0 plugin mpi, buildHostFileConfigMap).
func (t *resolution) slots() {
	if t.runtime == nil || t.runtime.MLPolicy.MPI == nil {
		return
	}
	if of := t.runtime.MLPolicy.MPI.MPIImplementation; of != nil && *of != "" && *of != "OpenMPI" {
		return
	}
	launcher := slices.IndexFunc(t.out, func(r job.Role) bool { return r.Name == launcherName })
	trainer := slices.Index(t.steps, ancestorTrainer)
	if launcher < 0 || trainer < 0 {
		return
	}
	var s job.Slots
	for i := range t.out {
		if name := t.out[i].Name; name == nodeName || name == launcherName && t.asNode() {
			s.Hosts += t.out[i].Replicas.Max
		}
	}
	s.Each = t.procs(&t.out[trainer])
	t.out[launcher].Launch.Slots = s
}

// launchUnseen takes what the job itself says when its runtime is not known.
func (t *resolution) launchUnseen() {
	if t.spec.Trainer == nil || t.spec.Trainer.NumProcPerNode == nil || len(t.out) == 0 {
		return
	}
	if l := &t.out[0].Launch; t.runtime == nil && l.ProcsPath == "" {
		if n := t.spec.Trainer.NumProcPerNode.IntValue(); n > 0 {
			l.ProcsPerNode, l.ProcsPath = job.Exactly(n), "spec.trainer.numProcPerNode"
		}
	}
}

// procs is Trainer's own arithmetic; 0 leaves it to torchrun, which counts the GPUs it
// sees. Trainer takes the first resource whose name contains "gpu" for GPUs: on any other
// accelerator auto becomes the number of CPUs (v2.1.0 plugins torch and mpi, pkg/runtime/runtime.go).
func (t *resolution) procs(role *job.Role) int {
	policy := t.runtime.MLPolicy
	var said *intstr.IntOrString
	if t.spec.Trainer != nil {
		said = t.spec.Trainer.NumProcPerNode
	}
	c, _ := role.Trainer()
	if c == nil {
		return 0
	}
	switch {
	case policy.Torch != nil:
		n := ptr.Deref(cmp.Or(said, policy.Torch.NumProcPerNode), intstr.FromString("auto"))
		if n.StrVal == "cpu" || n.StrVal == "auto" && namedGPUs(&c.Resources) == 0 {
			return max(1, cpus(&c.Resources))
		}
		return n.IntValue()
	case policy.MPI != nil && said != nil:
		return said.IntValue()
	case policy.MPI != nil && positive(policy.MPI.NumProcPerNode, 1) == 1:
		return max(1, namedGPUs(&c.Resources))
	case policy.MPI != nil:
		return positive(policy.MPI.NumProcPerNode, 1)
	default:
		return 0
	}
}

func namedGPUs(res *corev1.ResourceRequirements) int {
	for _, list := range []corev1.ResourceList{res.Limits, res.Requests} {
		for _, name := range sortedKeys(list) {
			if strings.Contains(strings.ToLower(string(name)), "gpu") {
				q := list[name]
				return clampCount(job.InBaseUnits(name, q))
			}
		}
	}
	return 0
}

func cpus(res *corev1.ResourceRequirements) int {
	q := res.Requests.Cpu()
	if q.IsZero() {
		q = res.Limits.Cpu()
	}
	return clampCount(q.Value())
}

// podGroup is the gang that the runtime's policy makes: all pods, initializers included.
func (t *resolution) podGroup(g *job.GangPolicy) {
	if t.runtime == nil || t.runtime.PodGroupPolicy.Coscheduling == nil && t.runtime.PodGroupPolicy.Volcano == nil {
		return
	}
	all := job.Job{Roles: t.out}
	g.MinMembers, g.Path = all.MaxPods(), t.ref
	if volcano, ok := t.runtime.PodGroupPolicy.Volcano.(map[string]any); ok {
		g.Together = inHyperNode("all pods lie", volcano["networkTopology"])
	}
}

// parallelism is together without remarks: the runtime is not the user's to correct.
func parallelism(spec *batchv1.JobSpec) int {
	return min(positive(spec.Parallelism, 1), positive(spec.Completions, 1<<31-1))
}

func positive(n *int32, otherwise int32) int { return max(int(ptr.Deref(n, otherwise)), 0) }

func clampCount(n int64) int { return int(min(max(n, 0), 1<<31-1)) }
