package cluster

import (
	"cmp"
	"math"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// DeviceRequest is what one request of a claim selects.
type DeviceRequest struct {
	selectors   []deviceSelector
	tolerations []resourcev1.DeviceToleration
}

// DeviceRequestOf reads the selectors of a class and of a request; false: the class is not in the view.
func (s *Snapshot) DeviceRequestOf(class string, selectors []resourcev1.DeviceSelector, tolerations []resourcev1.DeviceToleration) (DeviceRequest, bool) {
	r := DeviceRequest{tolerations: tolerations}
	add := func(expression string) { r.selectors = append(r.selectors, readSelector(expression)) }
	found := false
	for _, c := range s.objects[classesKind].called("", class) {
		read, ok := c.read.(*deviceClass)
		if !ok {
			return r, false
		}
		r.selectors = nil // of several versions the last one counts
		for i := range read.Spec.Selectors {
			if read.Spec.Selectors[i].CEL == nil {
				add("?")
				continue
			}
			add(read.Spec.Selectors[i].CEL.Expression)
		}
		found = true
	}
	for _, selector := range selectors {
		if selector.CEL == nil {
			add("?")
			continue
		}
		add(selector.CEL.Expression)
	}
	return r, found
}

// matches says whether a device is selected and its taints are tolerated; a selector that fails on a
// device fails before the next one, or a taint, is looked at
// (k8s.io/dynamic-resource-allocation v0.37 structured and resourceclaim/devicetoleration.go).
func (r *DeviceRequest) matches(driver string, d *publishedDevice) answer {
	for i := range r.selectors {
		if m := r.selectors[i].matches(driver, d); m != yes {
			return m
		}
	}
	for _, taint := range d.Taints {
		if taint.Effect != string(resourcev1.DeviceTaintEffectNoSchedule) && taint.Effect != string(resourcev1.DeviceTaintEffectNoExecute) {
			continue
		}
		if !r.tolerates(taint) {
			return no
		}
	}
	return yes
}

func (r *DeviceRequest) tolerates(taint deviceTaint) bool {
	for _, t := range r.tolerations {
		if t.Effect != "" && string(t.Effect) != taint.Effect || t.Key != "" && t.Key != taint.Key {
			continue
		}
		if t.Operator == resourcev1.DeviceTolerationOpExists || cmp.Or(t.Operator, resourcev1.DeviceTolerationOpEqual) == resourcev1.DeviceTolerationOpEqual && t.Value == taint.Value {
			return true
		}
	}
	return false
}

// DeviceCount is how many devices a request may get from each node at most, by node: now, and when no
// claim holds one.
type DeviceCount struct {
	Now, Idle []int32
	Same      int    // the first of the requests that selects just the same devices: they are counted together
	Endless   bool   // some may be allocated many times: there is no such number
	Doubt     string // why it may be less than that; empty: it is just that
}

// DeviceSteps is what counting devices costs for each request.
func (s *Snapshot) DeviceSteps() int {
	return int(min(math.MaxInt32, s.rules.Published.Total)) + s.objects[ClaimGVK.GroupKind()].length()
}

// poolOf tells pools apart.
type poolOf struct{ driver, pool string }

// pool is what makes slices of a pool count: they are of its last generation, and there are all of them.
type pool struct{ generation, slices, wanted int64 }

// CountDevices is how many devices each of some requests may get, at most MostDeviceRequests of them.
// Requests that select just the same devices are counted together, those that select none of the same
// beside each other.
func (s *Snapshot) CountDevices(requests []DeviceRequest) []DeviceCount {
	c := &deviceCounter{s: s, requests: requests, out: make([]DeviceCount, len(requests)), pools: map[poolOf]pool{}, taken: map[device]bool{}, sets: map[uint64]bool{}}
	for i := range c.out {
		if s.objects[taintRuleKind].length() > 0 {
			c.out[i].Doubt = "some devices may be tainted by a DeviceTaintRule"
		}
		c.out[i].Now, c.out[i].Idle = make([]int32, len(s.nodes)), make([]int32, len(s.nodes))
	}
	for _, slice := range Each[resourceSlice](s.objects, sliceKind) {
		at, of := poolOf{slice.Spec.Driver, slice.Spec.Pool.Name}, &slice.Spec.Pool
		switch known, ok := c.pools[at]; {
		case !ok || of.Generation > known.generation:
			c.pools[at] = pool{of.Generation, 1, of.ResourceSliceCount}
		case of.Generation == known.generation:
			known.slices++
			c.pools[at] = known
		}
	}
	for _, claim := range Each[resourcev1.ResourceClaim](s.objects, ClaimGVK.GroupKind()) {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if r.AdminAccess == nil || !*r.AdminAccess {
				c.taken[device{r.Driver, r.Pool, r.Device}] = true
			}
		}
	}
	seen := map[device]bool{}
	for _, slice := range Each[resourceSlice](s.objects, sliceKind) {
		of := c.pools[poolOf{slice.Spec.Driver, slice.Spec.Pool.Name}]
		if slice.Spec.Pool.Generation != of.generation {
			continue // replaced
		}
		for i := range slice.Spec.Devices {
			d, again := &slice.Spec.Devices[i], false
			if of.slices > 1 {
				id := device{slice.Spec.Driver, slice.Spec.Pool.Name, d.Name}
				again, seen[id] = seen[id], true
			} else {
				again = slices.ContainsFunc(slice.Spec.Devices[:i], func(other publishedDevice) bool { return other.Name == d.Name })
			}
			c.add(slice, d, of.slices == of.wanted, again)
		}
	}
	c.finish()
	return c.out
}

// MostDeviceRequests bounds the requests that are counted in one question.
const MostDeviceRequests = 64

// deviceCounter counts the devices of slices.
type deviceCounter struct {
	s        *Snapshot
	requests []DeviceRequest
	out      []DeviceCount
	pools    map[poolOf]pool
	taken    map[device]bool
	sets     map[uint64]bool // of requests that select one device
	shared   []struct{ now, idle int32 }
}

// add counts a device for the requests that select it.
func (c *deviceCounter) add(slice *resourceSlice, d *publishedDevice, whole, again bool) {
	id := device{slice.Spec.Driver, slice.Spec.Pool.Name, d.Name}
	doubt := ""
	switch {
	case !whole:
		doubt = "the pool " + id.pool + " of " + id.driver + " is not published whole"
	case again:
		doubt = "the pool " + id.pool + " of " + id.driver + " has two devices " + id.name
	case len(d.ConsumesCounters) > 0:
		doubt = "devices of " + id.driver + " are parts that share counters"
	case len(d.BindingConditions) > 0:
		doubt = "devices of " + id.driver + " have to be made ready first"
	case slice.Spec.NodeName == nil || *slice.Spec.NodeName == "":
		doubt = "devices of " + id.driver + " are reached from several nodes"
	}
	set := uint64(0)
	for i := range c.requests {
		suits := c.requests[i].matches(id.driver, d)
		if suits == no {
			continue
		}
		out := &c.out[i]
		set |= 1 << i
		out.Endless = out.Endless || d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations
		if suits == perhaps {
			out.Doubt = cmp.Or(out.Doubt, "which devices of "+id.driver+" it selects is written in CEL that is not read")
		}
		out.Doubt = cmp.Or(out.Doubt, doubt)
		c.count(i, slice.Spec.NodeName, c.taken[id])
	}
	if set != 0 {
		c.sets[set] = true
	}
}

// count adds one device to what a request may get.
func (c *deviceCounter) count(i int, node *string, taken bool) {
	out, free := &c.out[i], int32(bit(!taken))
	if node == nil || *node == "" {
		if c.shared == nil {
			c.shared = make([]struct{ now, idle int32 }, len(c.requests))
		}
		c.shared[i].now, c.shared[i].idle = c.shared[i].now+free, c.shared[i].idle+1
		return
	}
	if at, ok := c.s.NodeAt(*node); ok {
		out.Now[at], out.Idle[at] = out.Now[at]+free, out.Idle[at]+1
	}
}

// finish adds what every node may reach, and finds requests that some devices suit both and others one.
func (c *deviceCounter) finish() {
	for i := range c.shared {
		out := &c.out[i]
		for at := range out.Now {
			out.Now[at], out.Idle[at] = out.Now[at]+c.shared[i].now, out.Idle[at]+c.shared[i].idle
		}
	}
	for i := range c.out {
		apart := func(j int) bool { // some device suits only one of them
			for set := range c.sets {
				if set>>i&1 != set>>j&1 {
					return true
				}
			}
			return false
		}
		for c.out[i].Same = 0; c.out[i].Same < i && apart(c.out[i].Same); {
			c.out[i].Same++
		}
	}
	for set := range c.sets {
		for other := range c.sets {
			if set == other || set&other == 0 {
				continue
			}
			for i := range c.out {
				if (set|other)&(1<<i) != 0 {
					c.out[i].Doubt = cmp.Or(c.out[i].Doubt, "some devices suit several requests and others one of them")
				}
			}
		}
	}
}
