package manifest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// hivedPriorities are the classes that HiveD's schema takes
// (https://github.com/microsoft/pai/blob/v1.8.0/src/rest-server/src/config/v2/hived.js; crit since v1.4).
var hivedPriorities = []string{"crit", "prod", "test", "oppo"}

// hived refuses what the rest-server refuses of what a job writes for the scheduler HiveD, as far as the file
// alone shows it: which SKUs a virtual cluster has is the cluster's to say
// (https://github.com/microsoft/pai/blob/v1.8.0/src/rest-server/src/middlewares/v2/hived.js).
func (p *protocol) hived() {
	at := job.Path("extras").Child("hivedScheduler")
	extras, _ := p.fields["extras"].(map[string]any)
	hived, ok := extras["hivedScheduler"].(map[string]any)
	if !ok {
		return
	}
	if class, written := hived["jobPriorityClass"].(string); written && !slices.Contains(hivedPriorities, class) {
		p.wrong(at.Child("jobPriorityClass"), fmt.Sprintf("is %q", class), "crit, prod, test or oppo")
	}
	roles, _ := hived["taskRoles"].(map[string]any)
	groups := map[string][2]any{}
	for _, name := range slices.Sorted(maps.Keys(roles)) {
		role, _ := roles[name].(map[string]any)
		place := at.Child("taskRoles").Key(name)
		cells := [2]any{role["skuType"], role["pinnedCellId"]}
		if !slices.Contains(p.roles, name) {
			p.wrong(place, "is of a task role that the job does not have", "one of taskRoles")
			continue
		}
		if cells[0] != nil && cells[1] != nil {
			p.wrong(place, fmt.Sprintf("has both skuType %v and pinnedCellId %v", cells[0], cells[1]), "one of the two")
		}
		group, _ := role["affinityGroupName"].(string)
		if group == "" {
			continue
		}
		if first, known := groups[group]; !known {
			groups[group] = cells
		} else if first != cells {
			p.wrong(place.Child("affinityGroupName"), fmt.Sprintf("is %q, whose other task roles name another skuType or pinnedCellId", group), "the same in all of a group")
		}
	}
}
