package checks

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// claimUse is a volume claim that pods of a role mount.
type claimUse struct {
	role     *job.Role
	at       job.Path
	claim    *corev1.PersistentVolumeClaim
	readOnly bool
}

// claimsOf are the claims that pods mount and that the view has, in the order of the roles.
func claimsOf(p *check.Pass) []claimUse {
	var out []claimUse
	for i := range p.Job.Roles {
		r := &p.Job.Roles[i]
		for k, v := range r.Pod.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			claim, there := p.Cluster.Claim(p.Job.Ref.Namespace, v.PersistentVolumeClaim.ClaimName)
			if there != job.Present {
				continue
			}
			out = append(out, claimUse{
				role: r, claim: claim, readOnly: v.PersistentVolumeClaim.ReadOnly,
				at: r.Pod.At(job.Path("volumes").Index(k).Child("persistentVolumeClaim", "claimName")),
			})
		}
	}
	return out
}
