package assign

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// ClaimUse is a volume that the pods of a group mount.
type ClaimUse struct {
	Claim  string // shared by all pods of the group; empty: each pod has one of its own
	Driver string // that attaches it; empty: not known, or nothing is attached
	Handle string // the volume, as drivers name it
	Once   bool   // one pod in the whole cluster may use it (ReadWriteOncePod)
	Node   oneNode
	Local  bool   // SameNode because only one node reaches any volume that it may get
	Why    string // what is said where pods on several nodes are not judged
}

// oneNode says whether all pods with a claim must share a node.
type oneNode uint8

// Whether all pods with a claim must share a node.
const (
	AnyNode  oneNode = iota
	SameNode         // proven: the volume is attached to one node at a time
	maybe            // what happens on a second node is not known
)

// volumes reads what the volumes of a group mean for its place.
func volumes(s *cluster.Snapshot, cycle *Cycle, t *podFacts, namespace string, g *gang.Group) {
	var waiting []waitingClaim
	for i := range g.Pod.Spec.Volumes {
		switch v := &g.Pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			waiting = append(waiting, claim(s, cycle, t, namespace, v.PersistentVolumeClaim.ClaimName, g.Name)...)
		case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
			claim := &corev1.PersistentVolumeClaim{Spec: v.Ephemeral.VolumeClaimTemplate.Spec}
			claim.Namespace, claim.Annotations = namespace, v.Ephemeral.VolumeClaimTemplate.Annotations
			waiting = append(waiting, unbound(s, cycle, t, claim, "the volume "+v.Name, g.Name, true)...)
		default:
			t.Disks = append(t.Disks, podspec.Disks(v)...)
		}
	}
	servedTogether(s, cycle, t, waiting)
	slices.Sort(t.flipsYes)
}

// claim reads a claim that exists, or says what it means that it does not; one that waits for its first
// pod is returned.
func claim(s *cluster.Snapshot, cycle *Cycle, t *podFacts, namespace, name, group string) (waiting []waitingClaim) {
	claim, there := cluster.ReadOf[corev1.PersistentVolumeClaim](s, cluster.ClaimKind, namespace, name)
	switch there {
	case job.Unknown:
		t.doubtYes(fmt.Sprintf("the claim %s was not read; it may bind %s to some nodes", name, group))
		return nil
	case job.Absent:
		t.block("the claim %s does not exist in namespace %s", name, namespace)
		return nil
	case job.Present:
	}
	switch {
	case claim.DeletionTimestamp != nil:
		t.block("the claim %s is being deleted", name)
	case claim.Status.Phase == corev1.ClaimLost:
		t.block("the claim %s has lost its volume %s", name, claim.Spec.VolumeName)
	case claim.Status.Phase == corev1.ClaimPending && claim.Spec.VolumeName != "" && claim.Annotations[bindCompleted] == "":
		t.doubtYes(fmt.Sprintf("the claim %s is not bound to its volume %s yet; %s is not scheduled before it is", name, claim.Spec.VolumeName, group))
	case claim.Spec.VolumeName == "":
		waiting = unbound(s, cycle, t, claim, "the claim "+name, group, false)
	default:
		bound(s, t, claim, group)
	}
	users(s, cycle, t, claim)
	return waiting
}

// bindCompleted is written on a claim that is bound whole. One that names a volume without it waits for the volume
// controller (https://kubernetes.io/docs/reference/labels-annotations-taints/#pv-kubernetes-io-bind-completed).
const bindCompleted = "pv.kubernetes.io/bind-completed"

// bound reads the volume that a claim has.
func bound(s *cluster.Snapshot, t *podFacts, claim *corev1.PersistentVolumeClaim, group string) {
	name := claim.Spec.VolumeName
	use := ClaimUse{Claim: claim.Name, Once: slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod)}
	pv, there := cluster.ReadOf[cluster.Volume](s, cluster.VolumeKind, "", name)
	switch there {
	case job.Unknown:
		t.doubtYes(fmt.Sprintf("the volume %s of the claim %s was not read; it may bind %s to some nodes", name, claim.Name, group))
	case job.Absent:
		t.block("the volume %s of the claim %s does not exist", name, claim.Name)
	case job.Present:
		if pv.Spec.NodeAffinity != nil && pv.Spec.NodeAffinity.Required != nil {
			closeWhereNot(s, t, s.Reach(pv.Spec.NodeAffinity.Required))
			t.onHosts = t.onHosts || pv.OnHosts()
		}
		zones(s, t, pv.PersistentVolume)
		if csi := pv.Spec.CSI; csi != nil {
			use.Driver, use.Handle = csi.Driver, cluster.HandleOf(pv.PersistentVolume)
		}
		use.Node, use.Why = attaches(s, use.Driver, claim.Name, pv.Spec.AccessModes)
		installed(s, t, use.Driver, group)
	}
	t.Claims = append(t.Claims, use)
}

// allowed says whether a class makes volumes for a node with these labels. The terms are
// alternatives; within one, all expressions must hold
// (https://kubernetes.io/docs/concepts/storage/storage-classes/#allowed-topologies).
func allowed(class *storagev1.StorageClass, labels map[string]string) bool {
	if len(class.AllowedTopologies) == 0 {
		return true
	}
	for _, term := range class.AllowedTopologies {
		missed := func(e corev1.TopologySelectorLabelRequirement) bool {
			value, ok := labels[e.Key]
			return !ok || !slices.Contains(e.Values, value)
		}
		if len(term.MatchLabelExpressions) > 0 && !slices.ContainsFunc(term.MatchLabelExpressions, missed) {
			return true
		}
	}
	return false
}

// zones closes nodes of other zones than those written on a volume's labels, as the
// scheduler's VolumeZone does. Nodes without any such label are left alone.
func zones(s *cluster.Snapshot, t *podFacts, pv *corev1.PersistentVolume) {
	for _, key := range zoneLabels {
		if _, ok := pv.Labels[key[0]]; !ok {
			continue
		}
		values := podspec.ZonesIn(pv.Labels[key[0]])
		closeWhereNot(s, t, s.OnLabels(zoneLabelKeys, func(at int) bool {
			labels := s.Nodes()[at].Labels
			has := func(k [2]string) bool { _, ok := labels[k[0]]; return ok }
			if !slices.ContainsFunc(zoneLabels, has) {
				return true
			}
			v, ok := labels[key[0]]
			if !ok {
				v, ok = labels[key[1]]
			}
			return ok && slices.Contains(values, v)
		}))
	}
}

// zoneLabels are the labels of volumes that name zones, and what nodes call the same today
// (https://kubernetes.io/docs/reference/labels-annotations-taints/#failure-domainbetakubernetesiozone).
var zoneLabels = [][2]string{
	{corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyZone},
	{corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyRegion},
	{corev1.LabelTopologyZone, corev1.LabelTopologyZone},
	{corev1.LabelTopologyRegion, corev1.LabelTopologyRegion},
}

var zoneLabelKeys = []string{corev1.LabelFailureDomainBetaRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelTopologyRegion, corev1.LabelTopologyZone}

// attaches says whether a volume that several nodes may not use at once must be attached,
// which then is refused on a second node
// (https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes,
// https://kubernetes-csi.github.io/docs/skip-attach.html). Of a volume that is there its own modes count, which may be more
// than the claim asks for (k8s.io/kubernetes v1.37 pkg/volume/util, IsMultiAttachAllowed).
func attaches(s *cluster.Snapshot, driver, claim string, modes []corev1.PersistentVolumeAccessMode) (oneNode, string) {
	if driver == "" || !slices.Contains(modes, corev1.ReadWriteOnce) || slices.Contains(modes, corev1.ReadWriteMany) || slices.Contains(modes, corev1.ReadOnlyMany) {
		return AnyNode, ""
	}
	object, there := cluster.ReadOf[storagev1.CSIDriver](s, cluster.DriverKind, "", driver)
	switch there {
	case job.Unknown:
		return maybe, fmt.Sprintf("the claim %s is ReadWriteOnce; whether %s serves it to two nodes at once is not known", claim, driver)
	case job.Present:
		if object.Spec.AttachRequired != nil && !*object.Spec.AttachRequired {
			return AnyNode, ""
		}
	case job.Absent: // then it is attached
	}
	return SameNode, ""
}

// installed closes the nodes without a driver that wants no pods with its volumes there
// (https://pkg.go.dev/k8s.io/api/storage/v1#CSIDriverSpec, preventPodSchedulingIfMissing).
func installed(s *cluster.Snapshot, t *podFacts, driver, group string) {
	object, there := cluster.ReadOf[storagev1.CSIDriver](s, cluster.DriverKind, "", driver)
	if driver == "" || there != job.Present || object.Spec.PreventPodSchedulingIfMissing == nil || !*object.Spec.PreventPodSchedulingIfMissing {
		return
	}
	has, known := s.HasDriver(driver)
	if !known {
		t.doubtYes(fmt.Sprintf("%s goes only to nodes with the driver %s, and which have it was not read", group, driver))
		return
	}
	closeWhereNot(s, t, has)
}

// users closes the nodes where a claim cannot be used for the pods that use it already.
func users(s *cluster.Snapshot, cycle *Cycle, t *podFacts, claim *corev1.PersistentVolumeClaim) {
	at := slices.IndexFunc(t.Claims, func(u ClaimUse) bool { return u.Claim == claim.Name })
	if at < 0 || !t.Claims[at].Once && t.Claims[at].Node != SameNode {
		return
	}
	for _, idle := range []bool{false, true} {
		there := map[int]bool{} // nodes where the claim is in use
		for p := range s.ClaimUsers(claim.Namespace, claim.Name) {
			if node, ok := s.NodeAt(p.Node()); ok && (!idle || p.Resident() || cycle.stays[p]) {
				there[node] = true
			}
		}
		if len(there) == 0 {
			continue
		}
		bar := &t.closedNow
		if idle {
			bar = &t.closedIdle
		}
		*bar = slices.Clone(*bar)
		if *bar == nil {
			*bar = make([]bool, len(s.Nodes()))
		}
		for node := range s.Nodes() {
			(*bar)[node] = (*bar)[node] || t.Claims[at].Once || !there[node]
		}
	}
	if t.closedNow != nil && t.closedIdle == nil {
		t.closedIdle = make([]bool, len(s.Nodes()))
	}
}

// closeWhereNot closes the nodes, for good, for which a function does not hold.
func closeWhereNot(s *cluster.Snapshot, t *podFacts, reachable func(at int) bool) {
	if t.neverOpen == nil {
		t.neverOpen = make([]bool, len(s.Nodes()))
	}
	for at := range s.Nodes() {
		t.neverOpen[at] = t.neverOpen[at] || !reachable(at)
	}
}

// closeNow closes the nodes for which a function does not hold until something changes.
func closeNow(s *cluster.Snapshot, t *podFacts, open func(at int) bool) {
	if t.closedNow == nil {
		t.closedNow = make([]bool, len(s.Nodes()))
	}
	if t.closedIdle == nil {
		t.closedIdle = make([]bool, len(s.Nodes()))
	}
	for at := range s.Nodes() {
		t.closedNow[at] = t.closedNow[at] || !open(at)
	}
}

// inform says something that does not change the answer.
func (t *podFacts) inform(format string, args ...any) {
	t.info = append(t.info, fmt.Sprintf(format, args...))
}

// block says why no pod of the group is scheduled at all, whatever room there is.
func (t *podFacts) block(format string, args ...any) {
	if t.BlockedBy == "" {
		t.BlockedBy = fmt.Sprintf(format, args...)
	}
}
