package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Reference is an object in the job's namespace that its pods name and cannot start without.
type Reference struct {
	Kind schema.GroupVersionKind
	Name string
	At   job.Path // where it is named
	Use  string   // what names it: "variable HF_TOKEN of container pytorch"
	Pull bool     // to pull images with
	// AnyName says that the API server takes whatever is written: the pods are made, and wait.
	AnyName bool
	// Cluster says that the object is in no namespace.
	Cluster bool
}

// The kinds of objects that pods name.
var (
	SecretKind         = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	ConfigMapKind      = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	DeviceClaimKind    = schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaim"}
	ClaimTemplateKind  = schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1", Kind: "ResourceClaimTemplate"}
	PluginsGroupKind   = schema.GroupVersionKind{Group: "scheduling.x-k8s.io", Version: "v1alpha1", Kind: "PodGroup"}
	VolcanoGroupKind   = schema.GroupVersionKind{Group: "scheduling.volcano.sh", Version: "v1beta1", Kind: "PodGroup"}
	VolumeClaimKind    = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
	ServiceAccountKind = schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
	PriorityClassKind  = schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
	RuntimeClassKind   = schema.GroupVersionKind{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}
)

// References are the Secrets, ConfigMaps, device claims and pod groups that the pods of a
// job name, in the order of its roles. What is marked optional is left out, and so is what
// the job's operator makes itself.
func References(j *job.Job) (out []Reference) {
	for r := range j.EachRole() {
		out = append(out, named(j, r)...)
	}
	return out
}

// named are the References of one role.
func named(j *job.Job, r *job.Role) (out []Reference) {
	add := func(kind schema.GroupVersionKind, name string, optional *bool, rel job.Path, use string) {
		if name != "" && (optional == nil || !*optional) {
			out = append(out, Reference{Kind: kind, Name: name, At: r.Pod.At(rel), Use: use})
		}
	}
	for c := range r.EachContainer() {
		containerReferences(c.Container, c.Rel, add)
	}
	before := len(out)
	for k := range r.Pod.Spec.Volumes {
		volumeReferences(&r.Pod.Spec.Volumes[k], job.Path("volumes").Index(k), add)
	}
	for k := range out[before:] {
		out[before+k].AnyName = true
	}
	for k, s := range r.Pod.Spec.ImagePullSecrets {
		if s.Name != "" {
			out = append(out, Reference{
				Kind: SecretKind, Name: s.Name, Pull: true, AnyName: true,
				At: r.Pod.At(job.Path("imagePullSecrets").Index(k).Child("name")), Use: "imagePullSecret of " + r.Name,
			})
		}
	}
	for k, c := range r.Pod.Spec.ResourceClaims {
		at := job.Path("resourceClaims").Index(k)
		if c.ResourceClaimName != nil {
			add(DeviceClaimKind, *c.ResourceClaimName, nil, at.Child("resourceClaimName"), "claim "+c.Name)
		}
		if c.ResourceClaimTemplateName != nil {
			add(ClaimTemplateKind, *c.ResourceClaimTemplateName, nil, at.Child("resourceClaimTemplateName"), "claim "+c.Name)
		}
	}
	return append(out, groupReferences(j, r)...)
}

// AllReferences are those of References, and the claims, service accounts and classes that the
// pods name, which a view of the cluster lists anyway.
func AllReferences(j *job.Job) (out []Reference) {
	for r := range j.EachRole() {
		out = append(out, ReferencesOf(j, r)...)
	}
	return out
}

// ReferencesOf are those of AllReferences that one role has.
func ReferencesOf(j *job.Job, r *job.Role) []Reference {
	out, spec := named(j, r), &r.Pod.Spec
	add := func(kind schema.GroupVersionKind, name string, rel job.Path, use string, cluster bool) {
		if name != "" {
			out = append(out, Reference{Kind: kind, Name: name, At: r.Pod.At(rel), Use: use, Cluster: cluster, AnyName: kind == VolumeClaimKind})
		}
	}
	for k, v := range spec.Volumes {
		if c := v.PersistentVolumeClaim; c != nil {
			add(VolumeClaimKind, c.ClaimName, job.Path("volumes").Index(k).Child("persistentVolumeClaim", "claimName"), "volume "+v.Name, false)
		}
	}
	add(ServiceAccountKind, spec.ServiceAccountName, "serviceAccountName", r.Name, false)
	if !strings.HasPrefix(spec.PriorityClassName, "system-") { // the API server makes these itself
		add(PriorityClassKind, spec.PriorityClassName, "priorityClassName", r.Name, true)
	}
	if spec.RuntimeClassName != nil {
		add(RuntimeClassKind, *spec.RuntimeClassName, "runtimeClassName", r.Name, true)
	}
	return out
}

type addReference func(kind schema.GroupVersionKind, name string, optional *bool, rel job.Path, use string)

func containerReferences(c *corev1.Container, rel job.Path, add addReference) {
	for i, e := range c.Env {
		if e.ValueFrom == nil {
			continue
		}
		at, use := rel.Child("env").Index(i).Child("valueFrom"), "variable "+e.Name+" of container "+c.Name
		if s := e.ValueFrom.SecretKeyRef; s != nil {
			add(SecretKind, s.Name, s.Optional, at.Child("secretKeyRef", "name"), use)
		}
		if m := e.ValueFrom.ConfigMapKeyRef; m != nil {
			add(ConfigMapKind, m.Name, m.Optional, at.Child("configMapKeyRef", "name"), use)
		}
	}
	for i, e := range c.EnvFrom {
		at, use := rel.Child("envFrom").Index(i), "envFrom of container "+c.Name
		if e.SecretRef != nil {
			add(SecretKind, e.SecretRef.Name, e.SecretRef.Optional, at.Child("secretRef", "name"), use)
		}
		if e.ConfigMapRef != nil {
			add(ConfigMapKind, e.ConfigMapRef.Name, e.ConfigMapRef.Optional, at.Child("configMapRef", "name"), use)
		}
	}
}

func volumeReferences(v *corev1.Volume, rel job.Path, add addReference) {
	use := "volume " + v.Name
	if v.Secret != nil {
		add(SecretKind, v.Secret.SecretName, v.Secret.Optional, rel.Child("secret", "secretName"), use)
	}
	if v.ConfigMap != nil {
		add(ConfigMapKind, v.ConfigMap.Name, v.ConfigMap.Optional, rel.Child("configMap", "name"), use)
	}
	if v.Projected == nil {
		return
	}
	for i, s := range v.Projected.Sources {
		at := rel.Child("projected", "sources").Index(i)
		if s.Secret != nil {
			add(SecretKind, s.Secret.Name, s.Secret.Optional, at.Child("secret", "name"), use)
		}
		if s.ConfigMap != nil {
			add(ConfigMapKind, s.ConfigMap.Name, s.ConfigMap.Optional, at.Child("configMap", "name"), use)
		}
	}
}

// Marks by which pods name the group they are placed with
// (sigs.k8s.io/scheduler-plugins apis/scheduling/v1alpha1/types.go,
// volcano.sh/apis pkg/apis/scheduling/v1beta1/labels.go).
const (
	PluginsGroup = "scheduling.x-k8s.io/pod-group"
	VolcanoGroup = "scheduling.k8s.io/group-name"
)

// groupReferences are pod groups that nobody but the user makes: operators with a gang
// scheduler make their own.
func groupReferences(j *job.Job, r *job.Role) (out []Reference) {
	if kinds.Of(j.Ref).PodGroups != kinds.PodGroupsOfUser {
		return nil
	}
	at := r.Pod.Path.Parent().Child("metadata")
	if name := r.Pod.Labels[PluginsGroup]; name != "" {
		out = append(out, Reference{Kind: PluginsGroupKind, AnyName: true, Name: name, At: at.Child("labels").Key(PluginsGroup), Use: "label " + PluginsGroup + " of " + r.Name})
	}
	if name := r.Pod.Annotations[VolcanoGroup]; name != "" {
		out = append(out, Reference{Kind: VolcanoGroupKind, AnyName: true, Name: name, At: at.Child("annotations").Key(VolcanoGroup), Use: "annotation " + VolcanoGroup + " of " + r.Name})
	}
	return out
}

// keyReference is a key of a ConfigMap or Secret that a container or volume names.
type keyReference struct {
	kind           schema.GroupVersionKind
	name, key, use string
	at             job.Path // of the key
}

// keyReferences are the keys that the pods of a job name, without those that may be missing.
func keyReferences(j *job.Job) (out []keyReference) {
	for _, e := range EachVariable(j) {
		use := "variable " + e.Name
		switch from := e.ValueFrom; {
		case from == nil:
		case from.ConfigMapKeyRef != nil && !optional(from.ConfigMapKeyRef.Optional):
			out = append(out, keyReference{ConfigMapKind, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key, use, e.At.Child("valueFrom", "configMapKeyRef", "key")})
		case from.SecretKeyRef != nil && !optional(from.SecretKeyRef.Optional):
			out = append(out, keyReference{SecretKind, from.SecretKeyRef.Name, from.SecretKeyRef.Key, use, e.At.Child("valueFrom", "secretKeyRef", "key")})
		}
	}
	for r := range j.EachRole() {
		for k, v := range r.Pod.Spec.Volumes {
			at := job.Path("volumes").Index(k)
			items := func(kind schema.GroupVersionKind, name string, all []corev1.KeyToPath, rel job.Path) {
				for n, item := range all {
					out = append(out, keyReference{kind, name, item.Key, "volume " + v.Name, r.Pod.At(rel.Child("items").Index(n).Child("key"))})
				}
			}
			if v.ConfigMap != nil && !optional(v.ConfigMap.Optional) {
				items(ConfigMapKind, v.ConfigMap.Name, v.ConfigMap.Items, at.Child("configMap"))
			}
			if v.Secret != nil && !optional(v.Secret.Optional) {
				items(SecretKind, v.Secret.SecretName, v.Secret.Items, at.Child("secret"))
			}
			if v.Projected == nil {
				continue
			}
			for n, s := range v.Projected.Sources {
				from := at.Child("projected", "sources").Index(n)
				if s.ConfigMap != nil && !optional(s.ConfigMap.Optional) {
					items(ConfigMapKind, s.ConfigMap.Name, s.ConfigMap.Items, from.Child("configMap"))
				}
				if s.Secret != nil && !optional(s.Secret.Optional) {
					items(SecretKind, s.Secret.Name, s.Secret.Items, from.Child("secret"))
				}
			}
		}
	}
	return out
}

func optional(o *bool) bool { return o != nil && *o }

// ReportMissingKeys reports keys that objects of the view lack. Of objects whose content the view does not
// hold it says that; of the content only the names of keys are read.
func ReportMissingKeys(p *check.Pass, kind schema.GroupVersionKind, thing string, fields ...string) {
	for _, ref := range keyReferences(p.Job) {
		if ref.kind != kind || ref.name == "" || ref.key == "" {
			continue
		}
		o, there := p.Cluster.Lookup(kind, p.Job.Ref.Namespace, ref.name)
		if there == job.Absent {
			continue // another check says so
		}
		if there != job.Present || o == nil {
			p.NotHeld(fmt.Sprintf("%s %q", thing, ref.name))
			continue
		}
		var keys []string
		held := false
		for _, f := range fields {
			content, ok := o.Object[f].(map[string]any)
			held = held || ok
			keys = append(keys, slices.Collect(maps.Keys(content))...)
		}
		if !held {
			p.NotHeld(fmt.Sprintf("the keys of %s %q", thing, ref.name))
			continue
		}
		if slices.Sort(keys); slices.Contains(keys, ref.key) {
			continue
		}
		p.Reportf(ref.at, "%s needs key %q of %s %q, which does not have it%s", ref.use, ref.key, thing, ref.name, check.DidYouMean(ref.key, keys))
	}
}

// BadName says of the name of an object that a pod refers to that nothing can be called so. What was to be filled in is
// told by placeholder-not-filled.
func BadName(name string) bool {
	return name != "" && !LeftOpen(name) && len(validation.IsDNS1123Subdomain(name)) > 0
}

// LeftOpen says of the name of an object that it holds a placeholder, or characters that stand in none and around one.
func LeftOpen(name string) bool {
	return job.Templated(name) || strings.ContainsAny(name, "<>{}[]$")
}
