package names

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// reportMissingClass reports pods that name an object of the whole cluster that is not there:
// the API server refuses them. named is the name that a role's pods give, and where below the
// pod spec it is written; an empty name is none.
func reportMissingClass(p *check.Pass, kind schema.GroupVersionKind, thing string, named func(*job.Role) (name string, rel job.Path)) {
	for i := range p.Job.Roles {
		r := &p.Job.Roles[i]
		name, rel := named(r)
		if name == "" {
			continue
		}
		if _, there := p.Cluster.Lookup(kind, "", name); there != job.Absent {
			continue
		}
		names := facts.NamesOf(p, kind.GroupKind(), "")
		p.Reportf(r.Pod.At(rel), "%s %q does not exist, so the pods are rejected%s", thing, name, check.DidYouMean(name, names))
	}
}
