package cluster

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// DeviceRequest is what one request of a claim selects.
type DeviceRequest struct {
	selectors   []deviceSelector
	tolerations []resourcev1.DeviceToleration
}

// DeviceRequestOf reads the selectors of a class and of a request; false: the class is not in the view.
func (s *Snapshot) DeviceRequestOf(class string, selectors []resourcev1.DeviceSelector, tolerations []resourcev1.DeviceToleration) (DeviceRequest, bool) {
	r := DeviceRequest{tolerations: tolerations}
	all, found := selectors, false
	for _, c := range s.objects[classesKind].called("", class) {
		read, ok := c.read.(*deviceClass)
		if !ok {
			return r, false
		}
		all, found = slices.Concat(read.Spec.Selectors, selectors), true // of several versions the last one counts
	}
	for _, selector := range all {
		cel := ptr.Deref(selector.CEL, resourcev1.CELDeviceSelector{Expression: "?"})
		r.selectors = append(r.selectors, readSelector(cel.Expression))
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
		if taint.keepsAway() && !r.tolerates(taint) {
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
	Beside    uint64 // the requests that may take some of its devices, itself among them
	Endless   bool   // some may be allocated many times: there is no such number
	Doubt     string // why it may be none, for all that is known; empty: nothing speaks against it
	Shared    string // why it may be less, as others may have some: not said where the least is counted
	Parts     bool   // some devices share counters
	Several   bool   // some are reached from several nodes
}

// MostDeviceRequests bounds the requests that are counted in one question.
const MostDeviceRequests = 64

// CountDevices is how many devices each of some requests may get, at most MostDeviceRequests of them.
// Requests that select just the same devices are counted together, those that select none of the same
// beside each other. What that costs is spent as it is made; nil: it is more than there is.
//
// With least it is how many a request gets for sure, as long as fewer have been taken on the node by it and
// all requests beside it: whichever these were, there is another.
func (s *Snapshot) CountDevices(requests []DeviceRequest, least bool, spend func(steps int) bool) []DeviceCount {
	classes := s.rules.devices.classesFor(attributesOf(requests), spend)
	if classes == nil {
		return nil
	}
	c := &deviceCounter{least: least, out: make([]DeviceCount, len(requests)), shared: make([]struct{ now, idle int32 }, len(requests))}
	if !spend(s.objects[taintRuleKind].length()) {
		return nil
	}
	c.tainted = taintedByRules(s.objects)
	for i := range c.out {
		if !spend(len(s.nodes)/4+len(classes.of)) || !spend(len(classes.of)) {
			return nil
		}
		c.out[i].Now, c.out[i].Idle = make([]int32, len(s.nodes)), make([]int32, len(s.nodes))
	}
	suiting := make([]uint64, len(classes.of)) // by class: the requests that select its devices
	for at := range classes.of {
		slice := &s.rules.devices.slices[classes.of[at].slice]
		suiting[at] = c.suit(requests, slice, int(classes.of[at].device))
	}
	if !spend(len(s.rules.devices.slices)) || !c.addKinds(s, classes, suiting, spend) {
		return nil
	}
	c.finish(suiting)
	if least && !c.addParts(s, classes, suiting, spend) {
		return nil
	}
	return c.out
}

// deviceCounter counts the devices of classes.
type deviceCounter struct {
	out     []DeviceCount
	least   bool
	tainted map[string]bool             // drivers of which rules may taint devices; "": all
	shared  []struct{ now, idle int32 } // by request: devices that are on no node
}

// addKinds adds the devices of every slice, those of one kind at a time. False: that costs more than there is
// to spend.
func (c *deviceCounter) addKinds(s *Snapshot, classes *deviceClasses, suiting []uint64, spend func(steps int) bool) bool {
	taken := s.rules.devices.taken(classes, s.allocated)
	on := -1
	for at, kinds := range classes.kinds {
		slice, start := &s.rules.devices.slices[at], classes.start[at]
		node, there := slice.host, on+1 < len(s.nodes) && s.nodes[on+1].Name == slice.host
		if on++; !there { // mostly they are in the order of the nodes
			on, there = s.NodeAt(node)
		}
		if node != "" && !there || c.least && node == "" { // others may have them
			continue
		}
		var selected []int
		bySelector := node == "" && slice.Spec.NodeSelector != nil
		if bySelector {
			if !spend(len(s.nodes)) {
				return false
			}
			selected = s.SelectedBy(slice.Spec.NodeSelector)
		}
		for i, kind := range kinds.kinds {
			set := suiting[classes.class[int(start)+i]]
			if set == 0 || c.least && len(slice.Spec.Devices[kind.first].ConsumesCounters) > 0 {
				continue
			}
			if !spend(1 + bits.OnesCount64(set)) {
				return false
			}
			for _, at := range selected {
				c.count(set, kind.count, taken[int(start)+i], at, false)
			}
			if !bySelector {
				c.count(set, kind.count, taken[int(start)+i], on, node == "")
			}
		}
	}
	return true
}

// SelectedBy are the nodes that a selector takes.
func (s *Snapshot) SelectedBy(required *corev1.NodeSelector) (out []int) {
	selects := podspec.Selects(&corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}})
	for at, n := range s.nodes {
		if selects(n.object) {
			out = append(out, at)
		}
	}
	return out
}

// suit finds the requests that select a device.
func (c *deviceCounter) suit(requests []DeviceRequest, slice *publishedSlice, at int) (set uint64) {
	driver, d, doubt := slice.Spec.Driver, &slice.Spec.Devices[at], ""
	if slice.doubt != nil {
		doubt = slice.doubt[at]
	}
	for i := range requests {
		suits := requests[i].matches(driver, d)
		if suits == no {
			continue
		}
		out := &c.out[i]
		set |= 1 << i
		out.Endless = out.Endless || d.endless()
		if suits == perhaps {
			out.Doubt = cmp.Or(out.Doubt, "which devices of "+driver+" it selects is written in CEL that is not read")
		}
		if c.tainted[""] || c.tainted[driver] {
			out.Doubt = cmp.Or(out.Doubt, "some devices may be tainted by a DeviceTaintRule")
		}
		out.Doubt = cmp.Or(out.Doubt, doubt)
		out.Parts, out.Several = out.Parts || len(d.ConsumesCounters) > 0, out.Several || slice.host == ""
		if !c.least {
			out.Shared = cmp.Or(out.Shared, slice.sharedBy(d))
		}
	}
	return set
}

// count adds devices of a node, or of several, to what requests may get.
func (c *deviceCounter) count(set uint64, devices, taken int32, at int, several bool) {
	for ; set != 0; set &= set - 1 {
		i := bits.TrailingZeros64(set)
		if several {
			c.shared[i].now, c.shared[i].idle = c.shared[i].now+devices-taken, c.shared[i].idle+devices
			continue
		}
		c.out[i].Now[at], c.out[i].Idle[at] = c.out[i].Now[at]+devices-taken, c.out[i].Idle[at]+devices
	}
}

// finish adds what every node may reach, and finds requests that some devices suit both and others one.
func (c *deviceCounter) finish(suiting []uint64) {
	some, every := make([]uint64, len(c.out)), make([]uint64, len(c.out)) // by request: what else its devices suit, some of them and all
	for i := range every {
		every[i] = math.MaxUint64
	}
	for _, all := range suiting {
		for set := all; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			some[i], every[i] = some[i]|all, every[i]&all
		}
	}
	for i := range c.out {
		out := &c.out[i]
		out.Beside = some[i]
		if c.shared[i].idle > 0 {
			for at := range out.Now {
				out.Now[at], out.Idle[at] = out.Now[at]+c.shared[i].now, out.Idle[at]+c.shared[i].idle
			}
		}
		for out.Same < i && (some[out.Same] != some[i] || some[i] != 0 && (every[i]>>out.Same&1 == 0 || every[out.Same]>>i&1 == 0)) {
			out.Same++
		}
		for set := some[i]; set != 0; set &= set - 1 {
			if j := bits.TrailingZeros64(set); some[j] != every[j] && !c.least {
				out.Shared = cmp.Or(out.Shared, "some devices suit several requests and others one of them")
			}
		}
	}
}
