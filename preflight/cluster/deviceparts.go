package cluster

import (
	"cmp"
	"math/bits"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
)

// partedPool is a pool on one node whose devices share counters
// (https://pkg.go.dev/k8s.io/api/resource/v1#CounterSet).
type partedPool struct {
	node    string
	several bool // there are devices of other nodes, too
	left    map[counterOf]resource.Quantity
	free    []part // devices that some requests select and none has
	idle    []part // and those that claims hold
	held    []*publishedDevice
}

type counterOf struct{ set, name string }

// part is a device that some requests select.
type part struct {
	*publishedDevice
	suits uint64
}

// addParts adds the devices that share counters: as many as there is enough of each counter for, whichever
// of those that any request selects they are. The requests of one pool are beside each other. False: that
// costs more than there is to spend.
func (c *deviceCounter) addParts(s *Snapshot, classes *deviceClasses, suiting []uint64, spend func(steps int) bool) bool {
	if !slices.ContainsFunc(c.out, func(out DeviceCount) bool { return out.Parts }) {
		return true
	}
	x := s.rules.devices
	if !spend(len(x.slices) + 2*x.devices) {
		return false
	}
	for _, pool := range x.partedPools(classes, suiting, s.allocated) {
		at, there := s.NodeAt(pool.node)
		if pool.several || pool.node == "" || !there || len(pool.idle) == 0 {
			continue
		}
		all := uint64(0)
		for _, p := range pool.idle {
			all |= p.suits
		}
		idle, known := pool.most(pool.idle)
		for _, d := range pool.held {
			pool.take(d)
		}
		now, _ := pool.most(pool.free)
		for set := all; set != 0; set &= set - 1 {
			i := bits.TrailingZeros64(set)
			out := &c.out[i]
			if out.Beside |= all; !known {
				out.Doubt = cmp.Or(out.Doubt, "devices take of counters that are not published")
			}
			suits := func(p part) bool { return p.suits>>i&1 == 1 }
			out.Now[at] += int32(min(now, countOf(pool.free, suits)))
			out.Idle[at] += int32(min(idle, countOf(pool.idle, suits)))
		}
	}
	return true
}

func countOf(parts []part, is func(part) bool) (n int) {
	for _, p := range parts {
		n += bit(is(p))
	}
	return n
}

// partedPools are the pools of which requests select devices that share counters, in the order of their slices.
func (x *deviceIndex) partedPools(classes *deviceClasses, suiting []uint64, held *heldDevices) []*partedPool {
	var out []*partedPool
	pools := map[poolOf]*partedPool{}
	for at := range x.slices {
		slice := &x.slices[at]
		pool := pools[slice.pool]
		if pool == nil {
			pool = &partedPool{left: map[counterOf]resource.Quantity{}}
			pools[slice.pool] = pool
			out = append(out, pool)
		}
		for _, set := range slice.Spec.SharedCounters {
			for name, c := range set.Counters {
				pool.left[counterOf{set.Name, name}] = c.Value
			}
		}
	}
	for at := range x.slices {
		slice := &x.slices[at]
		pool := pools[slice.pool]
		for i := range slice.Spec.Devices {
			d := &slice.Spec.Devices[i]
			if len(d.ConsumesCounters) == 0 {
				continue
			}
			pool.several = pool.several || slice.host == "" || pool.node != "" && pool.node != slice.host
			pool.node = slice.host
			has := held.has(slice.pool, d.Name)
			if has {
				pool.held = append(pool.held, d)
			}
			p := part{d, suiting[classes.class[classes.kindOf(at, i)]]}
			if p.suits == 0 {
				continue
			}
			if pool.idle = append(pool.idle, p); !has {
				pool.free = append(pool.free, p)
			}
		}
	}
	return out
}

// has says that a claim holds a device.
func (h *heldDevices) has(pool poolOf, name string) bool {
	return h != nil && slices.ContainsFunc(h.in[pool], func(d heldDevice) bool { return d.name == name })
}

// take takes out of the counters what a device takes.
func (pool *partedPool) take(d *publishedDevice) {
	for of, value := range d.takes() {
		left := pool.left[of].DeepCopy()
		left.Sub(value)
		pool.left[of] = left
	}
}

// takes is what a device takes of each counter.
func (d *publishedDevice) takes() map[counterOf]resource.Quantity {
	out := map[counterOf]resource.Quantity{}
	for _, use := range d.ConsumesCounters {
		for name, c := range use.Counters {
			sum := out[counterOf{use.CounterSet, name}]
			sum.Add(c.Value)
			out[counterOf{use.CounterSet, name}] = sum
		}
	}
	return out
}

// most is how many of some devices there is enough of each counter for, whichever they are. Not known: some
// take of a counter that is not there.
func (pool *partedPool) most(parts []part) (n int, known bool) {
	uses := map[counterOf][]resource.Quantity{}
	for _, p := range parts {
		for of, value := range p.takes() {
			uses[of] = append(uses[of], value)
		}
	}
	n, known = len(parts), true
	for of, all := range uses {
		left, ok := pool.left[of]
		known = known && ok
		slices.SortFunc(all, func(a, b resource.Quantity) int { return b.Cmp(a) })
		sum := resource.Quantity{}
		for i, value := range all {
			if sum.Add(value); sum.Cmp(left) > 0 {
				n = min(n, i)
				break
			}
		}
	}
	return n, known
}
