package facts

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// OutOfReach are the claims whose volume no node reaches that their pods may use.
func OutOfReach(p *check.Pass) (out []ClaimUse) {
	for _, u := range ClaimsOf(p) {
		reaches := Reaching(p.Cluster, u.Claim)
		if reaches == nil || u.Role.Replicas.Max == 0 || p.Over() || BringsNodes(p, u.Role) {
			continue
		}
		if len(Candidates(p.Cluster, u.Role)) > 0 && len(takers(p.Cluster, u.Role, nil, reaches)) == 0 {
			out = append(out, u)
		}
	}
	return out
}

// Reaching is a pod that chooses the nodes which reach the volume of a bound claim; nil: all
// do, or it is not known.
func Reaching(view *cluster.Snapshot, claim *corev1.PersistentVolumeClaim) *corev1.PodSpec {
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

// Candidates are the nodes that could take one pod of a role if they were empty, in groups of
// nodes that agree in some labels.
func Candidates(view *cluster.Snapshot, r *job.Role, keys ...string) []cluster.NodeGroup {
	return takers(view, r, keys)
}

// takers are the candidates that some other pods choose too.
func takers(view *cluster.Snapshot, r *job.Role, keys []string, and ...*corev1.PodSpec) []cluster.NodeGroup {
	asked, tolerations := podspec.Requested(r.Pod), view.Tolerations(&r.Pod.Spec)
	return keep(view.Chosen(keys, append(and, &r.Pod.Spec)...), func(n cluster.NodeGroup) bool {
		if n.Untolerated(tolerations) != nil {
			return false
		}
		for name, amount := range asked {
			if most, said := n.Allocatable[name]; amount > most && (said || strings.Contains(string(name), "/")) {
				return false
			}
		}
		return true
	})
}

// BringsNodes says whether nodes may come that fit the role: an autoscaler adds nodes of
// kinds that the view has never seen, unless all its node pools keep such pods away, and
// the job's queue may have nodes made for it.
func BringsNodes(p *check.Pass, r *job.Role) bool {
	brings, _ := quota.Brings(p.Cluster, &r.Pod.Spec)
	return brings != job.Absent || quota.Provisioner(p.Cluster, gang.Of(p.Job)) != ""
}

// spotLabels are the labels of nodes that the cloud may take back, with the value that
// says so. Sources: karpenter.sh, docs.aws.amazon.com/eks (managed node groups),
// cloud.google.com/kubernetes-engine (spot-vms), learn.microsoft.com/azure/aks (spot-node-pool).
var spotLabels = map[string]string{
	"karpenter.sh/capacity-type":            "spot",
	"eks.amazonaws.com/capacityType":        "SPOT",
	"cloud.google.com/gke-spot":             "true",
	"cloud.google.com/gke-preemptible":      "true",
	"kubernetes.azure.com/scalesetpriority": "spot",
}

// SpotSelection is where a pod selects spot nodes and nothing else, and by which label.
func SpotSelection(spec *corev1.PodSpec) (job.Path, string) {
	for _, key := range slices.Sorted(maps.Keys(spotLabels)) {
		if v, ok := spec.NodeSelector[key]; ok && v == spotLabels[key] {
			return job.Path("nodeSelector").Key(key), key + "=" + v
		}
	}
	required := podspec.NodeAffinity(spec)
	if required == nil || len(required.NodeSelectorTerms) != 1 {
		return "", ""
	}
	for i, e := range required.NodeSelectorTerms[0].MatchExpressions {
		if v, ok := spotLabels[e.Key]; ok && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 && e.Values[0] == v {
			at := job.Path("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions").Index(i)
			return at, e.Key + "=" + v
		}
	}
	return "", ""
}
