package topology

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// bound is the first rule that alone keeps some of the pods from a place, in words with
// both numbers; empty: none does. Each bound counts what no placement can pass; everywhere: on whatever nodes.
func (w *RuleSet) bound() (rule string, everywhere bool) {
	for at := range w.sharedVolumes {
		if rule := w.boundOnePod(&w.sharedVolumes[at]); rule != "" {
			return rule, true
		}
	}
	for at := range w.affinity {
		if rule := w.boundAbsent(&w.affinity[at]); rule != "" {
			return rule, true
		}
	}
	if rule := w.boundWaiting(); rule != "" {
		return rule, true
	}
	for _, find := range []func() string{w.boundSharedVolumes, w.boundAntiAffinity, w.boundAffinity, w.boundDomains, w.boundParts, w.boundSpread} {
		if rule := find(); rule != "" {
			return rule, false
		}
	}
	return "", false
}

// boundOnePod looks for several pods with a volume that one of them may use.
func (w *RuleSet) boundOnePod(r *sharedVolumeRule) string {
	if n, who := w.pods(r.members); r.once && n > 1 {
		return fmt.Sprintf("%s mount the claim %s, which one pod at a time may use (ReadWriteOncePod)", who, r.claim)
	}
	return ""
}

// boundAbsent looks for pods that must be near to others that are nowhere.
func (w *RuleSet) boundAbsent(r *affinityRule) string {
	if n, who := w.pods(r.holders); n > 0 && r.with.without(r.holders).empty() && (!r.open || r.with.empty()) {
		for j, top := range r.tops {
			if !slices.Contains(r.seeded[j], true) {
				return fmt.Sprintf("%s must share %s with pods that do not run", who, domainWord(w.topologies[top].key))
			}
		}
	}
	return ""
}

// boundWaiting looks for pod sets none of which may go first: each has to be near to pods of another that waits, too, and
// to none that run. It sets out from those that may begin, and costs O(pod sets × rules).
func (w *RuleSet) boundWaiting() string {
	holds := func(r *affinityRule, i int) bool { // the pod set needs others by the rule
		return r.holders.has(i) && !(r.open && r.with.has(i)) && slices.ContainsFunc(r.seeded, func(domains []bool) bool { return !slices.Contains(domains, true) })
	}
	if len(w.affinity) == 0 || !w.solver.Cycle.Budget.Spend(len(w.podSets)*len(w.affinity)) {
		return ""
	}
	kept, needs := make([]bool, len(w.affinity)), make([]int, len(w.podSets))
	waiting, begun := w.set(), []int{}
	for i := range w.podSets {
		for at := range w.affinity {
			if holds(&w.affinity[at], i) {
				needs[i]++
			}
		}
		if needs[i] == 0 {
			begun = append(begun, i)
		} else {
			waiting.add(i)
		}
	}
	for len(begun) > 0 {
		first := begun[0]
		begun = begun[1:]
		waiting = waiting.without(w.set(first))
		for at := range w.affinity {
			r := &w.affinity[at]
			if kept[at] || !r.with.has(first) || w.podSets[first].Count == 0 {
				continue
			}
			kept[at] = true
			for i := range r.holders.all() {
				if !holds(r, i) {
					continue
				}
				if needs[i]--; needs[i] == 0 {
					begun = append(begun, i)
				}
			}
		}
	}
	n, who := w.pods(waiting)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s must each be near to pods of another, and none of them may go first", who)
}

// pods of some pod sets, and their roles: "1 Master + 5 Workers".
func (w *RuleSet) pods(podSets podSetSet) (n int, who string) {
	var of []*assign.PodSet
	for i := range podSets.all() {
		of = append(of, w.podSets[i])
	}
	return w.solver.PodsOf(of)
}

func (w *RuleSet) boundSharedVolumes() string {
	for _, r := range w.sharedVolumes {
		n, who := w.pods(r.members)
		switch {
		case !r.hard || n < 2 || r.once:
		default:
			if most := w.onOneNode(r.members, n); most < n {
				if r.devices {
					return fmt.Sprintf("%s share the %s, whose devices are on one node; at most %d of them fit on one that has these", who, r.claim, most)
				}
				one := "which is attached to one node at a time (ReadWriteOnce)"
				if r.local {
					one = "whose volume one node reaches"
				}
				return fmt.Sprintf("%s mount the claim %s, %s; at most %d of them fit on one", who, r.claim, one, most)
			}
		}
	}
	return ""
}

// onOneNode is the most pods of some pod sets that one node takes, each pod set counted alone.
func (w *RuleSet) onOneNode(podSets podSetSet, all int) int {
	best := 0
	for nodeGroup := range w.solver.Cycle.Grouping.Nodes {
		sum := int64(0)
		for i := range podSets.all() {
			if k := w.podSets[i]; w.takesOne(i, nodeGroup) {
				sum += min(int64(w.caps(k)[nodeGroup]), int64(k.Count))
			}
		}
		best = max(best, int(min(sum, int64(all))))
	}
	return best
}

// takesOne says that nodes of a node group have as much of all that is counted there as one pod of a pod set takes.
func (w *RuleSet) takesOne(podSet, nodeGroup int) bool {
	return !slices.ContainsFunc(w.attachLimits, func(r attachLimitRule) bool {
		takes := r.own[podSet]
		for at, podSets := range r.shared {
			takes += int32(assign.OneIf(podSets.has(podSet) && !r.there[at][nodeGroup]))
		}
		return takes > max(0, r.left[nodeGroup])
	})
}

// boundAntiAffinity counts domains for pod sets that keep away from each other and themselves.
func (w *RuleSet) boundAntiAffinity() string {
	for _, r := range w.antiAffinity {
		podSets := r.holders.and(r.with)
		if podSets.empty() {
			continue
		}
		n, who := w.pods(podSets)
		domains, outside := w.domainsFor(r.top, podSets)
		if int64(n) > saturate.Add(int64(domains), outside) {
			return fmt.Sprintf("%s keep apart over %s; the nodes that may take them are in %s", who, w.topologies[r.top].key, words.Count(domains, "domain", "domains"))
		}
	}
	return ""
}

// domainsFor counts the domains that take a pod of some pod sets, and how many pods nodes in
// no domain take.
func (w *RuleSet) domainsFor(top int, podSets podSetSet) (domains int, outside int64) {
	rooms := w.rooms(top)
	for d := range w.topologies[top].size {
		for i := range podSets.all() {
			if rooms[d*len(w.podSets)+i] > 0 {
				domains++
				break
			}
		}
	}
	for nodeGroup, nodes := range w.solver.Cycle.Grouping.Nodes {
		if w.topologies[top].domain(nodeGroup, nodes[0]) >= 0 {
			continue
		}
		for i := range podSets.all() {
			outside = saturate.Add(outside, saturate.Mul(int64(w.caps(w.podSets[i])[nodeGroup]), int64(len(nodes))))
		}
	}
	return domains, outside
}

// boundAffinity counts the room in the domains where pods that others must be near to are, or
// can be.
func (w *RuleSet) boundAffinity() string {
	for at := range w.affinity {
		r := &w.affinity[at]
		if !r.with.without(r.holders).empty() {
			continue // others may begin in any domain
		}
		n, who := w.pods(r.holders)
		if n == 0 {
			continue
		}
		for j, top := range r.tops {
			begun, one := w.roomNear(r, j)
			key := w.topologies[top].key
			switch self := r.open && !r.with.empty(); {
			case !self && begun < int64(n):
				return fmt.Sprintf("%s must share %s with pods that run; at most %d of %d find room there", who, domainWord(key), begun, n)
			case self && saturate.Add(begun, one) < int64(n):
				return fmt.Sprintf("%s must all share %s; at most %d of %d find room in one", who, domainWord(key), saturate.Add(begun, one), n)
			}
		}
	}
	return ""
}

// domainWord names one domain of a topology.
func domainWord(key string) string {
	if key == corev1.LabelHostname {
		return "a node"
	}
	return "one " + key
}

// roomNear is the room for the holders of a rule in domains that have a pod already, and
// the most that there is in another.
func (w *RuleSet) roomNear(r *affinityRule, j int) (begun, one int64) {
	rooms := w.rooms(r.tops[j])
	for d := range w.topologies[r.tops[j]].size {
		sum := int64(0)
		for i := range r.holders.all() {
			sum = saturate.Add(sum, min(rooms[d*len(w.podSets)+i], int64(w.podSets[i].Count)))
		}
		if r.seeded[j][d] {
			begun = saturate.Add(begun, sum)
		} else {
			one = max(one, sum)
		}
	}
	return begun, one
}

// boundSpread counts how far the fullest domains may get before the emptiest one is full.
func (w *RuleSet) boundSpread() string {
	for at := range w.spread {
		r := &w.spread[at]
		podSets := r.holders.and(r.counted)
		n, who := w.pods(podSets)
		if n == 0 {
			continue
		}
		rooms, fewest := w.rooms(r.top), int64(math.MaxInt32)
		if r.short {
			fewest = 0
		}
		for d := range r.base {
			if r.compared[d] {
				fewest = min(fewest, saturate.Add(int64(r.base[d]), w.roomIn(rooms, d, r.counted)))
			}
		}
		most := int64(0)
		for d := range r.base {
			most = saturate.Add(most, max(0, min(w.roomIn(rooms, d, podSets), fewest+int64(r.skew)-int64(r.base[d]))))
		}
		if most < int64(n) {
			return fmt.Sprintf("%s spread over %s with a skew of at most %d: at most %d of %d pods, for the emptiest domain gets no further than %d", who, w.topologies[r.top].key, r.skew, most, n, fewest)
		}
	}
	return ""
}

// roomIn is how many pods of some pod sets a domain takes, each counted alone.
func (w *RuleSet) roomIn(rooms []int64, d int, podSets podSetSet) (sum int64) {
	for i := range podSets.all() {
		sum = saturate.Add(sum, min(rooms[d*len(w.podSets)+i], int64(w.podSets[i].Count)))
	}
	return sum
}

// All names the rules that cannot all be kept.
func (w *RuleSet) All() string {
	var out []string
	add := func(what string) {
		if !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	for _, r := range w.affinity {
		for _, top := range r.tops {
			add("affinity over " + w.topologies[top].key)
		}
	}
	for _, r := range w.antiAffinity {
		add("anti-affinity over " + w.topologies[r.top].key)
	}
	for _, r := range w.spread {
		add("spread over " + w.topologies[r.top].key)
	}
	for _, r := range w.sharedVolumes {
		if r.devices {
			add("the " + r.claim)
			continue
		}
		add("the claim " + r.claim)
	}
	for _, r := range w.attachLimits {
		add(r.of)
	}
	return "no placement keeps " + strings.Join(out, ", ") + " and the room on the nodes"
}
