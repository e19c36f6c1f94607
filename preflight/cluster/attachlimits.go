package cluster

import "slices"

// AttachLimits is how many volumes of a driver each node can still attach, by node.
type AttachLimits struct {
	Driver    string
	Devices   bool // it is devices that nodes have, not volumes that they attach; Driver is what they are
	Local     bool // it is volumes that are there already; Driver is what they are
	Now, Idle []int32
	Attached  map[string][]int32 // shared volumes by node: 0 absent, 1 attached now, 2 idle too
}

const noLimit = 1 << 30

// mostDrivers bounds the drivers whose free attachments a snapshot keeps counted.
const mostDrivers = 16

// AttachLimits are how many volumes of a driver each node can still attach; a row without
// numbers: no limit is known. They are counted once for each driver.
func (s *Snapshot) AttachLimits(driver string) *AttachLimits {
	if known, ok := s.slots.Get(driver); ok {
		return known.(*AttachLimits)
	}
	row := &AttachLimits{Driver: driver}
	for at, n := range s.nodes {
		limit := slices.IndexFunc(n.attachLimits, func(l attachLimit) bool { return l.driver == driver && l.most != noLimit })
		if limit < 0 {
			continue
		}
		if row.Now == nil {
			row.Now, row.Idle = make([]int32, len(s.nodes)), make([]int32, len(s.nodes))
			for i := range row.Now {
				row.Now[i], row.Idle[i] = noLimit, noLimit
			}
		}
		row.Now[at], row.Idle[at] = n.attachLimits[limit].most, n.attachLimits[limit].most
	}
	if row.Now != nil {
		for at, n := range s.nodes {
			for i := range n.attached {
				if a := &n.attached[i]; a.Driver == driver {
					row.Now[at] = max(0, row.Now[at]-1)
					row.Idle[at] = max(0, row.Idle[at]-int32(bit(a.Idle)))
				}
			}
		}
	}
	s.slots.Add(driver, row)
	return row
}

// HasDriver says on which nodes a driver runs, as their CSINodes tell; known: those are in the snapshot.
func (s *Snapshot) HasDriver(driver string) (has func(at int) bool, known bool) {
	return func(at int) bool {
		return slices.ContainsFunc(s.nodes[at].attachLimits, func(l attachLimit) bool { return l.driver == driver })
	}, s.Holds(ResourceOf(csiNodeKind))
}

// WhereAttached is on which nodes a volume is: 1 now, 2 on an idle cluster too; nil: on none.
func (s *Snapshot) WhereAttached(driver, handle string) (there []int32) {
	hash := hashOf("", handle)
	for at, n := range s.nodes {
		for i := range n.attached {
			if a := &n.attached[i]; a.hash == uint64(hash) && a.Handle == handle && a.Driver == driver {
				if there == nil {
					there = make([]int32, len(s.nodes))
				}
				there[at] = int32(1 + bit(a.Idle))
			}
		}
	}
	return there
}
