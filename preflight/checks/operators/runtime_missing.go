package operators

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var runtimeMissing = &check.Check{
	Name:     "runtime-missing",
	Title:    "the TrainJob names a runtime that does not exist",
	Remedy:   "Name a runtime that exists, or create it first.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"TrainJob.trainer.kubeflow.org"},
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		gvk, namespace, name := facts.RuntimeOf(p.Job)
		if name == "" {
			return
		}
		if group, ok := facts.Text(p.Job, "spec.runtimeRef.apiGroup"); ok && group != gvk.Group {
			p.Reportf("spec.runtimeRef.apiGroup", "runtimeRef.apiGroup is %q; Trainer knows runtimes of %s%s", group, gvk.Group, check.DidYouMean(group, []string{gvk.Group}))
			return
		}
		if !slices.Contains(runtimeKinds, gvk.Kind) {
			p.Reportf("spec.runtimeRef.kind", "runtimeRef.kind is %q; Trainer knows %s%s", gvk.Kind, strings.Join(runtimeKinds, " and "), check.DidYouMean(gvk.Kind, runtimeKinds))
			return
		}
		switch _, there := p.Cluster.Lookup(gvk, namespace, name); there {
		case job.Absent:
		case job.Present:
			return
		default:
			p.NotHeld(facts.NotHeld(p, gvk.Kind, gvk.GroupKind(), namespace, name))
			return
		}
		p.Reportf("spec.runtimeRef.name", "%s %q does not exist%s%s", gvk.Kind, name, elsewhere(p, gvk, name), check.DidYouMean(name, p.Cluster.NamesOf(gvk.GroupKind(), namespace)))
	},
}

// runtimeKinds are those that Trainer has a plug-in for; it refuses others as unsupported
// (github.com/kubeflow/trainer v2.1.0 pkg/runtime/core).
var runtimeKinds = []string{"ClusterTrainingRuntime", "TrainingRuntime"}

// elsewhere says where there is a runtime of that name which the job does not name: of the other kind, or in another
// namespace.
func elsewhere(p *check.Pass, gvk schema.GroupVersionKind, name string) string {
	for _, kind := range runtimeKinds {
		objects, _ := p.Cluster.Objects(schema.GroupKind{Group: gvk.Group, Kind: kind}, "")
		for _, o := range objects {
			switch {
			case o.GetName() != name:
			case kind == "ClusterTrainingRuntime" || o.GetNamespace() == p.Job.Ref.Namespace:
				return "; there is a " + kind + " of that name, which runtimeRef.kind would have to say"
			case !p.Admission:
				return "; there is one in namespace " + o.GetNamespace() + ", which jobs of other namespaces cannot use"
			}
		}
	}
	return ""
}
