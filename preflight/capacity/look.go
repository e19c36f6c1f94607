package capacity

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// lookPast records what of the pod the fit does not model.
func (q *question) lookPast(k *kin) {
	spec := &k.pod.Spec
	if len(spec.ResourceClaims) > 0 {
		q.blur(k.name + ": resource claims (DRA) are not judged: " + q.s.claimText(q.gang.Namespace, spec))
	}
	for _, n := range k.needs {
		if class := q.s.deviceClass(n.name); class != "" {
			q.dark = append(q.dark, fmt.Sprintf("%s is served as devices of class %s (DRA), which are not counted", n.name, class))
		}
	}
	if len(spec.SchedulingGates) > 0 {
		names := make([]string, len(spec.SchedulingGates))
		for i, g := range spec.SchedulingGates {
			names[i] = g.Name
		}
		q.note("%s waits for the scheduling gates %s to be lifted", k.name, strings.Join(names, ", "))
	}
	if n := spec.SchedulerName; n != "" && n != corev1.DefaultSchedulerName {
		q.note("%s is placed by the scheduler %s, which may decide by rules of its own", k.name, n)
	}
}

// deviceClass is the class whose devices serve an extended resource; empty: none in the
// view (https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/,
// "extended resource allocation by DRA").
func (s *Snapshot) deviceClass(name corev1.ResourceName) string {
	if class, ok := strings.CutPrefix(string(name), "deviceclass.resource.kubernetes.io/"); ok {
		return class
	}
	if class := s.rules.deviceClasses[name]; class != "" {
		return class
	}
	if driver := s.driverOf(name); driver != "" {
		return "that is not in the snapshot, of driver " + driver
	}
	return ""
}

// deviceClassesIn are the extended resources that device classes serve.
func deviceClassesIn(all objects) map[corev1.ResourceName]string {
	out := map[corev1.ResourceName]string{}
	for key, o := range all[classesKind].all() {
		name, _, _ := unstructured.NestedString(o.raw.Object, "spec", "extendedResourceName")
		if was, ok := out[corev1.ResourceName(name)]; name != "" && (!ok || key.name < was) {
			out[corev1.ResourceName(name)] = key.name
		}
	}
	return out
}

// runtimeClass adds what the runtime class of a kin puts on its pods when they are
// created: overhead, node selector, tolerations.
func (q *question) runtimeClass(k *kin, requests job.Resources) job.Resources {
	name := k.pod.Spec.RuntimeClassName
	if name == nil || *name == "" {
		return requests
	}
	class := q.s.runtimeClassOf(&k.pod.Spec)
	if class == nil {
		q.note("the runtime class %s is not in the snapshot; what it adds to %s is not counted", *name, k.name)
		return requests
	}
	pod := *k.pod
	if class.Overhead != nil && len(pod.Spec.Overhead) == 0 {
		requests = maps.Clone(requests)
		for name, n := range job.ResourcesOf(class.Overhead.PodFixed) {
			requests[name] = saturate.Add(max(0, requests[name]), max(0, n))
		}
	}
	if class.Scheduling != nil {
		pod.Spec.NodeSelector = map[string]string{}
		maps.Copy(pod.Spec.NodeSelector, k.pod.Spec.NodeSelector)
		maps.Copy(pod.Spec.NodeSelector, class.Scheduling.NodeSelector)
		pod.Spec.Tolerations = slices.Concat(pod.Spec.Tolerations, class.Scheduling.Tolerations)
	}
	k.pod = &pod
	return requests
}

// runtimeClassOf is the runtime class that a pod names; nil where it names none, or one
// that is not in the view.
func (s *Snapshot) runtimeClassOf(spec *corev1.PodSpec) *nodev1.RuntimeClass {
	if spec.RuntimeClassName == nil || *spec.RuntimeClassName == "" {
		return nil
	}
	return one[nodev1.RuntimeClass](s.objects, runtimeKind, "", *spec.RuntimeClassName)
}
