package capacity

import (
	"slices"
)

// slotRow is how many volumes of a driver each node can still attach, by node.
type slotRow struct {
	driver    string
	now, idle []int32
	there     map[string][]int32 // shared volumes by node: 0 absent, 1 attached now, 2 idle too
}

const noLimit = 1 << 30

// mostDrivers bounds the drivers whose free attachments a snapshot keeps counted.
const mostDrivers = 16

// limited says whether a node limits how many volumes of a driver it attaches.
func (on *ground) limited(driver string) bool {
	return driver != "" && slices.ContainsFunc(on.slots, func(r slotRow) bool { return r.driver == driver })
}

// attach counts what the nodes attach already, for the drivers of the gang's volumes
// that have a limit anywhere.
func (on *ground) attach() {
	var drivers []string
	shared := map[string][]string{} // by driver: handles
	for i := range on.traits {
		for _, c := range on.traits[i].claims {
			if c.driver == "" {
				continue
			}
			drivers = append(drivers, c.driver)
			if c.claim != "" && !slices.Contains(shared[c.driver], c.handle) {
				shared[c.driver] = append(shared[c.driver], c.handle)
			}
		}
	}
	for _, driver := range distinct(drivers) {
		row := on.s.slotsOf(driver)
		if row.now == nil {
			continue
		}
		mine := slotRow{driver: driver, now: slices.Clone(row.now), idle: slices.Clone(row.idle), there: map[string][]int32{}}
		for _, handle := range shared[driver] {
			if there := on.s.whereAttached(driver, handle); there != nil {
				mine.there[handle] = there
			}
		}
		on.stay(&mine)
		on.slots = append(on.slots, mine)
	}
}

// stay counts the volumes of the gang's own pods for those that stay on an idle cluster.
func (on *ground) stay(row *slotRow) {
	counted := map[int][]string{}
	for p := range on.stays {
		at, ok := on.s.nodeAt(p.node)
		if !ok || p.resident {
			continue
		}
		for _, claim := range p.claims {
			v, ok := volumeOf(on.s.objects, p.namespace, claim)
			if !ok || v.driver != row.driver || slices.Contains(counted[at], v.handle) {
				continue
			}
			counted[at] = append(counted[at], v.handle)
			if slices.ContainsFunc(on.s.nodes[at].attached, func(a attachedVolume) bool { return a.handle == v.handle && a.idle }) {
				continue
			}
			row.idle[at] = max(0, row.idle[at]-1)
			if row.there[v.handle] != nil {
				row.there[v.handle][at] = 2
			}
		}
	}
}

// slotsOf are how many volumes of a driver each node can still attach; a row without
// numbers: no limit is known. They are counted once for each driver.
func (s *Snapshot) slotsOf(driver string) *slotRow {
	if known, ok := s.slots.Get(driver); ok {
		return known.(*slotRow)
	}
	row := &slotRow{driver: driver}
	for at, n := range s.nodes {
		limit := slices.IndexFunc(n.attachLimits, func(l attachLimit) bool { return l.driver == driver })
		if limit < 0 {
			continue
		}
		if row.now == nil {
			row.now, row.idle = make([]int32, len(s.nodes)), make([]int32, len(s.nodes))
			for i := range row.now {
				row.now[i], row.idle[i] = noLimit, noLimit
			}
		}
		row.now[at], row.idle[at] = n.attachLimits[limit].most, n.attachLimits[limit].most
	}
	if row.now != nil {
		for at, n := range s.nodes {
			for i := range n.attached {
				if a := &n.attached[i]; a.driver == driver {
					row.now[at] = max(0, row.now[at]-1)
					row.idle[at] = max(0, row.idle[at]-int32(number(a.idle)))
				}
			}
		}
	}
	s.slots.Add(driver, row)
	return row
}

// whereAttached is on which nodes a volume is: 1 now, 2 on an idle cluster too; nil: on none.
func (s *Snapshot) whereAttached(driver, handle string) (there []int32) {
	hash := hashOf("", handle)
	for at, n := range s.nodes {
		for i := range n.attached {
			if a := &n.attached[i]; a.hash == uint64(hash) && a.handle == handle && a.driver == driver {
				if there == nil {
					there = make([]int32, len(s.nodes))
				}
				there[at] = int32(1 + number(a.idle))
			}
		}
	}
	return there
}
