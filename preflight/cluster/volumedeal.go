package cluster

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// Dealt says whether all of some claims of one class get a volume on a node: as the scheduler deals them,
// the smallest claim takes the smallest volume that suits it and that none has taken, and for what is left
// one has to be made, if that is done for the claim
// (k8s.io/kubernetes v1.37 pkg/scheduler/framework/plugins/volumebinding/binder.go, findMatchingVolumes).
// Not sure: other volumes suit the one than suit the other, whatever their size, and of equal volumes the
// one that is taken decides; or there are too many to look at. With local only volumes are dealt that one
// node reaches: what others leave does not matter there.
func (s *Snapshot) Dealt(claims []*corev1.PersistentVolumeClaim, class string, local bool) (dealt func(at int, made func(claim int) bool) bool, sure bool) {
	order := make([]int, 0, len(claims))
	meant := map[int]func(at int) bool{} // claims that have a volume of their own
	for i, claim := range claims {
		for range s.storage.claimed.called(claim.Namespace, claim.Name) {
			meant[i] = s.Served(claim, class)
			break
		}
		if meant[i] == nil {
			order = append(order, i)
		}
	}
	size := func(i int) int64 {
		q := claims[i].Spec.Resources.Requests[corev1.ResourceStorage]
		return q.Value()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size(a), size(b)) })
	volumes, sure := s.suited(claims, order, class, local)
	return func(at int, made func(claim int) bool) bool {
		for i, there := range meant {
			if !there(at) && !made(i) {
				return false
			}
		}
		sizes := volumes.on(at)
		for _, i := range order {
			for len(sizes) > 0 && sizes[0] < size(i) {
				sizes = sizes[1:]
			}
			switch {
			case len(sizes) > 0:
				sizes = sizes[1:]
			case !made(i):
				return false
			}
		}
		return true
	}, sure
}

// mostWide bounds the volumes of a class that more than named nodes reach and that are dealt to claims:
// each is looked at for each node.
const mostWide = 64

// suitedVolumes are volumes that no claim has and that suit some claims, by the nodes that reach them.
type suitedVolumes struct {
	s      *Snapshot
	onHost map[string][]int64 // by hostname label: their sizes
	wide   []int64            // sizes of the others
	reach  []func(at int) bool
}

// on are the sizes of the volumes that a node reaches, the smallest first.
func (v *suitedVolumes) on(at int) []int64 {
	var sizes []int64
	if host, ok := v.s.nodes[at].Labels[corev1.LabelHostname]; ok {
		sizes = append(sizes, v.onHost[host]...)
	}
	for i, reached := range v.reach {
		if reached(at) {
			sizes = append(sizes, v.wide[i])
		}
	}
	slices.Sort(sizes)
	return sizes
}

// suited are the volumes of a class that suit some claims, whatever their size. False: other volumes suit
// the one than suit the other, or there are too many to look at.
func (s *Snapshot) suited(claims []*corev1.PersistentVolumeClaim, order []int, class string, local bool) (*suitedVolumes, bool) {
	out := &suitedVolumes{s: s, onHost: map[string][]int64{}}
	if len(order) == 0 {
		return out, true
	}
	ofAnySize := make([]*corev1.PersistentVolumeClaim, len(order))
	for i, at := range order {
		claim := *claims[at]
		claim.Spec.Resources = corev1.VolumeResourceRequirements{}
		ofAnySize[i] = &claim
	}
	for name := range s.storage.unclaimed.in(class) {
		v := Find[Volume](s.objects, VolumeKind, "", name.Name)
		if v == nil || local && len(v.hosts) != 1 {
			continue
		}
		suits := 0
		for _, claim := range ofAnySize {
			if podspec.VolumeSuits(claim, v.PersistentVolume) {
				suits++
			}
		}
		switch suits {
		case 0:
			continue
		case len(ofAnySize):
		default:
			return out, false
		}
		q := v.Spec.Capacity[corev1.ResourceStorage]
		for _, host := range slices.Compact(slices.Sorted(slices.Values(v.hosts))) {
			out.onHost[host] = append(out.onHost[host], q.Value())
		}
		if v.hosts != nil {
			continue
		}
		if len(out.wide) == mostWide {
			return out, false
		}
		out.wide, out.reach = append(out.wide, q.Value()), append(out.reach, s.reaches([]*Volume{v}))
	}
	return out, true
}

// OnOneHost says that each volume of a class that no claim has is reached from one node only.
func (s *Snapshot) OnOneHost(class string) bool {
	for name := range s.storage.unclaimed.in(class) {
		if v := Find[Volume](s.objects, VolumeKind, "", name.Name); v != nil && len(v.hosts) != 1 {
			return false
		}
	}
	return true
}

// VolumesFor are the volumes of a class that no claim has and that suit one, by name, and how many of them each node
// reaches. local: no two nodes reach one of them. Without counts there are too many to look at.
func (s *Snapshot) VolumesFor(claim *corev1.PersistentVolumeClaim, class string, spend func(steps int) bool) (volumes []string, counts []int32, local bool) {
	counts, local = make([]int32, len(s.nodes)), s.IsNode(corev1.LabelHostname)
	onHost, wide := map[string]int32{}, 0
	for name := range s.storage.unclaimed.in(class) {
		v := Find[Volume](s.objects, VolumeKind, "", name.Name)
		if v == nil || !podspec.VolumeSuits(claim, v.PersistentVolume) {
			continue
		}
		volumes = append(volumes, name.Name)
		for _, host := range slices.Compact(slices.Sorted(slices.Values(v.hosts))) {
			onHost[host]++
		}
		if len(v.hosts) == 1 {
			continue
		}
		if local = false; v.hosts != nil {
			continue
		}
		if wide++; wide > mostWide || !spend(len(s.nodes)) {
			return nil, nil, false
		}
		reached := s.reaches([]*Volume{v})
		for at := range counts {
			if reached(at) {
				counts[at]++
			}
		}
	}
	for at, n := range s.nodes {
		if host, ok := n.Labels[corev1.LabelHostname]; ok {
			counts[at] += onHost[host]
		}
	}
	return volumes, counts, local
}
