package names

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var claimMissing = &check.Check{
	Name:     "claim-missing",
	Title:    "a volume claim that the pods mount does not exist",
	Remedy:   "Create the claim in the job's namespace, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		gvk := schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			for k, v := range r.Pod.Spec.Volumes {
				if v.PersistentVolumeClaim == nil || v.PersistentVolumeClaim.ClaimName == "" {
					continue
				}
				name := v.PersistentVolumeClaim.ClaimName
				if _, there := p.Cluster.Lookup(gvk, p.Job.Ref.Namespace, name); there != job.Absent {
					continue
				}
				var names []string
				claims, _ := p.Cluster.Objects(gvk.GroupKind(), p.Job.Ref.Namespace)
				for _, c := range claims {
					names = append(names, c.GetName())
				}
				p.Reportf(r.Pod.At(job.Path("volumes").Index(k).Child("persistentVolumeClaim", "claimName")),
					"claim %q does not exist in namespace %s%s", name, p.Job.Ref.Namespace, check.DidYouMean(name, names))
			}
		}
		return nil
	},
}
