package names

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var deviceClassMissing = &check.Check{
	Name:     "device-class-missing",
	Title:    "a device claim of the pods is of a class that does not exist",
	Remedy:   "Correct the class in the claim, or have the driver of the device installed.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		for _, ref := range facts.References(p.Job) {
			if ref.Kind != facts.DeviceClaimKind && ref.Kind != facts.ClaimTemplateKind {
				continue
			}
			o, there := p.Cluster.Lookup(ref.Kind, p.Job.Ref.Namespace, ref.Name)
			if there != job.Present || o == nil {
				continue // resource-claim-missing
			}
			for _, class := range classesOf(o) {
				if _, there := p.Cluster.Lookup(deviceClassKind, "", class); there == job.Absent {
					names := p.Cluster.NamesOf(deviceClassKind.GroupKind(), "")
					p.Reportf(ref.At, "%s needs DeviceClass %q, which does not exist%s", ref.Kind.Kind+" "+ref.Name, class, check.DidYouMean(class, names))
				}
			}
		}
	},
}

var deviceClassKind = schema.GroupVersionKind{Group: "resource.k8s.io", Version: "v1", Kind: "DeviceClass"}

// classesOf are the classes of devices that a claim or a template for claims cannot do without.
func classesOf(o *unstructured.Unstructured) (out []string) {
	at := []string{"spec", "devices", "requests"}
	if o.GetKind() == facts.ClaimTemplateKind.Kind {
		at = []string{"spec", "spec", "devices", "requests"}
	}
	requests, _, _ := unstructured.NestedSlice(o.Object, at...)
	for _, r := range requests {
		r, _ := r.(map[string]any)
		if class, _, _ := unstructured.NestedString(r, "exactly", "deviceClassName"); class != "" {
			out = append(out, class)
		} else if class, _ := r["deviceClassName"].(string); class != "" { // v1beta1
			out = append(out, class)
		}
	}
	return out
}
