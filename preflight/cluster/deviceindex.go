package cluster

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
)

// deviceIndex is the devices that are published, of the last generation of each pool, as snapshots share it
// while no slice changes.
type deviceIndex struct {
	slices  []publishedSlice
	devices int
	classes *lru.Cache  // by the attributes that tell devices apart -> *deviceClasses
	making  *sync.Mutex // of all indexes that have slices in common
}

// publishedSlice is a slice, with what is to be said of its devices.
type publishedSlice struct {
	*resourceSlice
	name  Name
	pool  poolOf
	host  string   // as node says
	doubt []string // by device: why it may not be had; nil: none may not
	kept  *[]keptKinds
}

// sliceKinds are the devices of a slice, as requests that look at some attributes tell them apart.
type sliceKinds struct {
	kinds []deviceKind
	of    []int32 // by device: its kind
}

// deviceKind is devices of a slice that are alike: the first, and how many.
type deviceKind struct{ first, count int32 }

// keptKinds are kinds with what requests can tell them by. They are kept with the slice for as long as it and
// what is to be said of its devices stay the same.
type keptKinds struct {
	by   string
	keys []string // by kind
	*sliceKinds
}

// Of each slice so many kinds are kept, if what tells them apart is no longer than that: users write what
// requests look at.
const (
	mostKept    = 2
	mostKeyText = 512
)

// poolOf tells pools apart.
type poolOf struct{ driver, pool string }

// mostDeviceClasses bounds the ways to tell devices apart that are kept: what requests look at is what users
// write.
const mostDeviceClasses = 8

// newDeviceIndex is the index of the slices there are; what it was before lends what has not changed.
func newDeviceIndex(all Objects, before *deviceIndex) *deviceIndex {
	x := &deviceIndex{classes: lru.New(mostDeviceClasses), making: &sync.Mutex{}}
	var known []publishedSlice // of those before, what is yet to come
	if before != nil {
		x.making, known = before.making, before.slices
	}
	type pool struct{ generation, slices, wanted int64 } // it counts where there are all slices of its last generation
	x.slices = make([]publishedSlice, 0, all[sliceKind].length())
	pools := make(map[poolOf]pool, cap(x.slices))
	for _, slice := range Each[resourceSlice](all, sliceKind) {
		at, of := poolOf{slice.Spec.Driver, slice.Spec.Pool.Name}, &slice.Spec.Pool
		switch known, ok := pools[at]; {
		case !ok || of.Generation > known.generation:
			pools[at] = pool{of.Generation, 1, of.ResourceSliceCount}
		case of.Generation == known.generation:
			known.slices++
			pools[at] = known
		}
	}
	seen := map[device]bool{}
	for name, slice := range Each[resourceSlice](all, sliceKind) {
		at := poolOf{slice.Spec.Driver, slice.Spec.Pool.Name}
		of := pools[at]
		if slice.Spec.Pool.Generation != of.generation {
			continue // replaced
		}
		p := publishedSlice{resourceSlice: slice, name: name, pool: at, host: slice.node(), doubt: slice.Doubts, kept: &[]keptKinds{}}
		if of.slices > 1 || of.wanted != 1 {
			p.doubt = nil
			for i := range slice.Spec.Devices {
				id := device{at.driver, at.pool, slice.Spec.Devices[i].Name}
				p.doubt = slice.doubted(p.doubt, i, slice.doubtOf(&slice.Spec.Devices[i], of.slices == of.wanted, seen[id]))
				seen[id] = true
			}
		}
		for len(known) > 0 && known[0].name.compare(name) < 0 {
			known = known[1:]
		}
		if len(known) > 0 && known[0].resourceSlice == slice && slices.Equal(known[0].doubt, p.doubt) {
			p.kept = known[0].kept
		}
		x.slices, x.devices = append(x.slices, p), x.devices+len(slice.Spec.Devices)
	}
	return x
}

// doubtOf is why a device that is published may not be had; empty: nothing speaks against it.
func (slice *resourceSlice) doubtOf(d *publishedDevice, whole, again bool) string {
	driver := slice.Spec.Driver
	switch {
	case !whole:
		return "the pool " + slice.Spec.Pool.Name + " of " + driver + " is not published whole"
	case again:
		return "the pool " + slice.Spec.Pool.Name + " of " + driver + " has two devices " + d.Name
	case len(d.BindingConditions) > 0:
		return "devices of " + driver + " have to be made ready first"
	}
	return ""
}

// sharedBy is why others may have a device first; empty: none may.
func (slice *resourceSlice) sharedBy(d *publishedDevice) string {
	switch {
	case len(d.ConsumesCounters) > 0:
		return "devices of " + slice.Spec.Driver + " are parts that share counters"
	case slice.node() == "":
		return "devices of " + slice.Spec.Driver + " are reached from several nodes"
	}
	return ""
}

// node is the one whose devices these are; empty: several reach them.
func (slice *resourceSlice) node() string {
	return ptr.Deref(slice.Spec.NodeName, "")
}

// deviceClasses are classes of devices that no request which looks at some attributes can tell apart. Beyond
// mostShared of them, devices that are alike may be in several.
type deviceClasses struct {
	of    []equalDevices
	kinds []*sliceKinds // by slice
	start []int32       // by slice: the number of its first kind, of the kinds of all slices
	class []int32       // by that number

	held  *heldDevices // of which taken says how many of each kind there are
	taken []int32      // by that number
}

// equalDevices are devices that are alike, by one of them: its slice, and where it stands there.
type equalDevices struct{ slice, device int32 }

// kindOf is the number of the kind of a device.
func (c *deviceClasses) kindOf(slice, device int) int32 {
	return c.start[slice] + c.kinds[slice].of[device]
}

// mostShared bounds the classes that are looked up by what requests can tell devices by: where each device has
// a value of its own there is nothing to find.
const mostShared = 1024

// attributesOf are the attributes and capacities that requests look at, each once, in order.
func attributesOf(requests []DeviceRequest) (out []condition) {
	for i := range requests {
		for _, selector := range requests[i].selectors {
			for _, c := range selector.conditions {
				if c.attribute != "" {
					out = append(out, condition{domain: c.domain, attribute: c.attribute, name: c.name, capacity: c.capacity})
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b condition) int {
		return cmp.Or(bit(a.capacity)-bit(b.capacity), cmp.Compare(a.domain, b.domain), cmp.Compare(a.attribute, b.attribute))
	})
	return slices.CompactFunc(out, func(a, b condition) bool {
		return a.capacity == b.capacity && a.domain == b.domain && a.attribute == b.attribute
	})
}

// classesFor are the classes by some attributes; those that were asked for lately are kept. nil: it costs more
// than there is to spend.
func (x *deviceIndex) classesFor(attributes []condition, spend func(steps int) bool) *deviceClasses {
	var key strings.Builder
	for _, c := range attributes {
		key.WriteString(strconv.Itoa(bit(c.capacity)) + c.domain + "\x00" + c.attribute + "\x00")
	}
	for left := (len(x.slices) + x.devices) * (1 + len(attributes)); left > 0; left -= stepsPerDeal {
		if !spend(min(left, stepsPerDeal)) { // whether they are kept or not: a question has one answer
			return nil
		}
	}
	x.making.Lock()
	defer x.making.Unlock()
	if known, ok := x.classes.Get(key.String()); ok {
		return known.(*deviceClasses)
	}
	out := x.classify(key.String(), attributes)
	x.classes.Add(key.String(), out)
	return out
}

// stepsPerDeal are the steps that are spent at one go.
const stepsPerDeal = 8192

func (x *deviceIndex) classify(by string, attributes []condition) *deviceClasses {
	out := &deviceClasses{kinds: make([]*sliceKinds, len(x.slices)), start: make([]int32, len(x.slices))}
	out.class = make([]int32, 0, 2*len(x.slices))
	classes := map[string]int32{}
	var before keptKinds
	for at := range x.slices {
		kinds := x.slices[at].kindsBy(by, attributes)
		out.kinds[at], out.start[at] = kinds.sliceKinds, int32(len(out.class))
		for i, key := range kinds.keys {
			if i < len(before.keys) && before.keys[i] == key { // mostly
				out.class = append(out.class, out.class[int(out.start[at-1])+i])
				continue
			}
			class, ok := classes[key]
			if !ok {
				class = int32(len(out.of))
				out.of = append(out.of, equalDevices{int32(at), kinds.kinds[i].first})
				if len(classes) < mostShared {
					classes[key] = class
				}
			}
			out.class = append(out.class, class)
		}
		before = kinds
	}
	return out
}

// kindsBy tells the devices of a slice apart, or finds them told apart.
func (slice *publishedSlice) kindsBy(by string, attributes []condition) keptKinds {
	for _, known := range *slice.kept {
		if known.by == by {
			return known
		}
	}
	out := keptKinds{by: by, sliceKinds: &sliceKinds{of: make([]int32, len(slice.Spec.Devices))}}
	var keys []byte // of all kinds, one after the other
	var ends []int
	for i := range slice.Spec.Devices {
		d, doubt := &slice.Spec.Devices[i], ""
		if slice.doubt != nil {
			doubt = slice.doubt[i]
		}
		start := len(keys)
		keys = slice.appendKey(keys, d, doubt, attributes)
		kind, from := 0, 0
		for kind < len(ends) && !bytes.Equal(keys[from:ends[kind]], keys[start:]) {
			kind, from = kind+1, ends[kind]
		}
		if kind < len(ends) {
			keys = keys[:start]
		} else {
			ends, out.kinds = append(ends, len(keys)), append(out.kinds, deviceKind{first: int32(i)})
		}
		out.kinds[kind].count++
		out.of[i] = int32(kind)
	}
	text, from := string(keys), 0
	for _, end := range ends {
		out.keys, from = append(out.keys, text[from:end]), end
	}
	if len(text) <= mostKeyText {
		if len(*slice.kept) == mostKept {
			*slice.kept = slices.Delete(*slice.kept, 0, 1)
		}
		*slice.kept = append(*slice.kept, out)
	}
	return out
}

// appendKey writes what requests can tell a device by.
func (slice *publishedSlice) appendKey(key []byte, d *publishedDevice, doubt string, attributes []condition) []byte {
	text := func(s string) {
		key = binary.AppendUvarint(key, uint64(len(s)))
		key = append(key, s...)
	}
	text(slice.Spec.Driver)
	text(doubt)
	key = append(key, byte(bit(d.endless())), byte(bit(slice.host == "")), byte(bit(len(d.ConsumesCounters) > 0)), byte(len(d.Taints)))
	for _, taint := range d.Taints {
		text(taint.Key)
		text(taint.Value)
		text(taint.Effect)
	}
	for i := range attributes {
		a, ok := attributes[i].of(slice.Spec.Driver, d)
		switch {
		case !ok:
			key = append(key, 0)
		case a.String != nil:
			key = append(key, 1)
			text(*a.String)
		case a.Int != nil:
			key = append(key, 2)
			key = binary.AppendVarint(key, *a.Int)
		case a.Bool != nil:
			key = append(key, 3, byte(bit(*a.Bool)))
		default:
			key = append(key, 4)
		}
	}
	return key
}

func (d *publishedDevice) endless() bool {
	return ptr.Deref(d.AllowMultipleAllocations, false)
}

// taken is how many devices of each kind claims hold.
func (x *deviceIndex) taken(classes *deviceClasses, held *heldDevices) []int32 {
	x.making.Lock()
	defer x.making.Unlock()
	if classes.taken != nil && classes.held == held {
		return classes.taken
	}
	out := make([]int32, len(classes.class))
	for at := range x.slices {
		slice := &x.slices[at]
		if names := held.in[slice.pool]; len(names) > 0 {
			for i := range slice.Spec.Devices {
				if slices.ContainsFunc(names, func(h heldDevice) bool { return h.name == slice.Spec.Devices[i].Name }) {
					out[classes.kindOf(at, i)]++
				}
			}
		}
	}
	classes.held, classes.taken = held, out
	return out
}
