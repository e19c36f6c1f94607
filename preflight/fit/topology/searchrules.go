package topology

import "math"

// keeps says whether the mix on a node keeps all rules, as far as can be said now.
func (x *search) keeps(j int, m *mix) bool {
	c := x.closed(j + 1)
	return x.keepsAntiAffinity(j, m) && x.keepsAffinity(j, m, &c) && x.keepsSpread(j, m, &c) && x.keepsSharedVolumes(m, &c)
}

// over says that a node is the last of its domain.
func (x *search) over(j, top int, d int32) bool { return x.last[top][d] == int32(j) }

func (x *search) keepsAntiAffinity(j int, m *mix) bool {
	for at := range x.rules.antiAffinity {
		r := &x.rules.antiAffinity[at]
		if m.adds[r.both] == 0 {
			continue
		}
		d := x.nodes[j].domains[r.top]
		if d >= 0 && x.in[r.held][d] > 0 && r.others(x.in, d) > 0 && x.in[r.both][d] > 1 {
			return false
		}
	}
	return true
}

func (x *search) keepsAffinity(j int, m *mix, c *closing) bool {
	selves := 0
	for at := range x.rules.affinity {
		r := &x.rules.affinity[at]
		for i, top := range r.tops {
			slot := selves
			selves++
			d := x.nodes[j].domains[top]
			if d < 0 {
				if m.adds[r.held[i]] > 0 {
					return false
				}
				continue
			}
			if !x.over(j, top, d) || r.seeded[i][d] || x.in[r.held[i]][d] == 0 {
				continue
			}
			if x.in[r.there[i]][d] == 0 {
				return false
			}
			if x.in[r.others[i]][d] == 0 {
				if c.selves[slot]++; !r.open || c.selves[slot] > 1 {
					return false
				}
			}
		}
	}
	return true
}

func (x *search) keepsSpread(j int, m *mix, c *closing) bool {
	for at := range x.rules.spread {
		r := &x.rules.spread[at]
		d := x.nodes[j].domains[r.top]
		if d < 0 {
			if m.adds[r.held] > 0 {
				return false
			}
			continue
		}
		if x.in[r.held][d] > 0 {
			need := r.base[d] + x.in[r.heldCounted][d]
			if need == r.base[d] && x.in[r.heldSelf][d] > 0 {
				need++ // it matches, and is not counted afterwards
			}
			c.most[at] = max(c.most[at], need-int32(min(r.skew, math.MaxInt32/2)))
		}
		if r.compared[d] && !r.short && x.over(j, r.top, d) {
			c.fewest[at] = min(c.fewest[at], r.base[d]+x.in[r.level][d])
		}
		if c.most[at] > c.fewest[at] {
			return false
		}
	}
	return true
}

func (x *search) keepsSharedVolumes(m *mix, c *closing) bool {
	for at := range x.rules.sharedVolumes {
		r := &x.rules.sharedVolumes[at]
		n := r.members.podsOf(m.pods)
		if n == 0 || !r.hard {
			continue
		}
		if r.once {
			c.held[at] += n
		}
		c.nodes[at]++
		if r.once && c.held[at] > 1 || c.nodes[at] > 1 {
			return false
		}
	}
	return true
}
