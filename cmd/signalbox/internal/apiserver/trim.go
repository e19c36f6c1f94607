package apiserver

import (
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// viewed are the resources that a view of a cluster holds, in the order of a snapshot:
// those that the webhook follows.
func viewed() []resource {
	out := []resource{
		{schema.GroupResource{Resource: "nodes"}, []string{"v1"}},
		{schema.GroupResource{Resource: "pods"}, []string{"v1"}},
		{schema.GroupResource{Resource: "namespaces"}, []string{"v1"}},
	}
	for _, r := range live.Resources() {
		out = append(out, resource{schema.GroupResource{Group: r.Group, Resource: r.Plural}, r.Versions})
	}
	return out
}

// kept are the fields of an object, by kind, that the checks and the fit look at, besides
// its name, labels and owners. Kinds that are not named are kept without annotations.
var kept = map[string][]string{
	"ServiceAccount":        {},
	"Secret":                {}, // that it is there, and the names of its keys; what is in it is nobody's business
	"ConfigMap":             {},
	"Node":                  {"spec.taints", "spec.unschedulable", "status.allocatable", "status.capacity", "status.conditions", "status.declaredFeatures"},
	"Namespace":             {"status.phase"},
	"PersistentVolumeClaim": {"spec", "status.phase", "status.accessModes", "status.capacity"},
	"PersistentVolume":      {"spec.accessModes", "spec.capacity", "spec.claimRef", "spec.csi.driver", "spec.nodeAffinity", "spec.storageClassName", "spec.volumeAttributesClassName", "spec.volumeMode", "status.phase"},
	"StorageClass":          {"provisioner", "volumeBindingMode", "allowedTopologies", "reclaimPolicy"},
}

// Trim leaves of an object only what a review looks at: no environment, no commands, no
// images, and of the annotations only those that say who scales the nodes, which pods
// belong to a node, and where a volume is being made, and the short ones of namespaces.
func Trim(o *unstructured.Unstructured) *unstructured.Unstructured {
	if o.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Pod") {
		return trimPod(o)
	}
	if o.GetKind() == "ValidatingWebhookConfiguration" {
		out := live.LeanWebhooks(o)
		out.SetResourceVersion("")
		return out
	}
	fields, known := kept[o.GetKind()]
	if !known || o.GroupVersionKind().Group != "" && o.GetKind() != "StorageClass" {
		return trimOther(o)
	}
	if o.GetKind() == "ConfigMap" && o.GetNamespace() == cluster.ShapesNamespace && o.GetName() == cluster.ShapesName {
		fields = []string{"data"} // how large pods of T9k's queues may be
	}
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind()}}
	out.Object["metadata"] = metadata(o)
	for _, field := range fields {
		steps := strings.Split(field, ".")
		if v, found, err := unstructured.NestedFieldNoCopy(o.Object, steps...); found && err == nil && v != nil {
			_ = unstructured.SetNestedField(out.Object, shorten(v, steps[len(steps)-1]), steps...) // out holds maps only
		}
	}
	switch o.GetKind() {
	case "Node":
		shortenNode(out.Object)
	case "Secret", "ConfigMap":
		keepKeys(o, out)
	case "PersistentVolume":
		spec, _ := o.Object["spec"].(map[string]any)
		if driver := cluster.DriverOfOld(spec); driver != "" {
			_ = unstructured.SetNestedField(out.Object, driver, "spec", "csi", "driver") // out holds maps only
		}
	}
	return out
}

// keepKeys keeps the names under which an object holds its content, and none of the content: pods name them.
func keepKeys(o, out *unstructured.Unstructured) {
	for _, field := range []string{"data", "stringData", "binaryData"} {
		content, ok := o.Object[field].(map[string]any)
		if _, whole := out.Object[field]; !ok || whole {
			continue
		}
		names := make(map[string]any, len(content))
		for name := range content {
			names[name] = ""
		}
		out.Object[field] = names
	}
}

// shortenNode keeps of the conditions what says whether the node is ready, or that it says
// something at all, and of its capacity what it does not offer.
func shortenNode(node map[string]any) {
	status, _ := node["status"].(map[string]any)
	if list, ok := status["conditions"].([]any); ok && len(list) > 1 {
		at := slices.IndexFunc(list, func(e any) bool { m, ok := e.(map[string]any); return ok && m["type"] == "Ready" })
		status["conditions"] = list[max(at, 0) : max(at, 0)+1]
	}
	has, _ := status["capacity"].(map[string]any)
	offers, _ := status["allocatable"].(map[string]any)
	for name, amount := range has {
		if offered, ok := offers[name]; ok && reflect.DeepEqual(offered, amount) || len(offers) > 0 && job.AcceleratorUnit(corev1.ResourceName(name)) == job.NotAccelerator {
			delete(has, name)
		}
	}
	if len(has) == 0 {
		delete(status, "capacity")
	}
}

// trimPod leaves of a pod what it takes and whom it keeps away. One that cannot be read is
// left as it is: its next reader says what is wrong.
func trimPod(o *unstructured.Unstructured) *unstructured.Unstructured {
	p := &corev1.Pod{}
	if err := cluster.Decode(o, p); err != nil {
		return o
	}
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cluster.LeanPod(p))
	if err != nil {
		return o
	}
	out := &unstructured.Unstructured{Object: prune(fields)}
	out.SetGroupVersionKind(o.GroupVersionKind())
	return out
}

// prune drops what says nothing: nulls and empty maps.
func prune(fields map[string]any) map[string]any {
	for key, value := range fields {
		switch v := value.(type) {
		case nil:
			delete(fields, key)
		case map[string]any:
			if len(prune(v)) == 0 && key != "labelSelector" && key != "namespaceSelector" { // an empty selector selects all
				delete(fields, key)
			}
		case []any:
			for _, e := range v {
				if m, ok := e.(map[string]any); ok {
					prune(m)
				}
			}
		}
	}
	return fields
}

func trimOther(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := o.DeepCopy()
	out.Object["metadata"] = metadata(o)
	if strings.HasSuffix(o.GetKind(), "TrainingRuntime") {
		return collect.Scrubbed(out)
	}
	return out
}

// keptAnnotations say that a pod belongs to a node, for which node a volume is being made, and of which class it is
// where that is written the old way, and which class is that of claims that name none.
var keptAnnotations = []string{"kubernetes.io/config.mirror", podspec.SelectedNode, corev1.BetaStorageClassAnnotation, cluster.DefaultClassAnnotation}

// mostAnnotation is how many bytes an annotation of a namespace may have, as in the view that the webhook has.
const mostAnnotation = 128

func metadata(o *unstructured.Unstructured) map[string]any {
	out := map[string]any{"name": o.GetName()}
	from, _, _ := unstructured.NestedMap(o.Object, "metadata")
	for _, key := range []string{"namespace", "labels", "deletionTimestamp", "uid"} {
		if v, ok := from[key]; ok && v != nil && v != "" {
			out[key] = v
		}
	}
	notes := map[string]any{}
	if o.GroupVersionKind() == corev1.SchemeGroupVersion.WithKind("Namespace") { // policies read them
		written := o.GetAnnotations()
		for key, value := range redact.Map(written) {
			if len(written[key]) <= mostAnnotation && key != corev1.LastAppliedConfigAnnotation {
				notes[key] = value
			}
		}
	}
	for key, value := range o.GetAnnotations() {
		if strings.HasPrefix(key, "cluster-autoscaler.kubernetes.io/") || slices.Contains(keptAnnotations, key) {
			notes[key] = value
		}
	}
	if len(notes) > 0 {
		out["annotations"] = notes
	}
	var owners []any
	for _, owner := range o.GetOwnerReferences() {
		entry := map[string]any{"apiVersion": owner.APIVersion, "kind": owner.Kind, "name": owner.Name, "uid": string(owner.UID)}
		if owner.Controller != nil {
			entry["controller"] = *owner.Controller
		}
		owners = append(owners, entry)
	}
	if len(owners) > 0 {
		out["ownerReferences"] = owners
	}
	return out
}

// shorten keeps of long lists only what counts.
func shorten(v any, field string) any {
	keys := map[string][]string{
		"conditions": {"type", "status", "reason"},
	}[field]
	list, ok := v.([]any)
	if keys == nil || !ok {
		return v
	}
	out := make([]any, 0, len(list))
	for _, e := range list {
		m, ok := e.(map[string]any)
		if !ok {
			continue
		}
		small := map[string]any{}
		for _, k := range keys {
			if m[k] != nil {
				small[k] = m[k]
			}
		}
		if len(small) > 1 {
			out = append(out, small)
		}
	}
	return out
}
