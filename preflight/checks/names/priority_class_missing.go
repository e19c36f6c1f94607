package names

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var priorityClassMissing = &check.Check{
	Name:     "priority-class-missing",
	Title:    "the priority class of the pods does not exist",
	Remedy:   "Name a priority class that exists, or have it created.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		gvk := schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
		reportMissingClass(p, gvk, "PriorityClass", func(r *job.Role) (string, job.Path) {
			if strings.HasPrefix(r.Pod.Spec.PriorityClassName, "system-") {
				return "", "" // the API server makes these itself
			}
			return r.Pod.Spec.PriorityClassName, "priorityClassName"
		})
		return nil
	},
}
