package names

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var runtimeClassMissing = &check.Check{
	Name:     "runtime-class-missing",
	Title:    "the runtime class of the pods does not exist",
	Remedy:   "Name a runtime class that exists, or leave it out.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		gvk := schema.GroupVersionKind{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}
		reportMissingClass(p, gvk, "RuntimeClass", func(r *job.Role) (string, job.Path) {
			if r.Pod.Spec.RuntimeClassName == nil {
				return "", ""
			}
			return *r.Pod.Spec.RuntimeClassName, "runtimeClassName"
		})
		return nil
	},
}
