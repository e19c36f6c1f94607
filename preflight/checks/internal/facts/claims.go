package facts

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// ClaimUse is a volume claim that pods of a role mount.
type ClaimUse struct {
	Role  *job.Role
	At    job.Path
	Claim *corev1.PersistentVolumeClaim
}

// ClaimsOf are the claims that pods mount and that the view has, in the order of the roles.
func ClaimsOf(p *check.Pass) []ClaimUse {
	var out []ClaimUse
	for r := range p.Job.EachRole() {
		for k, v := range r.Pod.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			claim, there := p.Cluster.Claim(p.Job.Ref.Namespace, v.PersistentVolumeClaim.ClaimName)
			if there != job.Present {
				continue
			}
			out = append(out, ClaimUse{
				Role: r, Claim: claim,
				At: r.Pod.At(job.Path("volumes").Index(k).Child("persistentVolumeClaim", "claimName")),
			})
		}
	}
	return out
}
