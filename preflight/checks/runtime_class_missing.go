package checks

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var runtimeClassMissing = &check.Check{
	Name:     "runtime-class-missing",
	Title:    "the runtime class of the pods does not exist",
	Doc:      readme("runtime-class-missing"),
	Remedy:   "Name a runtime class that exists, or leave it out.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		gvk := schema.GroupVersionKind{Group: "node.k8s.io", Version: "v1", Kind: "RuntimeClass"}
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			if r.Pod.Spec.RuntimeClassName == nil || *r.Pod.Spec.RuntimeClassName == "" {
				continue
			}
			name := *r.Pod.Spec.RuntimeClassName
			if _, there := p.Cluster.Lookup(gvk, "", name); there != job.Absent {
				continue
			}
			var names []string
			classes, _ := p.Cluster.Objects(gvk.GroupKind(), "")
			for _, c := range classes {
				names = append(names, c.GetName())
			}
			p.Reportf(r.Pod.At("runtimeClassName"), "none of %s is called %q, and pods that name it are refused%s", count(len(names), "runtime class"), name, check.DidYouMean(name, names))
		}
		return nil
	},
}
