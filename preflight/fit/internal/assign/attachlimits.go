package assign

import (
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// limited says whether a node limits how many volumes of a driver it attaches.
func (cycle *Cycle) limited(driver string) bool {
	return driver != "" && slices.ContainsFunc(cycle.AttachLimits, func(r cluster.AttachLimits) bool { return r.Driver == driver })
}

// countAttached counts what the nodes attach already, for the drivers of the gang's volumes
// that have a limit anywhere.
func (cycle *Cycle) countAttached() {
	var drivers []string
	shared := map[string][]string{} // by driver: handles
	for i := range cycle.Facts {
		for _, c := range cycle.Facts[i].Claims {
			if c.Driver == "" {
				continue
			}
			drivers = append(drivers, c.Driver)
			if c.Claim != "" && !slices.Contains(shared[c.Driver], c.Handle) {
				shared[c.Driver] = append(shared[c.Driver], c.Handle)
			}
		}
	}
	for _, driver := range Distinct(drivers) {
		row := cycle.s.AttachLimits(driver)
		if row.Now == nil {
			continue
		}
		mine := cluster.AttachLimits{Driver: driver, Now: slices.Clone(row.Now), Idle: slices.Clone(row.Idle), Attached: map[string][]int32{}}
		for _, handle := range shared[driver] {
			if there := cycle.s.WhereAttached(driver, handle); there != nil {
				mine.Attached[handle] = there
			}
		}
		cycle.countOwnVolumes(&mine)
		cycle.AttachLimits = append(cycle.AttachLimits, mine)
	}
}

// countOwnVolumes counts the volumes of the gang's own pods for those that stay on an idle cluster.
func (cycle *Cycle) countOwnVolumes(row *cluster.AttachLimits) {
	counted := map[int][]string{}
	for p := range cycle.stays {
		at, ok := cycle.s.NodeAt(p.Node())
		if !ok || p.Resident() {
			continue
		}
		for _, claim := range p.Claims() {
			v, ok := cluster.VolumeOf(cycle.s.Index(), p.Namespace(), claim)
			if !ok || v.Driver != row.Driver || slices.Contains(counted[at], v.Handle) {
				continue
			}
			counted[at] = append(counted[at], v.Handle)
			if slices.ContainsFunc(cycle.s.Nodes()[at].Attached(), func(a cluster.AttachedVolume) bool { return a.Handle == v.Handle && a.Idle }) {
				continue
			}
			row.Idle[at] = max(0, row.Idle[at]-1)
			if row.Attached[v.Handle] != nil {
				row.Attached[v.Handle][at] = 2
			}
		}
	}
}
