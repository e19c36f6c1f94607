package checks

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
	Doc:      readme("priority-class-missing"),
	Remedy:   "Name a priority class that exists, or have it created.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		gvk := schema.GroupVersionKind{Group: "scheduling.k8s.io", Version: "v1", Kind: "PriorityClass"}
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			name := r.Pod.Spec.PriorityClassName
			if name == "" || strings.HasPrefix(name, "system-") {
				continue
			}
			if _, there := p.Cluster.Lookup(gvk, "", name); there != job.Absent {
				continue
			}
			var names []string
			classes, _ := p.Cluster.Objects(gvk.GroupKind(), "")
			for _, c := range classes {
				names = append(names, c.GetName())
			}
			p.Reportf(r.Pod.At("priorityClassName"), "none of %s is called %q, and pods that name it are refused%s", count(len(names), "priority class"), name, check.DidYouMean(name, names))
		}
		return nil
	},
}
