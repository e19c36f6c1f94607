package checks

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var claimOutOfReach = &check.Check{
	Name:     "claim-out-of-reach",
	Title:    "no node that the pods may use can reach their volume",
	Doc:      readme("claim-out-of-reach"),
	Remedy:   "Select nodes in the volume's zone, or copy the data to a volume that they reach.",
	Severity: finding.Error, Since: "0.1",
	Needs: check.Cluster,
	Run: func(p *check.Pass) error {
		for _, u := range outOfReach(p) {
			p.Reportf(u.at, "volume %s of claim %q can be reached from %d of %s, none of which %s may use", u.claim.Spec.VolumeName, u.claim.Name,
				nodesIn(p.Cluster.Chosen(nil, reaching(p.Cluster, u.claim))), count(len(p.Cluster.Nodes()), "node"), u.role.Name)
		}
		return nil
	},
}

// outOfReach are the claims whose volume no node reaches that their pods may use.
func outOfReach(p *check.Pass) (out []claimUse) {
	for _, u := range claimsOf(p) {
		reaches := reaching(p.Cluster, u.claim)
		if reaches == nil || u.role.Replicas.Max == 0 || bringsNodes(p.Cluster, u.role) {
			continue
		}
		if len(candidates(p.Cluster, u.role)) > 0 && len(takers(p.Cluster, u.role, nil, reaches)) == 0 {
			out = append(out, u)
		}
	}
	return out
}

// reaching is a pod that chooses the nodes which reach the volume of a bound claim; nil: all
// do, or it is not known.
func reaching(view *cluster.Snapshot, claim *corev1.PersistentVolumeClaim) *corev1.PodSpec {
	if claim.Spec.VolumeName == "" {
		return nil
	}
	volume, there := view.Volume(claim.Spec.VolumeName)
	if there != job.Present || volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return nil
	}
	return &corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: volume.Spec.NodeAffinity.Required,
	}}}
}
