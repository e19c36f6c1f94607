package assign

import (
	"fmt"
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
			if e == nil || e.AdminAccess != nil && *e.AdminAccess || e.Capacity != nil ||
				e.AllocationMode != resourcev1.DeviceAllocationModeExactCount && e.AllocationMode != "" {
				whole = false
				continue
			}
			count := max(1, e.Count)
			if sum += min(count, resourcev1.AllocationResultsMaxSize+1); sum > resourcev1.AllocationResultsMaxSize {
				whole = false // no claim gets so many
				break
			}
			uses = append(uses, deviceUse{e.DeviceClassName, e.Selectors, e.Tolerations, int(count)})
		}
	}
	return uses, whole
}

// countDevices adds how many devices each node has to the limits, for each request of the gang: devices
// that are alike for all requests are counted, as volumes are that nodes attach.
func (cycle *Cycle) countDevices(g gang.Gang) {
	if !cycle.asksForDevices(g) {
		return
	}
	var requests []deviceUse
	var read []cluster.DeviceRequest
	kinds := make([][]int, len(g.Groups)) // by group and use: the request; -1: it is not counted
	uses := make([][]deviceUse, len(g.Groups))
	for i := range g.Groups {
		if g.Groups[i].Count <= 0 || len(g.Groups[i].Pod.Spec.ResourceClaims) == 0 {
			continue
		}
		t := &cycle.Facts[i]
		uses[i], t.devicesCounted = cycle.deviceUses(g, i)
		for _, u := range uses[i] {
			at := slices.IndexFunc(requests, func(r deviceUse) bool { return r.selectsAlike(&u) })
			if at < 0 {
				request, ok := cycle.s.DeviceRequestOf(u.class, u.selectors, u.tolerations)
				if ok = ok && len(read) < cluster.MostDeviceRequests; ok {
					at, requests, read = len(requests), append(requests, u), append(read, request)
				}
			}
			kinds[i], t.devicesCounted = append(kinds[i], at), t.devicesCounted && at >= 0
		}
	}
	if !cycle.Budget.Spend(cycle.s.DeviceSteps() * (1 + len(read)) / 2) {
		return
	}
	counts := cycle.s.CountDevices(read)
	names, ofClass := make([]string, len(read)), map[string]int{}
	for at := range read {
		names[at] = "class " + requests[at].class
		if ofClass[requests[at].class]++; ofClass[requests[at].class] > 1 { // other selectors or tolerations
			names[at] += fmt.Sprintf(" (%d)", ofClass[requests[at].class])
		}
		if names[at] = names[counts[at].Same]; !counts[at].Endless && counts[at].Same == at {
			cycle.AttachLimits = append(cycle.AttachLimits, cluster.AttachLimits{Driver: names[at], Devices: true, Now: counts[at].Now, Idle: counts[at].Idle})
		}
	}
	for i := range kinds {
		t := &cycle.Facts[i]
		for j, at := range kinds[i] {
			if at < 0 {
				continue
			}
			if c := &counts[at]; c.Endless || c.Doubt != "" {
				t.devicesCounted = false
				if c.Doubt != "" {
					t.doubtYes(fmt.Sprintf("%s: devices of %s are counted at most: %s", g.Groups[i].Name, names[at], c.Doubt))
				}
			}
			if !counts[at].Endless {
				for range uses[i][j].count {
					t.Claims = append(t.Claims, ClaimUse{Driver: names[at]})
				}
			}
		}
	}
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
