package kinds

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// podOverride is an element of podTemplateOverrides (Trainer v2.1).
type podOverride struct {
	TargetJobs []struct {
		Name string `json:"name"`
	} `json:"targetJobs"`
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     *podPatch         `json:"spec"`
}

// runtimePatch is an element of runtimePatches (Trainer v2.2 and later).
type runtimePatch struct {
	Manager             string       `json:"manager"`
	Time                *metav1.Time `json:"time"`
	TrainingRuntimeSpec struct {
		Template struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Spec     struct {
				ReplicatedJobs []jobPatch `json:"replicatedJobs"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"trainingRuntimeSpec"`
}

type jobPatch struct {
	Name     string `json:"name"`
	Template struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
		Spec     struct {
			Template struct {
				Metadata metav1.ObjectMeta `json:"metadata"`
				Spec     *podPatch         `json:"spec"`
			} `json:"template"`
		} `json:"spec"`
	} `json:"template"`
}

// podPatch is what of a pod a TrainJob may change: no resources, no schedulerName, no
// priorityClassName.
type podPatch struct {
	ServiceAccountName            *string                       `json:"serviceAccountName"`
	NodeSelector                  map[string]string             `json:"nodeSelector"`
	Affinity                      *corev1.Affinity              `json:"affinity"`
	Tolerations                   []corev1.Toleration           `json:"tolerations"`
	Volumes                       []corev1.Volume               `json:"volumes"`
	InitContainers                []containerPatch              `json:"initContainers"`
	Containers                    []containerPatch              `json:"containers"`
	SchedulingGates               []corev1.PodSchedulingGate    `json:"schedulingGates"`
	ImagePullSecrets              []corev1.LocalObjectReference `json:"imagePullSecrets"`
	SecurityContext               *corev1.PodSecurityContext    `json:"securityContext"`               // v2.2
	TerminationGracePeriodSeconds *int64                        `json:"terminationGracePeriodSeconds"` // v2.3
}

type containerPatch struct {
	Name            string                  `json:"name"`
	Env             []corev1.EnvVar         `json:"env"`
	VolumeMounts    []corev1.VolumeMount    `json:"volumeMounts"`
	SecurityContext *corev1.SecurityContext `json:"securityContext"` // v2.2
}

// mostOverrides is how many overrides are merged: the API sets no limit, and every merge looks at the whole
// pod. mostPatches is how many patches the API takes (v2.2.0 trainjob_types.go, MaxItems).
const mostOverrides, mostPatches = 256, 16

// override applies podTemplateOverrides in their order.
func (t *resolution) override() {
	if n := len(t.spec.PodTemplateOverrides); n > mostOverrides {
		t.r.problem("spec.podTemplateOverrides", fmt.Sprintf("a list of %d", n), fmt.Sprintf("at most %d", mostOverrides))
		return
	}
	for i, o := range t.spec.PodTemplateOverrides {
		at := job.Path("spec.podTemplateOverrides").Index(i)
		for k, target := range o.TargetJobs {
			t.change(target.Name, at.Child("targetJobs").Index(k), at, &o.Metadata, o.Spec)
		}
	}
}

// patch applies runtimePatches in their order.
func (t *resolution) patch() {
	if n := len(t.spec.RuntimePatches); n > mostPatches {
		t.r.problem("spec.runtimePatches", fmt.Sprintf("a list of %d", n), fmt.Sprintf("at most %d", mostPatches))
		return
	}
	for i := range t.spec.RuntimePatches {
		jobs := t.spec.RuntimePatches[i].TrainingRuntimeSpec.Template.Spec.ReplicatedJobs
		at := job.Path("spec.runtimePatches").Index(i).Child("trainingRuntimeSpec", "template", "spec", "replicatedJobs")
		for k := range jobs {
			template := &jobs[k].Template.Spec.Template
			inner := at.Index(k).Child("template", "spec", "template")
			t.change(jobs[k].Name, at.Index(k).Child("name"), inner, &template.Metadata, template.Spec)
		}
	}
}

// change merges one patch into the role it names; named is where it says the name, at
// is the pod template of the patch.
func (t *resolution) change(name string, named, at job.Path, meta *metav1.ObjectMeta, p *podPatch) {
	i := slices.IndexFunc(t.out, func(r job.Role) bool { return r.Name == name })
	if i < 0 {
		if t.runtime != nil {
			t.r.skip(t.r.anchor(named), job.PatchedJobMissing, append([]string{name}, rolesOf(t.out)...)...)
		}
		return
	}
	pod := &t.out[i].Pod
	pod.Labels = merged(pod.Labels, meta.Labels)
	pod.Annotations = merged(pod.Annotations, meta.Annotations)
	if p == nil {
		return
	}
	m := merge{pod: pod, at: at.Child("spec")}
	m.scalars(p)
	m.lists(p)
	for k := range p.InitContainers {
		t.container(&m, "initContainers", pod.Spec.InitContainers, k, &p.InitContainers[k])
	}
	for k := range p.Containers {
		t.container(&m, "containers", pod.Spec.Containers, k, &p.Containers[k])
	}
}

// container merges a patch of a container into the one of that name.
func (t *resolution) container(m *merge, field string, all []corev1.Container, k int, p *containerPatch) {
	from := m.at.Child(field).Index(k)
	i := slices.IndexFunc(all, func(c corev1.Container) bool { return c.Name == p.Name })
	if i < 0 {
		if t.runtime != nil {
			t.r.skip(from, job.PatchedContainerMissing, p.Name, field)
		}
		return
	}
	c, rel := &all[i], job.Path(field).Index(i)
	mergeEnv(m.pod, rel, &c.Env, p.Env, from.Child("env"))
	upsert(&c.VolumeMounts, p.VolumeMounts, func(v corev1.VolumeMount) string { return v.MountPath },
		m.elements(rel.Child("volumeMounts"), from.Child("volumeMounts")))
	if p.SecurityContext != nil {
		c.SecurityContext = p.SecurityContext
		m.origin(rel.Child("securityContext"), from.Child("securityContext"))
	}
}

// merge is a strategic merge of a patch into a pod: maps are joined, lists with a key are
// joined by it, other lists are replaced (k8s.io/api/core/v1, patchStrategy tags). It is
// done by hand because every part has to remember where it comes from.
type merge struct {
	pod *job.Pod
	at  job.Path // the pod spec of the patch
}

func (m *merge) origin(rel, at job.Path) {
	m.pod.Origins.Add(job.Origin{Rel: rel, Path: at})
}

func (m *merge) scalars(p *podPatch) {
	spec := &m.pod.Spec
	if p.ServiceAccountName != nil {
		spec.ServiceAccountName = *p.ServiceAccountName
		m.origin("serviceAccountName", m.at.Child("serviceAccountName"))
	}
	for _, key := range sortedKeys(p.NodeSelector) {
		m.origin(job.Path("nodeSelector").Key(key), m.at.Child("nodeSelector").Key(key))
	}
	spec.NodeSelector = merged(spec.NodeSelector, p.NodeSelector)
	if p.SecurityContext != nil {
		spec.SecurityContext = p.SecurityContext
		m.origin("securityContext", m.at.Child("securityContext"))
	}
	if p.TerminationGracePeriodSeconds != nil {
		spec.TerminationGracePeriodSeconds = p.TerminationGracePeriodSeconds
		m.origin("terminationGracePeriodSeconds", m.at.Child("terminationGracePeriodSeconds"))
	}
	if p.Affinity != nil {
		m.affinity(p.Affinity)
	}
}

// affinity replaces the kinds of affinity that the patch names and leaves the others.
func (m *merge) affinity(p *corev1.Affinity) {
	if m.pod.Spec.Affinity == nil {
		m.pod.Spec.Affinity = &corev1.Affinity{}
	}
	to := m.pod.Spec.Affinity
	set := func(field string) { m.origin(job.Path("affinity").Child(field), m.at.Child("affinity", field)) }
	if p.NodeAffinity != nil {
		to.NodeAffinity = p.NodeAffinity
		set("nodeAffinity")
	}
	if p.PodAffinity != nil {
		to.PodAffinity = p.PodAffinity
		set("podAffinity")
	}
	if p.PodAntiAffinity != nil {
		to.PodAntiAffinity = p.PodAntiAffinity
		set("podAntiAffinity")
	}
}

func (m *merge) lists(p *podPatch) {
	spec := &m.pod.Spec
	if p.Tolerations != nil {
		spec.Tolerations = p.Tolerations
		m.origin("tolerations", m.at.Child("tolerations"))
	}
	upsert(&spec.Volumes, p.Volumes, func(v corev1.Volume) string { return v.Name },
		m.elements("volumes", m.at.Child("volumes")))
	upsert(&spec.SchedulingGates, p.SchedulingGates, func(g corev1.PodSchedulingGate) string { return g.Name },
		m.elements("schedulingGates", m.at.Child("schedulingGates")))
	upsert(&spec.ImagePullSecrets, p.ImagePullSecrets, func(s corev1.LocalObjectReference) string { return s.Name },
		m.elements("imagePullSecrets", m.at.Child("imagePullSecrets")))
}

// elements records, for every element of a list that is merged, where it comes from.
func (m *merge) elements(rel, at job.Path) func(to, from int) {
	return func(to, from int) { m.origin(rel.Index(to), at.Index(from)) }
}

// mergeEnv joins variables by name and records where each comes from.
func mergeEnv(p *job.Pod, container job.Path, to *[]corev1.EnvVar, from []corev1.EnvVar, at job.Path) {
	m := merge{pod: p}
	upsert(to, from, func(e corev1.EnvVar) string { return e.Name }, m.elements(container.Child("env"), at))
}

// upsert joins two lists by key: an element of from replaces the one with its key, or is
// appended. note hears which position in to was set by which in from.
func upsert[E any](to *[]E, from []E, key func(E) string, note func(to, from int)) {
	if len(from) == 0 {
		return
	}
	position := make(map[string]int, len(*to)+len(from))
	for i, e := range slices.Backward(*to) {
		position[key(e)] = i
	}
	out := slices.Clone(*to)
	for i, e := range from {
		k, ok := position[key(e)]
		if ok {
			out[k] = e
		} else {
			k = len(out)
			out = append(out, e)
		}
		position[key(e)] = k
		note(k, i)
	}
	*to = out
}

// merged is base with more on top; neither is changed.
func merged(base, more map[string]string) map[string]string {
	if len(more) == 0 {
		return base
	}
	out := make(map[string]string, len(base)+len(more))
	maps.Copy(out, base)
	maps.Copy(out, more)
	return out
}

// rolesOf are the names of roles in their order, in quotes.
func rolesOf(roles []job.Role) []string {
	out := make([]string, len(roles))
	for i := range roles {
		out[i] = strconv.Quote(roles[i].Name)
	}
	return out
}
