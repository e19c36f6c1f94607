package capacity

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

// claimUse is a volume that the pods of a group mount.
type claimUse struct {
	claim  string // shared by all pods of the group; empty: each pod has one of its own
	driver string // that attaches it; empty: not known, or nothing is attached
	handle string // the volume, as drivers name it
	once   bool   // one pod in the whole cluster may use it (ReadWriteOncePod)
	node   oneNode
	why    string // what is said where pods on several nodes are not judged
	from   string // the class of which there are volumes to take; empty: none
}

// oneNode says whether all pods with a claim must share a node.
type oneNode uint8

const (
	anyNode  oneNode = iota
	sameNode         // proven: the volume is attached to one node at a time
	maybe            // what happens on a second node is not known
)

// volumes reads what the volumes of a group mean for its place.
func volumes(s *cluster.Snapshot, on *ground, t *traits, namespace string, g *gang.Group) {
	for i := range g.Pod.Spec.Volumes {
		switch v := &g.Pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			claim(s, on, t, namespace, v.PersistentVolumeClaim.ClaimName, g.Name)
		case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
			claim := &corev1.PersistentVolumeClaim{Spec: v.Ephemeral.VolumeClaimTemplate.Spec}
			claim.Namespace, claim.Annotations = namespace, v.Ephemeral.VolumeClaimTemplate.Annotations
			unbound(s, t, claim, "the volume "+v.Name, g.Name, true)
		default:
			t.disks = append(t.disks, podspec.Disks(v)...)
		}
	}
	slices.Sort(t.blind)
}

// claim reads a claim that exists, or says what it means that it does not.
func claim(s *cluster.Snapshot, on *ground, t *traits, namespace, name, group string) {
	claim, there := cluster.ReadOf[corev1.PersistentVolumeClaim](s, cluster.ClaimKind, namespace, name)
	switch there {
	case job.Unknown:
		t.note("the claim %s is not in the snapshot; it may bind %s to some nodes", name, group)
		return
	case job.Absent:
		t.stop("the claim %s does not exist in namespace %s", name, namespace)
		return
	case job.Present:
	}
	switch {
	case claim.DeletionTimestamp != nil:
		t.stop("the claim %s is being deleted", name)
	case claim.Status.Phase == corev1.ClaimLost:
		t.stop("the claim %s has lost its volume %s", name, claim.Spec.VolumeName)
	case claim.Spec.VolumeName == "":
		unbound(s, t, claim, "the claim "+name, group, false)
	default:
		bound(s, t, claim, group)
	}
	users(s, on, t, claim)
}

// bound reads the volume that a claim has.
func bound(s *cluster.Snapshot, t *traits, claim *corev1.PersistentVolumeClaim, group string) {
	name := claim.Spec.VolumeName
	use := claimUse{claim: claim.Name, once: slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod)}
	pv, there := cluster.ReadOf[cluster.Volume](s, cluster.VolumeKind, "", name)
	switch there {
	case job.Unknown:
		t.note("the volume %s of the claim %s is not in the snapshot; it may bind %s to some nodes", name, claim.Name, group)
	case job.Absent:
		t.stop("the volume %s of the claim %s does not exist", name, claim.Name)
	case job.Present:
		if pv.Spec.NodeAffinity != nil && pv.Spec.NodeAffinity.Required != nil {
			required := pv.Spec.NodeAffinity.Required
			closeWhereNot(s, t, s.ByLabels(podspec.ReachableFrom(required), required.NodeSelectorTerms, nil))
		}
		zones(s, t, pv.PersistentVolume)
		if csi := pv.Spec.CSI; csi != nil {
			use.driver, use.handle = csi.Driver, cluster.HandleOf(pv.PersistentVolume)
		}
		use.node, use.why = attaches(s, use.driver, claim)
	}
	t.claims = append(t.claims, use)
}

// unbound reads a claim without a volume: own says that each pod has one of its own.
func unbound(s *cluster.Snapshot, t *traits, claim *corev1.PersistentVolumeClaim, what, group string, own bool) {
	var class *storagev1.StorageClass
	name, found := podspec.ClaimClass(claim), job.Absent
	if name != "" {
		class, found = cluster.ReadOf[storagev1.StorageClass](s, cluster.ClassKind, "", name)
	}
	switch {
	case found == job.Unknown:
		t.note("%s is not bound yet; its volume may bind %s to some nodes", what, group)
		return
	case found == job.Absent, class.VolumeBindingMode == nil, *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		t.blur(fmt.Sprintf("%s is not bound yet; %s is not scheduled before it is", what, group))
		return
	}
	use := claimUse{claim: claim.Name, driver: class.Provisioner, once: slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod)}
	if own {
		use.claim, use.once = "", false
	} else {
		use.handle = class.Provisioner + "/" + claim.Namespace + "/" + claim.Name
		use.node, use.why = maybe, fmt.Sprintf("%s is bound where its first pod goes; whether others reach it from other nodes is not known", what)
		if must, _ := attaches(s, use.driver, claim); must == sameNode {
			use.node = sameNode
		}
	}
	if s.HasUnclaimed(class.Name) {
		use.from = class.Name
	}
	t.claims = append(t.claims, use)
	closeWhereNot(s, t, provisions(s, t, claim, class, what, own))
}

// compete blurs the answer where several claims wait for volumes of one class that are
// there: each takes one, and which is not judged.
func (on *ground) compete() {
	first := map[string]string{}
	for i := range on.traits {
		for _, c := range on.traits[i].claims {
			if c.from == "" || c.claim == "" {
				continue
			}
			if was, ok := first[c.from]; ok && was != c.claim {
				on.traits[i].blur(fmt.Sprintf("the claims %s and %s take volumes of the class %s, and which is not judged", was, c.claim, c.from))
				continue
			}
			first[c.from] = c.claim
		}
	}
}

// provisions says from which nodes a claim that waits for its first pod can be served: by
// a volume that is there, or by one that is made.
func provisions(s *cluster.Snapshot, t *traits, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, what string, own bool) func(at int) bool {
	whole := s.Holds(cluster.ResourceOf(cluster.VolumeKind))
	makes := class.Provisioner != "" && class.Provisioner != podspec.NoProvisioner
	topology := func(int) bool { return makes }
	if makes && len(class.AllowedTopologies) > 0 {
		var keys []string
		for _, term := range class.AllowedTopologies {
			for _, e := range term.MatchLabelExpressions {
				keys = append(keys, e.Key)
			}
		}
		topology = s.OnLabels(keys, func(at int) bool { return allowed(class, s.Nodes()[at].Labels) })
	}
	if node, ok := claim.Annotations[podspec.SelectedNode]; ok {
		return func(at int) bool { return s.Nodes()[at].Name == node && topology(at) }
	}
	if !makes && !whole {
		t.note("volumes of the class %s are not in the snapshot; %s may bind its pods to some nodes", class.Name, what)
		return func(int) bool { return true }
	}
	if own && s.HasUnclaimed(class.Name) {
		t.blur(what + " may take volumes that are there; how many there are is not judged")
	}
	if makes {
		driver, there := cluster.ReadOf[storagev1.CSIDriver](s, cluster.DriverKind, "", class.Provisioner)
		if there == job.Present && driver.Spec.StorageCapacity != nil && *driver.Spec.StorageCapacity {
			t.blur(fmt.Sprintf("%s needs storage that %s has on some nodes only, which is not judged", what, class.Provisioner))
		}
	}
	served := s.Served(claim, class.Name)
	return func(at int) bool { return topology(at) || served(at) }
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
func zones(s *cluster.Snapshot, t *traits, pv *corev1.PersistentVolume) {
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
// https://kubernetes-csi.github.io/docs/skip-attach.html).
func attaches(s *cluster.Snapshot, driver string, claim *corev1.PersistentVolumeClaim) (oneNode, string) {
	modes := claim.Spec.AccessModes
	if driver == "" || !slices.Contains(modes, corev1.ReadWriteOnce) || slices.Contains(modes, corev1.ReadWriteMany) || slices.Contains(modes, corev1.ReadOnlyMany) {
		return anyNode, ""
	}
	object, there := cluster.ReadOf[storagev1.CSIDriver](s, cluster.DriverKind, "", driver)
	switch there {
	case job.Unknown:
		return maybe, fmt.Sprintf("the claim %s is ReadWriteOnce; whether %s serves it to two nodes at once is not known", claim.Name, driver)
	case job.Present:
		if object.Spec.AttachRequired != nil && !*object.Spec.AttachRequired {
			return anyNode, ""
		}
	case job.Absent: // then it is attached
	}
	return sameNode, ""
}

// users closes the nodes where a claim cannot be used for the pods that use it already.
func users(s *cluster.Snapshot, on *ground, t *traits, claim *corev1.PersistentVolumeClaim) {
	at := slices.IndexFunc(t.claims, func(u claimUse) bool { return u.claim == claim.Name })
	if at < 0 || !t.claims[at].once && t.claims[at].node != sameNode {
		return
	}
	for _, idle := range []bool{false, true} {
		there := map[int]bool{} // nodes where the claim is in use
		for p := range s.ClaimUsers(claim.Namespace, claim.Name) {
			if node, ok := s.NodeAt(p.Node()); ok && (!idle || p.Resident() || on.stays[p]) {
				there[node] = true
			}
		}
		if len(there) == 0 {
			continue
		}
		bar := &t.barredNow
		if idle {
			bar = &t.barredIdle
		}
		*bar = slices.Clone(*bar)
		if *bar == nil {
			*bar = make([]bool, len(s.Nodes()))
		}
		for node := range s.Nodes() {
			(*bar)[node] = (*bar)[node] || t.claims[at].once || !there[node]
		}
	}
	if t.barredNow != nil && t.barredIdle == nil {
		t.barredIdle = make([]bool, len(s.Nodes()))
	}
}

// closeWhereNot closes the nodes, for good, for which a function does not hold.
func closeWhereNot(s *cluster.Snapshot, t *traits, reachable func(at int) bool) {
	if t.closed == nil {
		t.closed = make([]bool, len(s.Nodes()))
	}
	for at := range s.Nodes() {
		t.closed[at] = t.closed[at] || !reachable(at)
	}
}

// note says something that does not change the answer.
func (t *traits) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// stop says why no pod of the group is scheduled at all, whatever room there is.
func (t *traits) stop(format string, args ...any) {
	if t.stuck == "" {
		t.stuck = fmt.Sprintf(format, args...)
	}
}
