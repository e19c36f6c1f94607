package main

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/capacity/live"
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
	"Secret":                {}, // that it is there; what is in it is nobody's business
	"ConfigMap":             {},
	"Node":                  {"spec.taints", "spec.unschedulable", "status.allocatable", "status.capacity", "status.conditions"},
	"Namespace":             {"status.phase"},
	"PersistentVolumeClaim": {"spec", "status.phase", "status.accessModes", "status.capacity"},
	"PersistentVolume":      {"spec.accessModes", "spec.capacity", "spec.claimRef", "spec.csi.driver", "spec.nodeAffinity", "spec.storageClassName", "spec.volumeMode", "status.phase"},
	"StorageClass":          {"provisioner", "volumeBindingMode", "allowedTopologies", "reclaimPolicy"},
	"Pod": {
		"spec.nodeName", "spec.nodeSelector", "spec.affinity", "spec.tolerations", "spec.topologySpreadConstraints",
		"spec.priority", "spec.priorityClassName", "spec.preemptionPolicy", "spec.schedulerName", "spec.schedulingGates",
		"spec.runtimeClassName", "spec.overhead", "spec.hostNetwork", "spec.resources", "spec.resourceClaims",
		"spec.containers", "spec.initContainers", "spec.volumes", "status.phase", "status.nominatedNodeName", "status.conditions",
		"status.resources", "status.allocatedResources", "status.containerStatuses", "status.initContainerStatuses",
	},
}

// trim leaves of an object only what a review looks at: no environment, no commands, no
// images, and of the annotations only those that say who scales the nodes and which pods
// belong to a node.
func trim(o *unstructured.Unstructured) *unstructured.Unstructured {
	fields, known := kept[o.GetKind()]
	if !known || o.GroupVersionKind().Group != "" && o.GetKind() != "StorageClass" {
		return trimOther(o)
	}
	out := &unstructured.Unstructured{Object: map[string]any{"apiVersion": o.GetAPIVersion(), "kind": o.GetKind()}}
	out.Object["metadata"] = metadata(o)
	for _, field := range fields {
		steps := strings.Split(field, ".")
		if v, found, err := unstructured.NestedFieldNoCopy(o.Object, steps...); found && err == nil && v != nil {
			_ = unstructured.SetNestedField(out.Object, shorten(v, steps[len(steps)-1]), steps...) // out holds maps only
		}
	}
	return out
}

func trimOther(o *unstructured.Unstructured) *unstructured.Unstructured {
	out := o.DeepCopy()
	out.Object["metadata"] = metadata(o)
	if strings.HasSuffix(o.GetKind(), "TrainingRuntime") {
		maskEnv(out.Object)
	}
	return out
}

func metadata(o *unstructured.Unstructured) map[string]any {
	out := map[string]any{"name": o.GetName()}
	from, _, _ := unstructured.NestedMap(o.Object, "metadata")
	for _, key := range []string{"namespace", "labels", "deletionTimestamp", "uid"} {
		if v, ok := from[key]; ok && v != nil && v != "" {
			out[key] = v
		}
	}
	notes := map[string]any{}
	for key, value := range o.GetAnnotations() {
		if strings.HasPrefix(key, "cluster-autoscaler.kubernetes.io/") || key == "kubernetes.io/config.mirror" {
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
		"containers":     {"name", "resources", "ports", "restartPolicy"},
		"initContainers": {"name", "resources", "ports", "restartPolicy"},
		"volumes":        {"name", "persistentVolumeClaim", "ephemeral"},
		"conditions":     {"type", "status", "reason"},
		// what a container that was resized in place really holds
		"containerStatuses":     {"name", "resources", "allocatedResources"},
		"initContainerStatuses": {"name", "resources", "allocatedResources"},
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
		if len(small) > 1 || field == "containers" || field == "initContainers" {
			out = append(out, small)
		}
	}
	return out
}

// maskEnv empties values of a runtime's environment whose names sound secret; the others
// are part of how the runtime launches and are looked at.
func maskEnv(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			maskEnv(e)
		}
	case map[string]any:
		if env, ok := v["env"].([]any); ok {
			for _, e := range env {
				if m, ok := e.(map[string]any); ok && soundsSecret(m["name"]) {
					delete(m, "value")
				}
			}
		}
		for _, e := range v {
			maskEnv(e)
		}
	}
}

func soundsSecret(name any) bool {
	s, _ := name.(string)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL"}, func(word string) bool {
		return strings.Contains(strings.ToUpper(s), word)
	})
}
