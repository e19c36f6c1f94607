package names

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var serviceAccountMissing = &check.Check{
	Name:     "service-account-missing",
	Title:    "the service account of the pods does not exist",
	Remedy:   "Create the service account in the job's namespace, or correct its name.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		gvk := schema.GroupVersionKind{Version: "v1", Kind: "ServiceAccount"}
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			name := r.Pod.Spec.ServiceAccountName
			if name == "" {
				continue
			}
			if _, there := p.Cluster.Lookup(gvk, p.Job.Ref.Namespace, name); there == job.Absent {
				p.Reportf(r.Pod.At("serviceAccountName"), "%s needs ServiceAccount %q, which %s", r.Name, name, facts.OthersThan(p, gvk, name))
			}
		}
		return nil
	},
}
