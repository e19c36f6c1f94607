package resources

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var memoryMissingBesideGPUs = &check.Check{
	Name:     "memory-missing-beside-gpus",
	Title:    "a container with GPUs says nothing about its memory",
	Remedy:   "Write a memory limit for the container; the request follows by itself.",
	Severity: finding.Note, Since: "0.1",
	Run: func(p *check.Pass) {
		var roles []string
		var first finding.Finding
		for r := range p.Job.EachRole() {
			if r.Pod.Partial || r.Replicas.Max == 0 || saysAmount(r.Pod.Spec.Resources, corev1.ResourceMemory) || defaulted(p, corev1.ResourceMemory) {
				continue
			}
			for k := range r.Pod.Spec.Containers {
				c := &r.Pod.Spec.Containers[k]
				gpus := facts.AcceleratorsOf(c)
				at := r.Pod.At(job.Path("containers").Index(k).Child("resources"))
				if gpus.N == 0 || wholeMachine(gpus) || saysAmount(&c.Resources, corev1.ResourceMemory) ||
					p.Job.Field(at.Child("requests", "memory")) != nil || p.Job.Field(at.Child("limits", "memory")) != nil {
					continue // written, be it in a way that could not be read
				}
				if roles = append(roles, r.Name); len(roles) == 1 {
					first = finding.Finding{Path: at, Message: fmt.Sprintf("has %d %s but no memory request or limit: the scheduler counts none for it", gpus.N, gpus.Resource)}
					first.Message = facts.Whose(c.Name, r.Name) + " " + first.Message
				}
			}
		}
		if len(roles) > 1 {
			first.Message += fmt.Sprintf("; %d more like it", len(roles)-1)
		}
		if len(roles) > 0 {
			p.Report(first)
		}
	},
}

// wholeMachine says whether a container takes all accelerators of a machine, as far as that can
// be known without the node: no other pod with accelerators comes there, and no memory that
// is promised twice. A pod takes all TPUs of its node (cloud.google.com/kubernetes-engine,
// concepts/tpus), and eight is what the large machines of most vendors have
// (docs.nvidia.com/dgx, HGX and DGX A100 to B200).
func wholeMachine(gpus job.Amount) bool {
	return gpus.Resource == "google.com/tpu" || gpus.N >= 8 && job.AcceleratorUnit(gpus.Resource) == job.Device
}

// saysAmount says whether a resource is requested or limited.
func saysAmount(r *corev1.ResourceRequirements, name corev1.ResourceName) bool {
	if r == nil {
		return false
	}
	_, requested := r.Requests[name]
	_, limited := r.Limits[name]
	return requested || limited
}

// defaulted says whether a LimitRange in the view fills in the resource for containers of
// the job's namespace.
func defaulted(p *check.Pass, name corev1.ResourceName) bool {
	ranges, _ := p.Cluster.Objects(schema.GroupKind{Kind: "LimitRange"}, p.Job.Ref.Namespace)
	for _, o := range ranges {
		limits, _, _ := unstructured.NestedSlice(o.Object, "spec", "limits")
		for _, l := range limits {
			l, _ := l.(map[string]any)
			for _, key := range []string{"default", "defaultRequest"} {
				amounts, _ := l[key].(map[string]any)
				if _, ok := amounts[string(name)]; ok && l["type"] == "Container" {
					return true
				}
			}
		}
	}
	return false
}
