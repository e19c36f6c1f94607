package topology

import (
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// exclusiveSet is pods that must all share one domain, and keep others out of it.
type exclusiveSet struct {
	rule             int       // of affinity
	podSets, against podSetSet // against: pod sets of which none may be in the same domain
	domains          []int     // that hold all of them
}

// boundDomains looks for pods that must share one domain each and keep each other out of it: there must be as many
// domains, each with room for those that it is given.
func (w *RuleSet) boundDomains() string {
	for top := range w.topologies {
		all := w.exclusiveSets(top)
		if len(all) < 2 {
			continue
		}
		if found := w.assignDomains(top, all); found >= 0 && found < len(all) {
			podSets := w.set()
			for _, c := range all {
				podSets.join(c.podSets)
			}
			_, who := w.pods(podSets)
			return fmt.Sprintf("%s are %d sets that each need %s to themselves; at most %s can have one", who, len(all), domainWord(w.topologies[top].key), words.Count(found, "set", "sets"))
		}
	}
	return ""
}

// boundParts looks for equal parts of a role that lie in one domain each, several in one if need be: a domain takes as many
// parts as it has room for whole ones. Parts that find room in different places are passed over.
func (w *RuleSet) boundParts() string {
	seen := w.set()
	for at := range w.affinity {
		first, ok := w.partOf(&w.affinity[at])
		if !ok || seen.has(first) {
			continue
		}
		k, parts, podSets, alike := w.podSets[first], 0, w.set(), true
		top, n := w.affinity[at].tops[0], len(w.podSets)
		rooms, size := w.rooms(top), w.topologies[top].size
		for other := range w.affinity[at:] {
			r := &w.affinity[at+other]
			i, ok := w.partOf(r)
			if !ok || r.tops[0] != top || w.podSets[i].Name != k.Name || w.podSets[i].Count != k.Count {
				continue
			}
			parts++
			podSets.add(i)
			seen.add(i)
			if alike = alike && w.solver.Cycle.Budget.Spend(1+size/8); !alike {
				continue
			}
			for d := range size {
				alike = alike && rooms[d*n+i] == rooms[d*n+first]
			}
		}
		whole := int64(0)
		for d := range size {
			whole = saturate.Add(whole, rooms[d*n+first]/int64(k.Count))
		}
		if alike && whole < int64(parts) {
			_, who := w.pods(podSets)
			return fmt.Sprintf("%s are %d sets that must each share %s; at most %d of them find room", who, parts, domainWord(w.topologies[top].key), whole)
		}
	}
	return ""
}

// partOf is the pod set that a rule keeps in one domain, where it is about a part of a role and nothing else.
func (w *RuleSet) partOf(r *affinityRule) (podSet int, ok bool) {
	if !r.open || len(r.tops) != 1 || slices.Contains(r.seeded[0], true) || !r.with.without(r.holders).empty() || !r.holders.without(r.with).empty() {
		return 0, false
	}
	found := 0
	for i := range r.holders.all() {
		podSet, found = i, found+1
	}
	return podSet, found == 1 && w.podSets[podSet].Count > 0 && w.solver.Gang.Groups[w.podSets[podSet].Groups[0]].Part != nil
}

// exclusiveSets are pods that each claim a domain of a topology, no two of which may share one.
func (w *RuleSet) exclusiveSets(top int) (out []exclusiveSet) {
	for at := range w.affinity {
		r := &w.affinity[at]
		if !r.open || len(r.tops) != 1 || r.tops[0] != top || r.with.empty() || !r.with.without(r.holders).empty() || slices.Contains(r.seeded[0], true) {
			continue // some of them may begin in another domain
		}
		c := exclusiveSet{rule: at, podSets: w.set(), against: w.set()}
		for i := range r.holders.all() {
			if w.podSets[i].Count > 0 {
				c.podSets.add(i)
			}
		}
		if c.podSets.empty() || !w.solver.Cycle.Budget.Spend(len(w.antiAffinity)*len(c.podSets)) {
			continue
		}
		if w.topologies[top].of == nil {
			w.keptFromNodes(&c)
		}
		for _, apart := range w.antiAffinity {
			if apart.top != top {
				continue
			}
			if apart.holders.meets(c.podSets) {
				c.against.join(apart.with)
			}
			if apart.with.meets(c.podSets) {
				c.against.join(apart.holders)
			}
		}
		if !slices.ContainsFunc(out, func(o exclusiveSet) bool { return !o.podSets.meets(c.against) }) {
			out = append(out, c)
		}
	}
	return out
}

// keptFromNodes adds the pod sets that may not be on a node with those of the exclusiveSet: what rules of other topologies are
// to a domain, clashes are to a node.
func (w *RuleSet) keptFromNodes(c *exclusiveSet) {
	for i := range c.podSets.all() {
		for j, other := range w.podSets {
			if j != i && w.solver.Cycle.Budget.Spend(1) && w.solver.Clashes(w.podSets[i], other) {
				c.against.add(j)
			}
		}
	}
}

// assignDomains is how many of them get a domain of their own (a maximum matching by augmenting paths); -1: it was not worked out.
func (w *RuleSet) assignDomains(top int, all []exclusiveSet) (found int) {
	rooms, budget := w.rooms(top), w.solver.Cycle.Budget
	for at := range all {
		c := &all[at]
		if !budget.Spend(w.topologies[top].size * len(c.podSets) / 2) {
			return -1
		}
		n, _ := w.pods(c.podSets)
		for d := range w.topologies[top].size {
			if w.roomIn(rooms, d, c.podSets) >= int64(n) {
				c.domains = append(c.domains, d)
			}
		}
	}
	taken := make([]int, w.topologies[top].size) // by domain: 1 + the index in all of what has it
	tried := make([]int, len(taken))             // by domain: the round in which it was tried last
	var find func(at, round int) bool
	find = func(at, round int) bool {
		if !budget.Spend(1 + len(all[at].domains)/8) {
			return false
		}
		for _, d := range all[at].domains {
			if tried[d] == round {
				continue
			}
			tried[d] = round
			if taken[d] == 0 || find(taken[d]-1, round) {
				taken[d] = at + 1
				return true
			}
		}
		return false
	}
	for at := range all {
		if find(at, at+1) {
			found++
		}
	}
	if !budget.Spend(0) {
		return -1
	}
	w.places = make([]int32, len(w.affinity))
	for at := range w.places {
		w.places[at] = -1
	}
	for d, who := range taken {
		if who > 0 {
			w.places[all[who-1].rule] = int32(d)
		}
	}
	return found
}
