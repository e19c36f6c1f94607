package assign

import (
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// waitingClaim is a claim that all pods of a group share and that waits for the first of them, and for
// which nodes a volume is made for it, now and ever.
type waitingClaim struct {
	*corev1.PersistentVolumeClaim
	class     string
	ever, now func(at int) bool
}

// storageUse is storage that a driver says it has on some nodes only.
type storageUse struct {
	driver, class, claim string // claim empty: each pod has one of its own
	size, least          int64  // asked; least is there, in sum, where there is enough for one (-1: not said)
}

// unbound reads a claim without a volume: own says that each pod has one of its own. It returns a claim
// that takes volumes which others of its class may take, too.
func unbound(s *cluster.Snapshot, cycle *Cycle, t *podFacts, claim *corev1.PersistentVolumeClaim, what, group string, own bool) []waitingClaim {
	var class *storagev1.StorageClass
	name, found := podspec.ClaimClass(claim), job.Absent
	if name != "" {
		class, found = cluster.ReadOf[storagev1.StorageClass](s, cluster.ClassKind, "", name)
	} else if class = s.DefaultClass(); class != nil && claim.Spec.StorageClassName == nil {
		found = job.Present
	}
	switch {
	case found == job.Unknown:
		t.doubtYes(fmt.Sprintf("%s is not bound yet, and its class was not read; its volume may bind %s to some nodes", what, group))
		return nil
	case found == job.Absent, class.VolumeBindingMode == nil, *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		t.doubtYes(fmt.Sprintf("%s is not bound yet; %s is not scheduled before it is", what, group))
		return nil
	}
	installed(s, t, class.Provisioner, group)
	use := ClaimUse{Claim: claim.Name, Driver: class.Provisioner, Once: slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod)}
	if own {
		use.Claim, use.Once = "", false
	} else {
		use.Handle = class.Provisioner + "/" + claim.Namespace + "/" + claim.Name
		use.Node, use.Why = maybe, fmt.Sprintf("%s is bound where its first pod goes; whether others reach it from other nodes is not known", what)
		// A volume that is there need not be the provisioner's, and what has no provisioner is not attached.
		foreign := class.Provisioner == podspec.NoProvisioner || s.HasUnclaimed(class.Name)
		must, _ := attaches(s, use.Driver, claim.Name, claim.Spec.AccessModes)
		local := foreign && s.Holds(cluster.ResourceOf(cluster.VolumeKind)) && s.IsNode(corev1.LabelHostname) && s.OnOneHost(class.Name)
		switch made := class.Provisioner != podspec.NoProvisioner; {
		case !foreign && must == SameNode:
			use.Node = SameNode
		case local && (!made || must == SameNode): // whichever volume it gets, one node reaches it
			use.Node, use.Local = SameNode, true
		}
	}
	p := provisions(s, cycle, t, claim, class, what, own)
	t.Claims = append(t.Claims, use)
	served := p.served
	if served == nil {
		served = func(int) bool { return false }
	}
	closeWhereNot(s, t, func(at int) bool { return p.ever(at) || served(at) })
	if p.now == nil {
		p.now = p.ever
	} else {
		closeNow(s, t, func(at int) bool { return p.now(at) || served(at) })
	}
	if own || p.served == nil || p.anywhere || !s.HasUnclaimed(class.Name) {
		return nil
	}
	return []waitingClaim{{claim, class.Name, p.ever, p.now}}
}

// provision says from which nodes a claim that waits for its first pod can be served.
type provision struct {
	served   func(at int) bool // by a volume that is there; nil: none is taken
	ever     func(at int) bool // by one that is made
	now      func(at int) bool // there is storage for that now; nil: wherever it is made
	anywhere bool              // one is made, whatever node it is
}

func provisions(s *cluster.Snapshot, cycle *Cycle, t *podFacts, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, what string, own bool) provision {
	whole := s.Holds(cluster.ResourceOf(cluster.VolumeKind))
	makes := class.Provisioner != "" && class.Provisioner != podspec.NoProvisioner
	p := provision{ever: func(int) bool { return makes }, anywhere: makes && len(class.AllowedTopologies) == 0}
	if makes && len(class.AllowedTopologies) > 0 {
		var keys []string
		for _, term := range class.AllowedTopologies {
			for _, e := range term.MatchLabelExpressions {
				keys = append(keys, e.Key)
			}
		}
		p.ever = s.OnLabels(keys, func(at int) bool { return allowed(class, s.Nodes()[at].Labels) })
	}
	if makes {
		if has := storageFor(s, cycle, t, claim, class, what, own); has != nil {
			topology := p.ever
			p.now, p.anywhere = func(at int) bool { return topology(at) && has(at) }, false
		}
	}
	if node, ok := claim.Annotations[podspec.SelectedNode]; ok {
		ever, now := p.ever, p.now
		p.ever = func(at int) bool { return s.Nodes()[at].Name == node && ever(at) }
		if now != nil {
			p.now = func(at int) bool { return s.Nodes()[at].Name == node && now(at) }
		}
		p.anywhere = false
		return p
	}
	if makes && claim.Spec.Selector != nil {
		// https://kubernetes.io/docs/concepts/storage/persistent-volumes/#selector: for such a claim none is provisioned, and the
		// scheduler does not look.
		t.doubtYes(fmt.Sprintf("%s has a selector, and no volume is made for such a claim; only one that is there serves it, which is not judged", what))
	}
	if !makes && !whole {
		t.doubtYes(fmt.Sprintf("volumes of the class %s were not read; %s may bind its pods to some nodes", class.Name, what))
		return provision{ever: func(int) bool { return true }}
	}
	if own && !p.anywhere && s.HasUnclaimed(class.Name) {
		t.taking = append(t.taking, takenVolume{claim, class.Name, what, p.ever, p.now})
	}
	p.served = s.Served(claim, class.Name)
	return p
}

// takenVolume is a volume that each pod of a group takes for itself: one that is there, or one that is made.
type takenVolume struct {
	*corev1.PersistentVolumeClaim
	class, what string
	ever, now   func(at int) bool // one is made; now nil: as ever
}

// made says whether a volume is made for a pod on a node now.
func (v *takenVolume) made(at int) bool { return v.ever(at) && (v.now == nil || v.now(at)) }

// countVolumes counts the volumes that are there as what a node has, for claims of which each pod has one of its own.
// That is exact where each volume is reached from one node, and where the pods that take volumes of a class suit the
// same ones; else as many are counted as there can be at most.
func (cycle *Cycle) countVolumes() {
	type suited struct {
		class   string
		volumes []string
		driver  string
	}
	var all []suited
	for i := range cycle.Facts {
		t := &cycle.Facts[i]
		for j := range t.taking {
			v := &t.taking[j]
			if !cycle.Budget.Spend(len(cycle.s.Nodes())) {
				return
			}
			volumes, counts, local := cycle.s.VolumesFor(v.PersistentVolumeClaim, v.class, cycle.Budget.Spend)
			if counts == nil {
				t.doubtYes(v.what + " may take volumes that are there; how many there are is not judged")
				continue
			}
			if !local {
				t.doubtYes(v.what + " may take volumes that several nodes reach; on which of them they are taken is not judged")
			}
			at := slices.IndexFunc(all, func(o suited) bool { return o.class == v.class && slices.Equal(o.volumes, volumes) })
			if at < 0 {
				at = len(all)
				all = append(all, suited{v.class, volumes, fmt.Sprintf("volumes of class %s for %s", v.class, v.what)})
				for node := range counts {
					if v.made(node) {
						counts[node] = math.MaxInt32 / 2
					}
				}
				cycle.AttachLimits = append(cycle.AttachLimits, cluster.AttachLimits{Driver: all[at].driver, Local: true, Now: counts, Idle: counts})
			}
			t.Claims = append(t.Claims, ClaimUse{Driver: all[at].driver})
		}
	}
	for i := range cycle.Facts {
		t := &cycle.Facts[i]
		for j := range t.taking {
			v := &t.taking[j]
			others := slices.ContainsFunc(cycle.Facts, func(o podFacts) bool {
				return slices.ContainsFunc(o.waiting, func(w waitingClaim) bool { return w.class == v.class })
			})
			several := 0
			for _, o := range all {
				several += OneIf(o.class == v.class)
			}
			later := len(cycle.Order.Stages) > 1 && cycle.takers(v.class) > 1 // pods that are done keep their volumes
			if others || later || several > 1 {
				t.doubtYes(fmt.Sprintf("%s and other claims take volumes of the class %s, and which is not judged", v.what, v.class))
			}
		}
	}
}

// takers are the groups whose pods take volumes of a class for themselves.
func (cycle *Cycle) takers(class string) (n int) {
	for i := range cycle.Facts {
		n += OneIf(slices.ContainsFunc(cycle.Facts[i].taking, func(v takenVolume) bool { return v.class == class }))
	}
	return n
}

// storageFor says on which nodes a driver has storage left for a claim; nil: it does not say, or is
// not asked.
func storageFor(s *cluster.Snapshot, cycle *Cycle, t *podFacts, claim *corev1.PersistentVolumeClaim, class *storagev1.StorageClass, what string, own bool) func(at int) bool {
	driver, there := cluster.ReadOf[storagev1.CSIDriver](s, cluster.DriverKind, "", class.Provisioner)
	size, asked := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	if !asked || there != job.Present || driver.Spec.StorageCapacity == nil || !*driver.Spec.StorageCapacity {
		return nil
	}
	doubt := fmt.Sprintf("%s needs storage that %s has on some nodes only, which is not judged", what, class.Provisioner)
	if !s.Holds(cluster.ResourceOf(cluster.CapacityKind)) {
		t.doubtYes(doubt)
		return nil
	}
	if !cycle.Budget.Spend(s.StorageCapacities()) {
		return nil
	}
	has, least, judged := s.StorageFor(class.Name, size.Value(), math.MinInt64)
	if !judged {
		t.doubtYes(doubt)
		return nil
	}
	use := storageUse{driver: class.Provisioner, class: class.Name, claim: claim.Name, size: size.Value(), least: least}
	if own {
		use.claim = ""
	}
	t.storage = append(t.storage, use)
	return has
}

// servedTogether closes the nodes on which the volumes that are there do not do for all claims of a pod
// that take one: each takes the smallest that suits it, the smallest claim first.
func servedTogether(s *cluster.Snapshot, cycle *Cycle, t *podFacts, waiting []waitingClaim) {
	t.waiting = slices.Clone(waiting)
	for len(waiting) > 0 {
		class := waiting[0].class
		var one []waitingClaim
		var claims []*corev1.PersistentVolumeClaim
		for _, w := range waiting {
			if w.class == class && !slices.ContainsFunc(one, func(o waitingClaim) bool { return o.Name == w.Name }) {
				one, claims = append(one, w), append(claims, w.PersistentVolumeClaim)
			}
		}
		waiting = slices.DeleteFunc(waiting, func(w waitingClaim) bool { return w.class == class })
		if len(one) < 2 {
			continue
		}
		dealt, sure := s.Dealt(claims, class, false)
		if !sure {
			t.doubtYes(fmt.Sprintf("the claims %s and %s take volumes of the class %s, and which is not judged", one[0].Name, one[1].Name, class))
			continue
		}
		if !cycle.Budget.Spend(len(s.Nodes()) * (len(one) + 4)) {
			return
		}
		closeWhereNot(s, t, func(at int) bool { return dealt(at, func(i int) bool { return one[i].ever(at) }) })
		closeNow(s, t, func(at int) bool { return dealt(at, func(i int) bool { return one[i].now(at) }) })
	}
}

// doubtSharedClasses blurs the answer where pods of several groups have claims that wait for volumes of
// one class that are there, and these may not do for all of them: which claim takes which is not judged.
func (cycle *Cycle) doubtSharedClasses() {
	type user struct {
		waitingClaim
		group int
	}
	if !slices.ContainsFunc(cycle.Facts, func(t podFacts) bool { return len(t.waiting) > 0 }) {
		return
	}
	classes := map[string][]user{}
	for i := range cycle.Facts {
		for _, w := range cycle.Facts[i].waiting {
			if !slices.ContainsFunc(classes[w.class], func(u user) bool { return u.Name == w.Name }) {
				classes[w.class] = append(classes[w.class], user{w, i})
			}
		}
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		users := classes[class]
		var claims []*corev1.PersistentVolumeClaim
		for _, u := range users {
			claims = append(claims, u.PersistentVolumeClaim)
		}
		if users[0].group == users[len(users)-1].group || !cycle.Budget.Spend(len(cycle.s.Nodes())*(len(users)+4)) {
			continue
		}
		dealt, sure := cycle.s.Dealt(claims, class, false)
		if sure && cycle.s.OnOneHost(class) && !slices.ContainsFunc(cycle.nodesOfSeveral(class), func(at int) bool {
			return !dealt(at, func(i int) bool { return users[i].now(at) })
		}) {
			continue
		}
		if cycle.strict && len(cycle.Order.Stages) == 1 && cycle.keepApart(class) {
			continue
		}
		for _, u := range users[1:] {
			if u.group != users[0].group {
				cycle.Facts[u.group].doubtYes(fmt.Sprintf("the claims %s and %s take volumes of the class %s, and which is not judged", users[0].Name, u.Name, class))
			}
		}
	}
}

// keepApart keeps groups with waiting claims of a class from each other's nodes, and each on nodes where
// volumes that no other node reaches do for its claims, or where one is made for each: then it does not
// matter which claim takes which. False: that cannot be said. Claims keep their volumes when their pods are
// done: groups that run one after the other are not kept apart so.
func (cycle *Cycle) keepApart(class string) bool {
	for i := range cycle.Facts {
		t := &cycle.Facts[i]
		var mine []waitingClaim
		var claims []*corev1.PersistentVolumeClaim
		for _, w := range t.waiting {
			if w.class == class && !slices.ContainsFunc(mine, func(o waitingClaim) bool { return o.Name == w.Name }) {
				mine, claims = append(mine, w), append(claims, w.PersistentVolumeClaim)
			}
		}
		if len(mine) == 0 {
			continue
		}
		dealt, sure := cycle.s.Dealt(claims, class, true)
		if !sure || !cycle.Budget.Spend(len(cycle.s.Nodes())*(len(mine)+4)) {
			return false
		}
		closeNow(cycle.s, t, func(at int) bool { return dealt(at, func(i int) bool { return mine[i].now(at) }) })
		t.apartBy = append(t.apartBy, class)
	}
	return true
}

// nodesOfSeveral are the nodes where pods of several groups with waiting claims of a class may go.
func (cycle *Cycle) nodesOfSeveral(class string) []int {
	var out []int
	for at := range cycle.s.Nodes() {
		groups := 0
		for i := range cycle.Facts {
			t := &cycle.Facts[i]
			if slices.ContainsFunc(t.waiting, func(w waitingClaim) bool { return w.class == class }) && !t.neverOpen[at] {
				groups++
			}
		}
		if groups > 1 {
			out = append(out, at)
		}
	}
	return out
}

// doubtStorage blurs the answer where the volumes that a driver is to make for the gang may be more than
// it has storage for in one place: the scheduler looks at each claim alone, and the driver at their sum.
func (cycle *Cycle) doubtStorage(g gang.Gang) {
	type all struct {
		sum, least int64
		claims     int
		seen       []string
	}
	drivers := map[string]*all{}
	for i := range cycle.Facts {
		for _, use := range cycle.Facts[i].storage {
			d := drivers[use.driver]
			if d == nil {
				d = &all{least: math.MaxInt64}
				drivers[use.driver] = d
			}
			if use.claim != "" && slices.Contains(d.seen, use.claim) {
				continue
			}
			pods := 1
			if d.seen = append(d.seen, use.claim); use.claim == "" {
				pods = g.Groups[i].Count
			}
			d.sum, d.claims = saturate.Add(d.sum, saturate.Mul(use.size, int64(pods))), d.claims+pods
			d.least = min(d.least, use.least)
		}
	}
	for i := range cycle.Facts {
		for _, use := range cycle.Facts[i].storage {
			d := drivers[use.driver]
			if d.claims == 1 || d.sum <= d.least {
				continue
			}
			if cycle.strict && cycle.Budget.Spend(cycle.s.StorageCapacities()+len(cycle.s.Nodes())) {
				if has, _, judged := cycle.s.StorageFor(use.class, use.size, d.sum); judged {
					closeNow(cycle.s, &cycle.Facts[i], has) // wherever they go, there is storage for all
					continue
				}
			}
			format := func(n int64) string { return job.Format(corev1.ResourceEphemeralStorage, n) }
			left := fmt.Sprintf("which of them share its storage, of which as little as %s is left in one place, is not judged", format(d.least))
			if d.least < 0 {
				left = "how much storage it has left in one place is not known"
			}
			cycle.Facts[i].doubtYes(fmt.Sprintf("%s is to make volumes of %s in all; %s", use.driver, format(d.sum), left))
		}
	}
}
