package preflight

import (
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// gpuProduct is the label that NVIDIA's feature discovery puts on nodes
// (github.com/NVIDIA/k8s-device-plugin, docs/gpu-feature-discovery).
const gpuProduct = "nvidia.com/gpu.product"

// Object is a job as it was written. As JSON it lacks its status, what API servers and kubectl
// noted about its fields, and all values of environment variables, and secrets in its other texts
// (a token on a command line) are masked: policies, their traces and their logs are read by more
// people than jobs are.
type Object struct{ Written *unstructured.Unstructured }

// Tree is the object without what may be secret.
func (o Object) Tree() (any, error) {
	if o.Written == nil {
		return nil, nil
	}
	return open(o.Written.Object), nil
}

// MarshalJSON writes the tree.
func (o Object) MarshalJSON() ([]byte, error) { return written(o.Tree()) }

func written(tree any, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// Written is a part of a pod as the operator makes it, in the words of the API: the same for every kind. As JSON it
// lacks the values of variables, and secrets are masked.
type Written[T corev1.PodSpec | corev1.Container] struct{ of any }

// As is the type of the API whose fields it has.
func (Written[T]) As() reflect.Type { return reflect.TypeFor[T]() }

// Tree is it without what may be secret, and a pod without its containers.
func (w Written[T]) Tree() (any, error) {
	of := w.of
	if spec, pod := of.(*corev1.PodSpec); pod {
		rest := *spec
		rest.Containers, rest.InitContainers, of = nil, nil, &rest
	}
	if _, read := of.(map[string]any); of == nil || read {
		return of, nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(of)
	if err != nil {
		return nil, err
	}
	delete(fields, "containers")
	return redact.Tree(withoutValues(fields)), nil
}

// Of is what it is made of.
func (w Written[T]) Of() any { return w.of }

// Part is one field of the tree.
func (w Written[T]) Part(name string, field any) (tree any, there bool, err error) {
	if _, pod := w.of.(*corev1.PodSpec); pod && (name == "containers" || name == "initContainers") {
		return nil, false, nil
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&map[string]any{name: field})
	if err != nil {
		return nil, false, err
	}
	masked, _ := redact.Tree(withoutValues(fields)).(map[string]any)
	return masked[name], true, nil
}

// MarshalJSON writes the tree.
func (w Written[T]) MarshalJSON() ([]byte, error) { return written(w.Tree()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (w *Written[T]) UnmarshalJSON(text []byte) error { return utiljson.Unmarshal(text, &w.of) }

// open copies what of an object anybody may read.
func open(object map[string]any) map[string]any {
	out := maps.Clone(object)
	delete(out, "status")
	if meta, ok := out["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "managedFields")
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			annotations = maps.Clone(annotations)
			delete(annotations, corev1.LastAppliedConfigAnnotation)
			meta["annotations"] = redact.Tree(annotations)
		}
		out["metadata"] = meta
	}
	if spec, ok := out["spec"]; ok {
		out["spec"] = redact.Tree(withoutValues(spec))
	}
	return out
}

// withoutValues copies a value and leaves out the values of variables.
func withoutValues(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = withoutValues(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			switch key {
			case "env", "envs":
				out[key] = namesOnly(inner)
			case "runtimeEnvYAML", "env_vars": // Ray: a document with variables in it
			case corev1.LastAppliedConfigAnnotation:
			case "labels", "annotations", "nodeSelector", "matchLabels":
				out[key] = labelled(inner)
			default:
				out[key] = withoutValues(inner)
			}
		}
		return out
	}
	return v
}

// labelled is withoutValues of what holds texts under names that an author chooses: a label that is called env, or as
// Ray calls them, is none of the variables.
func labelled(v any) any {
	out := withoutValues(v)
	if left, named := out.(map[string]any); named {
		for key, inner := range v.(map[string]any) {
			if text, isText := inner.(string); isText && key != corev1.LastAppliedConfigAnnotation {
				left[key] = text
			}
		}
	}
	return out
}

// namesOnly are variables without their values: a list as containers have it, or an object.
func namesOnly(env any) any {
	switch env := env.(type) {
	case []any:
		out := make([]any, 0, len(env))
		for _, e := range env {
			if variable, ok := e.(map[string]any); ok {
				variable = maps.Clone(variable)
				delete(variable, "value")
				out = append(out, variable)
			}
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(env))
		for name := range env {
			out[name] = ""
		}
		return out
	}
	return nil
}

// spoken are annotations without kubectl's copy of the object, which has the values of variables, and
// without what is secret in the others. The map itself stays as it is.
func spoken(annotations map[string]string) map[string]string {
	if _, there := annotations[corev1.LastAppliedConfigAnnotation]; there {
		annotations = maps.Clone(annotations)
		delete(annotations, corev1.LastAppliedConfigAnnotation)
	}
	return notNil(redact.Map(annotations))
}

// asked is when a review was asked for; zero: unknown.
func asked(req Request) time.Time {
	if req.Now.IsZero() && req.Cluster != nil {
		return req.Cluster.Taken()
	}
	return req.Now
}

// rolesIn are the roles as they are written, in their order; nil where nothing is. To find a role by its name is to look
// at all before it.
func rolesIn(j *job.Job) []map[string]any {
	out := make([]map[string]any, len(j.Roles))
	for i := range j.Roles {
		found, _ := j.Roles[i].Path.Resolve(j.Source.Object)
		out[i], _ = found.(map[string]any)
	}
	return out
}

// modelsSelected are the models of GPU that a pod selects, by node selector or by each of its
// required node affinities.
func modelsSelected(spec *corev1.PodSpec) []string {
	out := []string{}
	if model := spec.NodeSelector[gpuProduct]; model != "" {
		return append(out, model)
	}
	required := podspec.NodeAffinity(spec)
	if required == nil {
		return out
	}
	for _, term := range required.NodeSelectorTerms {
		at := slices.IndexFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
			return e.Key == gpuProduct && e.Operator == corev1.NodeSelectorOpIn
		})
		if at < 0 {
			return []string{} // one term is enough for a node, and this one takes any
		}
		out = append(out, term.MatchExpressions[at].Values...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// gpusOf are all accelerators of a pod, whole ones, partitions and shares; the name is that of the largest kind.
// One GPU and fifty-six partitions of others are fifty-seven.
func gpusOf(p *job.Pod) (name corev1.ResourceName, n int64) {
	if name, n = p.Accelerators(); n == 0 { // all that are counted here are among them
		return name, n
	}
	n = 0
	for at, amount := range p.Requests {
		if u := job.AcceleratorUnit(at); u != job.NotAccelerator && u != job.Portion {
			n = saturate.Add(n, max(0, amount))
		}
	}
	return name, n
}

// allGPUs are those of all pods of a job at most.
func allGPUs(j *job.Job) (sum int64) {
	for _, r := range everyRole(j) {
		_, n := gpusOf(&r.Pod)
		sum = saturate.Add(sum, saturate.Mul(n, atMost(r)))
	}
	return sum
}

// everyRole are the roles of a job and what is made beside them.
func everyRole(j *job.Job) []*job.Role {
	out := make([]*job.Role, 0, len(j.Roles)+len(j.Beside))
	for i := range j.Roles {
		out = append(out, &j.Roles[i])
	}
	for i := range j.Beside {
		out = append(out, &j.Beside[i])
	}
	return out
}

// atMost is how many pods a role may have at one moment.
func atMost(r *job.Role) int64 { return saturate.Add(int64(r.Replicas.Max), int64(r.Surge)) }

// hivedScheduler is the prefix under which HiveD takes how many GPUs a pod asks for: from an annotation
// (github.com/microsoft/pai v1.8.0 src/rest-server/src/models/v2/job/k8s.js, which takes nvidia.com/gpu away for it).
const hivedScheduler = "hivedscheduler.microsoft.com/"

// uncounted says why a job may hold more GPUs than its pods name: no rule about their number may rest on it.
func uncounted(j *job.Job) string {
	for _, r := range everyRole(j) {
		if len(r.Pod.Spec.ResourceClaims) > 0 {
			return r.Name + " asks for devices by ResourceClaims, which may be GPUs"
		}
		byClass, byHiveD, portion, counted := false, false, "", false
		for name, n := range r.Pod.Requests {
			switch unit := job.AcceleratorUnit(name); {
			case n <= 0 || unit == job.NotAccelerator:
			case unit != job.Portion:
				counted = true
			case portion == "" || string(name) < portion:
				portion = string(name)
			}
			byClass = byClass || n > 0 && strings.HasPrefix(string(name), resourcev1.ResourceDeviceClassPrefix)
			byHiveD = byHiveD || n > 0 && strings.HasPrefix(string(name), hivedScheduler)
		}
		switch {
		case byClass:
			return r.Name + " asks for devices of a DeviceClass, which may be GPUs"
		case byHiveD:
			return r.Name + " asks for GPUs in an annotation that HiveD reads"
		case portion != "" && !counted: // 800 of koordinator.sh/gpu-core are 8 GPUs (https://koordinator.sh/docs/user-manuals/fine-grained-device-scheduling)
			return r.Name + " asks for " + portion + ", which may be of several GPUs"
		}
	}
	return ""
}

func volumesOf(r *job.Role) []VolumeView {
	out := make([]VolumeView, 0, len(r.Pod.Spec.Volumes))
	for i := range r.Pod.Spec.Volumes {
		v := &r.Pod.Spec.Volumes[i]
		view := VolumeView{Name: v.Name, Kind: "other", Path: r.Pod.At(job.Path("volumes").Index(i))}
		switch s := v.VolumeSource; {
		case s.HostPath != nil:
			view.Kind, view.Of = "hostPath", s.HostPath.Path
		case s.PersistentVolumeClaim != nil:
			view.Kind, view.Of = "persistentVolumeClaim", s.PersistentVolumeClaim.ClaimName
		case s.EmptyDir != nil, s == (corev1.VolumeSource{}): // the API server makes an emptyDir of it
			view.Kind = "emptyDir"
		case s.NFS != nil:
			view.Kind, view.Of = "nfs", s.NFS.Server
		case s.CSI != nil:
			view.Kind, view.Of = "csi", s.CSI.Driver
		case s.ConfigMap != nil:
			view.Kind, view.Of = "configMap", s.ConfigMap.Name
		case s.Secret != nil:
			view.Kind, view.Of = "secret", s.Secret.SecretName
		case s.Ephemeral != nil:
			view.Kind = "ephemeral"
		case s.Projected != nil:
			view.Kind = "projected"
		case s.DownwardAPI != nil:
			view.Kind = "downwardAPI"
		case s.Image != nil:
			view.Kind, view.Of = "image", s.Image.Reference
		}
		out = append(out, view)
	}
	return out
}

// goneWithThePod are volumes whose files end with their pod. What a path of the node keeps cannot be
// said from here; it counts as kept by nothing.
var goneWithThePod = []string{"emptyDir", "ephemeral", "configMap", "secret", "projected", "downwardAPI", "image", "hostPath"}

// keepsFiles says whether the container that trains mounts something that outlasts the pod.
func keepsFiles(r *job.Role, volumes []VolumeView) bool {
	c, _ := r.Trainer()
	if c == nil {
		return false
	}
	for _, m := range c.VolumeMounts {
		if path.Clean(m.MountPath) == "." || m.ReadOnly {
			continue
		}
		at := slices.IndexFunc(volumes, func(v VolumeView) bool { return v.Name == m.Name })
		if at >= 0 && r.Pod.Spec.Volumes[at].PersistentVolumeClaim != nil && r.Pod.Spec.Volumes[at].PersistentVolumeClaim.ReadOnly {
			continue
		}
		if at >= 0 && !slices.Contains(goneWithThePod, volumes[at].Kind) {
			return true
		}
	}
	return false
}

// UnmarshalJSON reads an object as MarshalJSON writes it.
func (o *Object) UnmarshalJSON(text []byte) error {
	var object map[string]any
	if err := utiljson.Unmarshal(text, &object); err != nil {
		return err
	}
	if o.Written = nil; object != nil {
		o.Written = &unstructured.Unstructured{Object: object}
	}
	return nil
}
