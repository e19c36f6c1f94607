package topology

import (
	"encoding/binary"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
)

// Roles that are many and small make a search endless, though most of them differ in nothing that
// matters. A simpler question has fewer answers to try: a no to a part is a no to all. A part is, of pods that
// rules tie to each other, all that the rules look at, and of pods that differ in what they ask for alone, as
// many that ask for the least of it.

// refutePart looks for pod sets that find no place even alone; empty: none was found, or all are one part.
func (w *RuleSet) refutePart(beside assign.Reserved) (rule string) {
	budget := w.solver.Cycle.Budget
	defer budget.Try(mostBuildSteps)()
	alike := w.alike()
	for _, part := range w.parts() {
		of := w.relax(alike, part)
		if len(of.podSets) == len(w.podSets) || !budget.Spend(len(w.podSets)) {
			continue // that is the question itself
		}
		if _, decided := of.search(beside); decided {
			w.unordered = of.unordered
			return of.All()
		}
	}
	return ""
}

// parts are the pod sets that rules tie to each other. Pods that no rule looks at are in none.
func (w *RuleSet) parts() (out []podSetSet) {
	join := func(set podSetSet) {
		if set.empty() {
			return
		}
		set = slices.Clone(set)
		out = slices.DeleteFunc(out, func(part podSetSet) bool {
			if !part.meets(set) {
				return false
			}
			set.join(part)
			return true
		})
		out = append(out, set)
	}
	for _, r := range w.antiAffinity {
		join(r.holders.with(r.with))
	}
	for _, r := range w.affinity {
		join(r.holders.with(r.with))
	}
	for _, r := range w.spread {
		join(r.holders.with(r.counted))
	}
	for _, r := range w.sharedVolumes {
		join(r.members)
	}
	return out
}

// alike numbers the pod sets so that those have the same number which differ in nothing but what their pods ask
// for: they choose nodes alike, have no claims, keep from no node and have to do with the same rules.
func (w *RuleSet) alike() []int {
	numbers, out, clashing := map[string]int{}, make([]int, len(w.podSets)), w.solver.Clashing(w.podSets)
	for i, k := range w.podSets {
		key := binary.AppendUvarint(nil, uint64(w.firstFiltered(k)))
		if len(k.Facts.Claims) > 0 || clashing[i] {
			key = binary.AppendUvarint(key, uint64(1+i))
		}
		if key = append(key, 0); !w.solver.Cycle.Budget.Spend(2 * len(w.podSets)) {
			return out
		}
		for at := range w.antiAffinity {
			key = append(key, byte(assign.OneIf(w.antiAffinity[at].holders.has(i))+2*assign.OneIf(w.antiAffinity[at].with.has(i))))
		}
		for at := range w.affinity {
			key = append(key, byte(assign.OneIf(w.affinity[at].holders.has(i))+2*assign.OneIf(w.affinity[at].with.has(i))))
		}
		for at := range w.spread {
			r := &w.spread[at]
			key = append(key, byte(assign.OneIf(r.holders.has(i))+2*assign.OneIf(r.counted.has(i))+4*assign.OneIf(r.self.has(i))))
		}
		if _, ok := numbers[string(key)]; !ok {
			numbers[string(key)] = len(numbers)
		}
		out[i] = numbers[string(key)]
	}
	return out
}

// firstFiltered is the first pod set that is let onto the same nodes as another, room aside.
func (w *RuleSet) firstFiltered(k *assign.PodSet) int {
	return slices.IndexFunc(w.podSets, func(o *assign.PodSet) bool { return o.FilteredAs(k) })
}

// relax makes a rule set about a part: of its pod sets that have the same number one, as large as the smallest of them.
func (w *RuleSet) relax(numbers []int, part podSetSet) *RuleSet {
	of := &RuleSet{solver: w.solver, idle: w.idle, topologies: w.topologies}
	stands := make([]int, len(w.podSets)) // by pod set: which one stands for it; -1: none
	first := map[int]int{}
	var members [][]*assign.PodSet // by pod set: those that it stands for
	for i, k := range w.podSets {
		stands[i] = -1
		if !part.has(i) {
			continue
		}
		at, ok := first[numbers[i]]
		if !ok {
			at, members = len(members), append(members, nil)
			first[numbers[i]] = at
		}
		stands[i], members[at] = at, append(members[at], k)
	}
	for _, podSets := range members {
		of.podSets = append(of.podSets, w.solver.Merge(podSets))
	}
	w.rulesOf(of, stands)
	of.count()
	return of
}

// rulesOf gives another rule set the rules, about the pod sets that stand for those here.
func (w *RuleSet) rulesOf(of *RuleSet, stands []int) {
	translate := func(set podSetSet) podSetSet {
		out := of.set()
		for i := range set.all() {
			if stands[i] >= 0 {
				out.add(stands[i])
			}
		}
		return out
	}
	for _, r := range w.antiAffinity {
		if holders, with := translate(r.holders), translate(r.with); !holders.empty() && !with.empty() {
			of.antiAffinity = append(of.antiAffinity, antiAffinityRule{top: r.top, holders: holders, with: with})
		}
	}
	for _, r := range w.affinity {
		if holders := translate(r.holders); !holders.empty() {
			of.affinity = append(of.affinity, affinityRule{holders: holders, with: translate(r.with), tops: r.tops, seeded: r.seeded, open: r.open})
		}
	}
	for _, r := range w.spread {
		if r.holders = translate(r.holders); !r.holders.empty() {
			r.counted, r.self = translate(r.counted), translate(r.self)
			of.spread = append(of.spread, r)
		}
	}
	for _, r := range w.sharedVolumes {
		if r.members = translate(r.members); !r.members.empty() {
			of.sharedVolumes = append(of.sharedVolumes, r)
		}
	}
	for _, r := range w.attachLimits {
		own := make([]int32, len(of.podSets))
		for i, n := range r.own {
			if stands[i] >= 0 {
				own[stands[i]] = n
			}
		}
		shared := make([]podSetSet, len(r.shared))
		for at := range r.shared {
			shared[at] = translate(r.shared[at])
		}
		of.attachLimits = append(of.attachLimits, attachLimitRule{of: r.of, left: r.left, own: own, shared: shared, there: r.there})
	}
}
