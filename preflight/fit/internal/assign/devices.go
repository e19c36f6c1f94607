package assign

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

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
	admin       bool        // it looks at devices, and takes none from others
	or          []deviceUse // it takes those of one of these; what else stands here says nothing then
	shared      sharedClaim // zero: each pod has a claim of its own
}

// selectsAlike says that two requests select the same devices.
func (u *deviceUse) selectsAlike(v *deviceUse) bool {
	return len(u.or) == 0 && len(v.or) == 0 && u.class == v.class && equality.Semantic.DeepEqual(u.selectors, v.selectors) && equality.Semantic.DeepEqual(u.tolerations, v.tolerations)
}

// deviceUses are the devices that the claims of a pod ask for; whole: they ask for nothing else. What is
// left out only asks for more.
func (cycle *Cycle) deviceUses(g gang.Gang, group int) (uses []deviceUse, whole bool) {
	whole = cycle.Facts[group].claimMayMove == ""
	var seen []string
	for _, claim := range g.Groups[group].Pod.Spec.ResourceClaims {
		spec, known := cycle.claimSpec(g.Namespace, &claim)
		whole = whole && known
		if spec == nil {
			continue
		}
		if claim.ResourceClaimName != nil {
			if slices.Contains(seen, *claim.ResourceClaimName) {
				whole = false // the scheduler looks for its devices twice
				continue
			}
			seen = append(seen, *claim.ResourceClaimName)
		}
		devices, sum := &spec.Devices, int64(0)
		whole = whole && len(devices.Constraints) == 0
		for i := range devices.Requests {
			use, counted := useOf(&devices.Requests[i])
			if claim.ResourceClaimName != nil {
				use.shared = sharedClaim{*claim.ResourceClaimName, i}
				counted = counted && !use.admin && len(use.or) == 0
			}
			if !counted {
				whole = false
				continue
			}
			most := use.count
			for _, u := range use.or {
				most = max(most, u.count)
			}
			if sum += int64(most); sum > resourcev1.AllocationResultsMaxSize {
				whole = false // no claim gets so many
				break
			}
			uses = append(uses, use)
		}
	}
	return uses, whole
}

// useOf reads a request; false: it asks for what is not counted.
func useOf(r *resourcev1.DeviceRequest) (use deviceUse, counted bool) {
	number := func(mode resourcev1.DeviceAllocationMode, count int64) (int, bool) {
		return int(min(max(1, count), resourcev1.AllocationResultsMaxSize+1)), mode == resourcev1.DeviceAllocationModeExactCount || mode == ""
	}
	if e := r.Exactly; e != nil {
		count, is := number(e.AllocationMode, e.Count)
		return deviceUse{class: e.DeviceClassName, selectors: e.Selectors, tolerations: e.Tolerations, count: count, admin: e.AdminAccess != nil && *e.AdminAccess}, is && e.Capacity == nil
	}
	for i := range r.FirstAvailable {
		e := &r.FirstAvailable[i]
		count, is := number(e.AllocationMode, e.Count)
		if !is || e.Capacity != nil {
			return use, false
		}
		use.or = append(use.or, deviceUse{class: e.DeviceClassName, selectors: e.Selectors, tolerations: e.Tolerations, count: count})
	}
	return use, len(use.or) > 0
}

// deviceRequests are the requests of a gang, each once.
type deviceRequests struct {
	first []deviceUse // of each
	read  []cluster.DeviceRequest
	of    [][]deviceUse // by group
	at    [][]int       // by group and use: the request; -1: it is not counted, or one of the choices

	choices []deviceChoice // each once
}

// deviceChoice is alternatives, of which a pod gets the devices of one.
type deviceChoice struct {
	or []deviceUse
	at []int // the requests
}

func (c *deviceChoice) is(or []deviceUse) bool {
	return slices.EqualFunc(c.or, or, func(a, b deviceUse) bool { return a.count == b.count && a.selectsAlike(&b) })
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
			at := -1
			if len(u.or) == 0 {
				at = all.request(cycle.s, &u)
				t.devicesCounted = t.devicesCounted && at >= 0
			} else {
				all.choose(cycle.s, u.or)
			}
			all.at[i] = append(all.at[i], at)
		}
	}
	return all
}

// request is the number of a request; -1: it is not counted.
func (all *deviceRequests) request(s *cluster.Snapshot, u *deviceUse) int {
	at := slices.IndexFunc(all.first, func(r deviceUse) bool { return r.selectsAlike(u) })
	if at >= 0 || len(all.read) == cluster.MostDeviceRequests {
		return at
	}
	request, ok := s.DeviceRequestOf(u.class, u.selectors, u.tolerations)
	if !ok {
		return -1
	}
	all.first, all.read = append(all.first, *u), append(all.read, request)
	return len(all.first) - 1
}

// choose finds or adds alternatives.
func (all *deviceRequests) choose(s *cluster.Snapshot, or []deviceUse) {
	if slices.ContainsFunc(all.choices, func(c deviceChoice) bool { return c.is(or) }) {
		return
	}
	c := deviceChoice{or: or}
	for i := range or {
		c.at = append(c.at, all.request(s, &or[i]))
	}
	all.choices = append(all.choices, c)
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
	counts, names := cycle.s.CountDevices(all.read, cycle.strict, cycle.Budget.Spend), all.names()
	if counts == nil {
		return
	}
	for at := range counts {
		c := &counts[at]
		if names[at] = names[c.Same]; !c.Endless && c.Same == at {
			cycle.limitDevices(names[at], c.Now, c.Idle)
		}
	}
	var beside [][]string
	if cycle.strict {
		beside = cycle.limitBeside(counts, names)
	}
	for i := range all.at {
		for j, at := range all.at[i] {
			use := &all.of[i][j]
			switch {
			case at >= 0 && use.shared.name != "":
				cycle.shareDevices(&cycle.Facts[i], &counts[at], g.Groups[i].Name, names[at], use)
				for _, name := range besides(beside, at, counts) {
					cycle.Facts[i].shareOf(name, use, SameNode)
				}
			case len(use.or) > 0:
				cycle.takeChoice(i, all, counts, names, use.or)
			case at >= 0 && use.admin:
				cycle.lookOn(i, &counts[at], g.Groups[i].Name, names[at], all.of[i], j)
			case at >= 0:
				cycle.Facts[i].takeDevices(&counts[at], g.Groups[i].Name, names[at], use.count)
				for range use.count {
					for _, name := range besides(beside, at, counts) {
						cycle.Facts[i].Claims = append(cycle.Facts[i].Claims, ClaimUse{Driver: name})
					}
				}
			}
		}
	}
}

// besides are the limits that the devices of a request count for beside its own.
func besides(beside [][]string, at int, counts []cluster.DeviceCount) []string {
	if beside == nil || counts[at].Endless {
		return nil
	}
	return beside[at]
}

func (cycle *Cycle) limitDevices(name string, now, idle []int32) {
	cycle.AttachLimits = append(cycle.AttachLimits, cluster.AttachLimits{Driver: name, Devices: true, Now: now, Idle: idle})
}

// mostBeside bounds the requests of which each may take devices of another: each of their devices is counted for
// all of them.
const mostBeside = 8

// limitBeside adds limits for requests that may take devices of each other, where they have any: as many may be
// taken by all of them as each one gets for sure. By request: the limits that its devices count for.
func (cycle *Cycle) limitBeside(counts []cluster.DeviceCount, names []string) [][]string {
	out := make([][]string, len(counts))
	for at := range counts {
		var others []int
		for i := range counts {
			if counts[at].Beside>>i&1 == 1 && counts[i].Same == i {
				others = append(others, i)
			}
		}
		switch c := &counts[at]; {
		case len(others) < 2 || c.Endless:
		case len(others) > mostBeside:
			c.Doubt = cmp.Or(c.Doubt, "some devices suit several requests and others one of them")
		case c.Same == at:
			now, idle := slices.Clone(c.Now), slices.Clone(c.Idle)
			for _, counted := range [][]int32{now, idle} {
				for node := range counted {
					if counted[node] == 0 {
						counted[node] = math.MaxInt32 / 2
					}
				}
			}
			name := names[at] + " and what suits others, too,"
			cycle.limitDevices(name, now, idle)
			for i := range counts {
				if counts[i].Beside>>at&1 == 1 {
					out[i] = append(out[i], name)
				}
			}
		}
	}
	return out
}

// takeChoice says that each pod of a group takes the devices of one of some alternatives. They are counted by
// how often any of them is there, if no other takes devices of theirs and none are two's: then it does not
// matter which a pod gets.
func (cycle *Cycle) takeChoice(group int, all *deviceRequests, counts []cluster.DeviceCount, names []string, or []deviceUse) {
	t := &cycle.Facts[group]
	choice := &all.choices[slices.IndexFunc(all.choices, func(c deviceChoice) bool { return c.is(or) })]
	called := make([]string, len(or))
	now, idle := make([]int32, len(cycle.s.Nodes())), make([]int32, len(cycle.s.Nodes()))
	for i, r := range choice.at {
		if r < 0 || !all.alone(r, counts) || !cycle.Budget.Spend(len(now)) {
			t.devicesCounted = false
			return
		}
		called[i] = fmt.Sprintf("%d of %s", or[i].count, names[r])
		for node := range now {
			now[node] += counts[r].Now[node] / int32(or[i].count)
			idle[node] += counts[r].Idle[node] / int32(or[i].count)
		}
	}
	name := strings.Join(called, " or ")
	if !cycle.limited(name) {
		cycle.limitDevices(name, now, idle)
	}
	t.Claims = append(t.Claims, ClaimUse{Driver: name})
}

// alone says that only one choice takes devices of a request, that none of these suit another, and that nothing
// is to be doubted of their number.
func (all *deviceRequests) alone(request int, counts []cluster.DeviceCount) bool {
	c, users := &counts[request], 0
	if c.Endless || c.Doubt != "" || c.Shared != "" || c.Same != request || c.Beside&^(1<<request) != 0 {
		return false
	}
	for i := range all.choices {
		for _, r := range all.choices[i].at {
			users += OneIf(r == request)
		}
	}
	for i := range all.at {
		users += OneIf(slices.Contains(all.at[i], request))
	}
	return users == 1
}

// takeDevices says that each pod of a group takes so many devices.
func (t *podFacts) takeDevices(c *cluster.DeviceCount, group, name string, count int) {
	t.doubtDevices(c, group, name)
	if c.Endless {
		return
	}
	for range count {
		t.Claims = append(t.Claims, ClaimUse{Driver: name})
	}
}

// doubtDevices blurs a yes where it is not sure that a request gets as many devices as are counted.
func (t *podFacts) doubtDevices(c *cluster.DeviceCount, group, name string) {
	doubt := cmp.Or(c.Doubt, c.Shared)
	t.devicesCounted = t.devicesCounted && !c.Endless && doubt == ""
	if doubt != "" {
		t.doubtYes(fmt.Sprintf("%s: devices of %s are counted at most: %s", group, name, doubt))
	}
}

// lookOn says that each pod of a group has to find so many devices on its node, whichever pod has them. Those that it
// gets beside them are others.
func (cycle *Cycle) lookOn(group int, c *cluster.DeviceCount, role, name string, uses []deviceUse, at int) {
	t, all := &cycle.Facts[group], 0
	if t.doubtDevices(c, role, name); c.Endless {
		return
	}
	for _, u := range uses {
		all += max(1, u.count)
	}
	if cycle.strict && (c.Parts || slices.ContainsFunc(uses, func(u deviceUse) bool { return len(u.or) > 0 })) {
		t.devicesCounted = false
	}
	enough, some := make([]int32, len(c.Idle)), false
	least := uses[at].count
	if cycle.strict {
		least = all
	}
	for node, devices := range c.Idle {
		if int(devices) >= least {
			enough[node] = math.MaxInt32 / 2
			some = some || int(devices) < all
		}
	}
	if some {
		t.devicesCounted = false
		t.doubtYes(fmt.Sprintf("%s: devices of %s are counted at most: those of several requests may be the same", role, name))
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
