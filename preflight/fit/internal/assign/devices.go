package assign

import (
	"fmt"
	"math"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// deviceUse is devices that each pod of a group takes for itself.
type deviceUse struct {
	class       string
	selectors   []resourcev1.DeviceSelector
	tolerations []resourcev1.DeviceToleration
	count       int
	admin       bool // it looks at devices, and takes none from others
}

// selectsAlike says that two requests select the same devices.
func (u *deviceUse) selectsAlike(v *deviceUse) bool {
	return u.class == v.class && equality.Semantic.DeepEqual(u.selectors, v.selectors) && equality.Semantic.DeepEqual(u.tolerations, v.tolerations)
}

// deviceUses are the devices that the claims of a pod ask for; whole: they ask for nothing else. What is
// left out only asks for more.
func (cycle *Cycle) deviceUses(g gang.Gang, group int) (uses []deviceUse, whole bool) {
	whole = true
	for _, claim := range g.Groups[group].Pod.Spec.ResourceClaims {
		if claim.ResourceClaimTemplateName == nil {
			whole = false // shared, by whom is not known
			continue
		}
		template := cluster.Find[resourcev1.ResourceClaimTemplate](cycle.s.Index(), cluster.TemplateKind, g.Namespace, *claim.ResourceClaimTemplateName)
		if template == nil {
			whole = false
			continue
		}
		devices, sum := &template.Spec.Spec.Devices, int64(0)
		whole = whole && len(devices.Constraints) == 0
		for i := range devices.Requests {
			e := devices.Requests[i].Exactly
			if e == nil || e.Capacity != nil ||
				e.AllocationMode != resourcev1.DeviceAllocationModeExactCount && e.AllocationMode != "" {
				whole = false
				continue
			}
			count := max(1, e.Count)
			if sum += min(count, resourcev1.AllocationResultsMaxSize+1); sum > resourcev1.AllocationResultsMaxSize {
				whole = false // no claim gets so many
				break
			}
			uses = append(uses, deviceUse{e.DeviceClassName, e.Selectors, e.Tolerations, int(count), e.AdminAccess != nil && *e.AdminAccess})
		}
	}
	return uses, whole
}

// deviceRequests are the requests of a gang, each once.
type deviceRequests struct {
	first []deviceUse // of each
	read  []cluster.DeviceRequest
	of    [][]deviceUse // by group
	at    [][]int       // by group and use: the request; -1: it is not counted
}

// requestsOf gathers the requests of the gang, and marks groups that ask for nothing else.
func (cycle *Cycle) requestsOf(g gang.Gang) *deviceRequests {
	all := &deviceRequests{of: make([][]deviceUse, len(g.Groups)), at: make([][]int, len(g.Groups))}
	for i := range g.Groups {
		if g.Groups[i].Count <= 0 || len(g.Groups[i].Pod.Spec.ResourceClaims) == 0 {
			continue
		}
		t := &cycle.Facts[i]
		all.of[i], t.devicesCounted = cycle.deviceUses(g, i)
		for _, u := range all.of[i] {
			at := slices.IndexFunc(all.first, func(r deviceUse) bool { return r.selectsAlike(&u) })
			if at < 0 {
				request, ok := cycle.s.DeviceRequestOf(u.class, u.selectors, u.tolerations)
				if ok = ok && len(all.read) < cluster.MostDeviceRequests; ok {
					at, all.first, all.read = len(all.first), append(all.first, u), append(all.read, request)
				}
			}
			all.at[i], t.devicesCounted = append(all.at[i], at), t.devicesCounted && at >= 0
		}
	}
	return all
}

// names are what the requests are called: by their class, and a number where they select otherwise.
func (all *deviceRequests) names() []string {
	names, ofClass := make([]string, len(all.first)), map[string]int{}
	for at := range all.first {
		class := all.first[at].class
		names[at] = "class " + class
		if ofClass[class]++; ofClass[class] > 1 {
			names[at] += fmt.Sprintf(" (%d)", ofClass[class])
		}
	}
	return names
}

// countDevices adds how many devices each node has to the limits, for each request of the gang: devices
// that are alike for all requests are counted, as volumes are that nodes attach.
func (cycle *Cycle) countDevices(g gang.Gang) {
	if !cycle.asksForDevices(g) {
		return
	}
	all := cycle.requestsOf(g)
	counts, names := cycle.s.CountDevices(all.read, cycle.Budget.Spend), all.names()
	if counts == nil {
		return
	}
	for at := range counts {
		c := &counts[at]
		if names[at] = names[c.Same]; !c.Endless && c.Same == at {
			cycle.AttachLimits = append(cycle.AttachLimits, cluster.AttachLimits{Driver: names[at], Devices: true, Now: c.Now, Idle: c.Idle})
		}
	}
	for i := range all.at {
		for j, at := range all.at[i] {
			switch {
			case at >= 0 && all.of[i][j].admin:
				cycle.lookOn(i, &counts[at], g.Groups[i].Name, names[at], all.of[i], j)
			case at >= 0:
				cycle.Facts[i].takeDevices(&counts[at], g.Groups[i].Name, names[at], all.of[i][j].count)
			}
		}
	}
}

// takeDevices says that each pod of a group takes so many devices.
func (t *podFacts) takeDevices(c *cluster.DeviceCount, group, name string, count int) {
	t.devicesCounted = t.devicesCounted && !c.Endless && c.Doubt == ""
	if c.Doubt != "" {
		t.doubtYes(fmt.Sprintf("%s: devices of %s are counted at most: %s", group, name, c.Doubt))
	}
	if c.Endless {
		return
	}
	for range count {
		t.Claims = append(t.Claims, ClaimUse{Driver: name})
	}
}

// lookOn says that each pod of a group has to find so many devices on its node, whoever has them. Those that it
// gets beside them are others.
func (cycle *Cycle) lookOn(group int, c *cluster.DeviceCount, role, name string, uses []deviceUse, at int) {
	t, all := &cycle.Facts[group], 0
	t.devicesCounted = t.devicesCounted && !c.Endless && c.Doubt == ""
	if c.Endless {
		return
	}
	for _, u := range uses {
		all += u.count
	}
	enough, some := make([]int32, len(c.Idle)), false
	for node, devices := range c.Idle {
		if int(devices) >= uses[at].count {
			enough[node] = math.MaxInt32 / 2
			some = some || int(devices) < all
		}
	}
	if some {
		t.devicesCounted = false
		t.doubtYes(fmt.Sprintf("%s: devices of %s are counted at most: those of several requests may be the same", role, name))
	}
	if c.Doubt != "" {
		t.doubtYes(fmt.Sprintf("%s: devices of %s are counted at most: %s", role, name, c.Doubt))
	}
	driver := fmt.Sprintf("%s for %s, whoever has them,", name, role)
	cycle.AttachLimits = append(cycle.AttachLimits, cluster.AttachLimits{Driver: driver, Devices: true, Now: enough, Idle: enough})
	t.Claims = append(t.Claims, ClaimUse{Driver: driver})
}

// asksForDevices says that pods of the gang have claims, that all is known that they rest on, and that none
// gets devices otherwise.
func (cycle *Cycle) asksForDevices(g gang.Gang) bool {
	asks := false
	for i := range g.Groups {
		asks = asks || g.Groups[i].Count > 0 && len(g.Groups[i].Pod.Spec.ResourceClaims) > 0
	}
	if !asks {
		return false
	}
	for _, plural := range []string{"resourceslices", "deviceclasses", "resourceclaims", "resourceclaimtemplates"} {
		if !cycle.s.Holds(schema.GroupResource{Group: resourcev1.GroupName, Resource: plural}) {
			return false
		}
	}
	return !slices.ContainsFunc(g.Groups, func(group gang.Group) bool {
		return group.Count > 0 && slices.ContainsFunc(podspec.Requested(group.Pod).Names(), cycle.s.Devices)
	})
}
