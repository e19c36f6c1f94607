package names

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var namespaceMissing = &check.Check{
	Name:     "namespace-missing",
	Title:    "the namespace does not exist",
	Remedy:   "Create the namespace, or name the one that was meant.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) {
		name := p.Job.Ref.Namespace
		if _, there := p.Cluster.Lookup(namespaceKind, "", name); name == "" || there != job.Absent || p.Admission {
			return
		}
		p.Reportf("metadata.namespace", "namespace %q does not exist, so the API server refuses the job%s", name, check.DidYouMean(name, p.Cluster.NamesOf(namespaceKind.GroupKind(), "")))
	},
}

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")
