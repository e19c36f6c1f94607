package capacity

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// slotRow is how many volumes of a driver each node can still attach, by node.
type slotRow struct {
	driver    string
	now, idle []int32
	there     map[string][]int32 // shared volumes by node: 0 absent, 1 attached now, 2 idle too
}

const noLimit = 1 << 30

// limited says whether a node limits how many volumes of a driver it attaches.
func (on *ground) limited(driver string) bool {
	return driver != "" && slices.ContainsFunc(on.slots, func(r slotRow) bool { return r.driver == driver })
}

// attach counts what the nodes attach already, for the drivers of the gang's volumes
// that have a limit anywhere.
func (on *ground) attach() {
	var drivers []string
	for i := range on.traits {
		for _, c := range on.traits[i].claims {
			if c.driver != "" {
				drivers = append(drivers, c.driver)
			}
		}
	}
	for _, driver := range sorted(drivers) {
		if limits := on.s.limitsOf(driver); limits != nil {
			on.slots = append(on.slots, slotRow{driver: driver, now: slices.Clone(limits), idle: slices.Clone(limits), there: map[string][]int32{}})
		}
	}
	if len(on.slots) > 0 {
		on.attached()
	}
}

// attached takes what is attached from the slots. What stays on an idle cluster is what
// the pods that stay there use.
func (on *ground) attached() {
	shared := map[string]bool{}
	for i := range on.traits {
		for _, c := range on.traits[i].claims {
			shared[c.handle] = c.claim != ""
		}
	}
	claims, attachments := on.s.volumesByClaim(), on.s.attachments()
	for at, n := range on.s.nodes {
		now, idle := map[string]string{}, map[string]string{}
		for _, p := range n.pods {
			for _, claim := range p.claims {
				v, ok := claims[claimName{p.namespace, claim}]
				if !ok {
					continue
				}
				now[v.handle] = v.driver
				if p.resident || on.stays[p] {
					idle[v.handle] = v.driver
				}
			}
		}
		maps.Copy(now, attachments[n.Name])
		on.takeSlots(at, now, idle, shared)
	}
}

// takeSlots takes the volumes of a node from its slots.
func (on *ground) takeSlots(at int, now, idle map[string]string, shared map[string]bool) {
	for i := range on.slots {
		row := &on.slots[i]
		mark := func(volumes map[string]string, left []int32, value int32) {
			for handle, driver := range volumes {
				if driver != row.driver {
					continue
				}
				left[at] = max(0, left[at]-1)
				if shared[handle] {
					if row.there[handle] == nil {
						row.there[handle] = make([]int32, len(on.s.nodes))
					}
					row.there[handle][at] = value
				}
			}
		}
		mark(now, row.now, 1)
		mark(idle, row.idle, 2)
	}
}

// volume is a volume as its driver names it.
type volume struct{ driver, handle string }

// claimName is a claim of a namespace.
type claimName struct{ namespace, name string }

// limitsOf are how many volumes of a driver each node attaches; nil: no limit is known.
// They are read once for each driver.
func (s *Snapshot) limitsOf(driver string) []int32 {
	if known, ok := s.attachLimits.Load(driver); ok {
		return known.([]int32)
	}
	var out []int32
	for at, n := range s.nodes {
		csi := &storagev1.CSINode{}
		if s.read(csiNodeKind, "", n.Name, csi) != job.Present {
			continue
		}
		for _, d := range csi.Spec.Drivers {
			if d.Name != driver || d.Allocatable == nil || d.Allocatable.Count == nil {
				continue
			}
			if out == nil {
				out = make([]int32, len(s.nodes))
				for i := range out {
					out[i] = noLimit
				}
			}
			out[at] = *d.Allocatable.Count
		}
	}
	kept, _ := s.attachLimits.LoadOrStore(driver, out)
	return kept.([]int32)
}

// volumesByClaim are the volumes behind all claims: those that are bound, and those that
// their class's driver will make.
func (s *Snapshot) volumesByClaim() map[claimName]volume {
	out := map[claimName]volume{}
	claims, _ := s.Objects(claimKind.GroupKind(), "")
	for _, o := range claims {
		claim := &corev1.PersistentVolumeClaim{}
		if Decode(o, claim) != nil {
			continue
		}
		if v, ok := s.volumeOf(claim); ok {
			out[claimName{claim.Namespace, claim.Name}] = v
		}
	}
	return out
}

func (s *Snapshot) volumeOf(claim *corev1.PersistentVolumeClaim) (volume, bool) {
	pv, class := &corev1.PersistentVolume{}, &storagev1.StorageClass{}
	if name := claim.Spec.VolumeName; name != "" && s.read(volumeKind, "", name, pv) == job.Present {
		if pv.Spec.CSI != nil {
			return volume{pv.Spec.CSI.Driver, handleOf(pv)}, true
		}
		return volume{}, false
	}
	if name := classOf(claim); name != "" && s.read(classKind, "", name, class) == job.Present {
		return volume{class.Provisioner, class.Provisioner + "/" + claim.Namespace + "/" + claim.Name}, true
	}
	return volume{}, false
}

// attachments are the volumes that are attached to nodes, by node and handle: the driver.
// A pod that has just ended leaves its volume there for a while.
func (s *Snapshot) attachments() map[string]map[string]string {
	out := map[string]map[string]string{}
	objects, _ := s.Objects(attachmentKind.GroupKind(), "")
	for _, o := range objects {
		a, pv := &storagev1.VolumeAttachment{}, &corev1.PersistentVolume{}
		if Decode(o, a) != nil || a.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		if s.read(volumeKind, "", *a.Spec.Source.PersistentVolumeName, pv) == job.Present && pv.Spec.CSI != nil {
			there := out[a.Spec.NodeName]
			put(&there, handleOf(pv), a.Spec.Attacher)
			out[a.Spec.NodeName] = there
		}
	}
	return out
}
