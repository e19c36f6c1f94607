package facts

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/capacity"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// misfit is why no node of the cluster could ever take one pod of a role, whatever else
// runs there. Cordoned nodes and nodes that are not ready count: they come back.
type misfit int

const (
	Fitting    misfit = iota // some node could, or there is no node to judge by
	Unselected               // node selector or affinity choose no node
	Tainted                  // every node they choose has a taint that is not tolerated
	Oversized                // every node that is left is too small for one resource
)

// ShapeOf judges one pod of a role; left are the nodes that passed all gates before the
// one that failed, in groups of equal ones.
func ShapeOf(view *capacity.Snapshot, r *job.Role) (why misfit, left []capacity.NodeGroup) {
	if len(view.Nodes()) == 0 || r.Replicas.Max == 0 {
		return Fitting, nil
	}
	chosen := view.Chosen(nil, &r.Pod.Spec)
	if len(chosen) == 0 {
		return Unselected, nil
	}
	open := keep(chosen, func(n capacity.NodeGroup) bool { return n.Untolerated(r.Pod.Spec.Tolerations) == nil })
	if len(open) == 0 {
		return Tainted, chosen
	}
	if len(Exceeding(view, r.Pod, open)) > 0 {
		return Oversized, open
	}
	return Fitting, open
}

// Exceeding are the resources of which one pod asks for more than any of the nodes has,
// in the order of their names. What is served as devices is not on nodes to be compared.
func Exceeding(view *capacity.Snapshot, p job.Pod, nodes []capacity.NodeGroup) []Excess {
	var out []Excess
	requests := capacity.Requested(p)
	for _, name := range requests.Names() {
		if view.Devices(name) {
			continue
		}
		e := Excess{Resource: name, Asked: requests[name]}
		said := false
		for _, n := range nodes {
			amount, ok := n.Allocatable[name]
			e.Most, said = max(e.Most, amount), said || ok
		}
		// Every kubelet says how much cpu, memory and disk it has: a view that does not was
		// cut short, while a device that no node names is a device that no node has.
		if e.Asked > e.Most && (said || strings.Contains(string(name), "/")) {
			out = append(out, e)
		}
	}
	return out
}

// Excess is a resource of which a pod asks for more than the largest node has.
type Excess struct {
	Resource    corev1.ResourceName
	Asked, Most int64
}

// NodesIn is how many nodes some groups have.
func NodesIn(groups []capacity.NodeGroup) (n int) {
	for _, g := range groups {
		n += g.Count
	}
	return n
}

func keep(nodes []capacity.NodeGroup, ok func(capacity.NodeGroup) bool) []capacity.NodeGroup {
	var out []capacity.NodeGroup
	for _, n := range nodes {
		if ok(n) {
			out = append(out, n)
		}
	}
	return out
}

// OutOfReach are the claims whose volume no node reaches that their pods may use.
func OutOfReach(p *check.Pass) (out []ClaimUse) {
	for _, u := range ClaimsOf(p) {
		reaches := Reaching(p.Cluster, u.Claim)
		if reaches == nil || u.Role.Replicas.Max == 0 || BringsNodes(p.Cluster, u.Role) {
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
func Reaching(view *capacity.Snapshot, claim *corev1.PersistentVolumeClaim) *corev1.PodSpec {
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
func Candidates(view *capacity.Snapshot, r *job.Role, keys ...string) []capacity.NodeGroup {
	return takers(view, r, keys)
}

// takers are the candidates that some other pods choose too.
func takers(view *capacity.Snapshot, r *job.Role, keys []string, and ...*corev1.PodSpec) []capacity.NodeGroup {
	asked := capacity.Requested(r.Pod)
	return keep(view.Chosen(keys, append(and, &r.Pod.Spec)...), func(n capacity.NodeGroup) bool {
		if n.Untolerated(r.Pod.Spec.Tolerations) != nil {
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
// kinds that the view has never seen, unless all its node pools keep such pods away.
func BringsNodes(view *capacity.Snapshot, r *job.Role) bool {
	brings, _ := view.Brings(&r.Pod.Spec)
	return brings != job.Absent
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
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return "", ""
	}
	terms := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 1 {
		return "", ""
	}
	for i, e := range terms[0].MatchExpressions {
		if v, ok := spotLabels[e.Key]; ok && e.Operator == corev1.NodeSelectorOpIn && len(e.Values) == 1 && e.Values[0] == v {
			at := job.Path("affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions").Index(i)
			return at, e.Key + "=" + v
		}
	}
	return "", ""
}
