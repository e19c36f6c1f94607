package capacity

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// limited says whether a node limits how many volumes of a driver it attaches.
func (on *ground) limited(driver string) bool {
	return driver != "" && slices.ContainsFunc(on.slots, func(r cluster.AttachLimits) bool { return r.Driver == driver })
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
		row := on.s.AttachLimits(driver)
		if row.Now == nil {
			continue
		}
		mine := cluster.AttachLimits{Driver: driver, Now: slices.Clone(row.Now), Idle: slices.Clone(row.Idle), There: map[string][]int32{}}
		for _, handle := range shared[driver] {
			if there := on.s.WhereAttached(driver, handle); there != nil {
				mine.There[handle] = there
			}
		}
		on.stay(&mine)
		on.slots = append(on.slots, mine)
	}
}

// stay counts the volumes of the gang's own pods for those that stay on an idle cluster.
func (on *ground) stay(row *cluster.AttachLimits) {
	counted := map[int][]string{}
	for p := range on.stays {
		at, ok := on.s.NodeAt(p.Node())
		if !ok || p.Resident() {
			continue
		}
		for _, claim := range p.Claims() {
			v, ok := cluster.VolumeOf(on.s.Index(), p.Namespace(), claim)
			if !ok || v.Driver != row.Driver || slices.Contains(counted[at], v.Handle) {
				continue
			}
			counted[at] = append(counted[at], v.Handle)
			if slices.ContainsFunc(on.s.Nodes()[at].Attached(), func(a cluster.AttachedVolume) bool { return a.Handle == v.Handle && a.Idle }) {
				continue
			}
			row.Idle[at] = max(0, row.Idle[at]-1)
			if row.There[v.Handle] != nil {
				row.There[v.Handle][at] = 2
			}
		}
	}
}
