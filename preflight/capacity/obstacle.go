package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// limit is the first rule that alone keeps some of the pods from a place, in words with
// both numbers; empty: none does. Each bound counts what no placement can pass.
func (w *web) limit() string {
	for _, find := range []func() string{w.limitShare, w.limitApart, w.limitNear, w.limitEven} {
		if rule := find(); rule != "" {
			return rule
		}
	}
	return ""
}

// pods of some kins, and their roles: "1 Master + 5 Workers".
func (w *web) pods(kins kinSet) (n int, who string) {
	var of []*kin
	for i := range kins.all() {
		of = append(of, w.kins[i])
	}
	return w.q.podsOf(of)
}

// podsOf are the pods of some kins, and their roles.
func (q *question) podsOf(kins []*kin) (n int, who string) {
	var roles words.Roles
	for _, k := range kins {
		n = int(saturate.Add(int64(n), int64(k.count)))
		for _, g := range k.groups {
			roles.Add(q.gang.Groups[g].Name, q.need[g])
		}
	}
	return n, roles.String()
}

func (w *web) limitShare() string {
	for _, r := range w.share {
		n, who := w.pods(r.kins)
		switch {
		case !r.hard || n < 2:
		case r.once:
			return fmt.Sprintf("%s mount the claim %s, which one pod at a time may use (ReadWriteOncePod)", who, r.claim)
		default:
			if most := w.onOneNode(r.kins, n); most < n {
				return fmt.Sprintf("%s mount the claim %s, which is attached to one node at a time (ReadWriteOnce); at most %d of them fit on one", who, r.claim, most)
			}
		}
	}
	return ""
}

// onOneNode is the most pods of some kins that one node takes, each kin counted alone.
func (w *web) onOneNode(kins kinSet, all int) int {
	best := 0
	for cell := range w.q.on.grid.Nodes {
		sum := int64(0)
		for i := range kins.all() {
			k := w.kins[i]
			sum += min(int64(w.caps(k)[cell]), int64(k.count))
		}
		best = max(best, int(min(sum, int64(all))))
	}
	return best
}

// limitApart counts domains for kins that keep away from each other and themselves.
func (w *web) limitApart() string {
	for _, r := range w.apart {
		kins := r.holders.and(r.with)
		if kins.empty() {
			continue
		}
		n, who := w.pods(kins)
		domains, outside := w.domainsFor(r.top, kins)
		if int64(n) > saturate.Add(int64(domains), outside) {
			return fmt.Sprintf("%s keep apart over %s; the nodes that may take them are in %s", who, w.tops[r.top].key, words.Count(domains, "domain", "domains"))
		}
	}
	return ""
}

// domainsFor counts the domains that take a pod of some kins, and how many pods nodes in
// no domain take.
func (w *web) domainsFor(top int, kins kinSet) (domains int, outside int64) {
	rooms := w.rooms(top)
	for d := range w.tops[top].size {
		for i := range kins.all() {
			if rooms[d*len(w.kins)+i] > 0 {
				domains++
				break
			}
		}
	}
	for cell, nodes := range w.q.on.grid.Nodes {
		if w.tops[top].domain(cell, nodes[0]) >= 0 {
			continue
		}
		for i := range kins.all() {
			outside = saturate.Add(outside, saturate.Mul(int64(w.caps(w.kins[i])[cell]), int64(len(nodes))))
		}
	}
	return domains, outside
}

// limitNear counts the room in the domains where pods that others must be near to are, or
// can be.
func (w *web) limitNear() string {
	for at := range w.near {
		r := &w.near[at]
		if !r.with.without(r.holders).empty() {
			continue // others may begin in any domain
		}
		n, who := w.pods(r.holders)
		if n == 0 {
			continue
		}
		for j, top := range r.tops {
			begun, one := w.roomNear(r, j)
			key := w.tops[top].key
			switch self := r.open && !r.with.empty(); {
			case !self && begun == 0 && !slices.Contains(r.seeded[j], true):
				return fmt.Sprintf("%s must share %s with pods that do not run", who, domainWord(key))
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
func (w *web) roomNear(r *nearRule, j int) (begun, one int64) {
	rooms := w.rooms(r.tops[j])
	for d := range w.tops[r.tops[j]].size {
		sum := int64(0)
		for i := range r.holders.all() {
			sum = saturate.Add(sum, min(rooms[d*len(w.kins)+i], int64(w.kins[i].count)))
		}
		if r.seeded[j][d] {
			begun = saturate.Add(begun, sum)
		} else {
			one = max(one, sum)
		}
	}
	return begun, one
}

// limitEven counts how far the fullest domains may get before the emptiest one is full.
func (w *web) limitEven() string {
	for at := range w.even {
		r := &w.even[at]
		kins := r.holders.and(r.counted)
		n, who := w.pods(kins)
		if n == 0 {
			continue
		}
		rooms, fewest := w.rooms(r.top), int64(math.MaxInt32)
		if r.short {
			fewest = 0
		}
		for d := range r.base {
			if r.real[d] {
				fewest = min(fewest, saturate.Add(int64(r.base[d]), w.roomIn(rooms, d, r.counted)))
			}
		}
		most := int64(0)
		for d := range r.base {
			most = saturate.Add(most, max(0, min(w.roomIn(rooms, d, kins), fewest+int64(r.skew)-int64(r.base[d]))))
		}
		if most < int64(n) {
			return fmt.Sprintf("%s spread over %s with a skew of at most %d: at most %d of %d pods, for the emptiest domain gets no further than %d", who, w.tops[r.top].key, r.skew, most, n, fewest)
		}
	}
	return ""
}

// roomIn is how many pods of some kins a domain takes, each counted alone.
func (w *web) roomIn(rooms []int64, d int, kins kinSet) (sum int64) {
	for i := range kins.all() {
		sum = saturate.Add(sum, min(rooms[d*len(w.kins)+i], int64(w.kins[i].count)))
	}
	return sum
}

// all names the rules that cannot all be kept.
func (w *web) all() string {
	var out []string
	add := func(what string) {
		if !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	for _, r := range w.near {
		for _, top := range r.tops {
			add("affinity over " + w.tops[top].key)
		}
	}
	for _, r := range w.apart {
		add("anti-affinity over " + w.tops[r.top].key)
	}
	for _, r := range w.even {
		add("spread over " + w.tops[r.top].key)
	}
	for _, r := range w.share {
		add("the claim " + r.claim)
	}
	for _, r := range w.slots {
		add("how many volumes of " + r.driver + " a node attaches")
	}
	return "no placement keeps " + strings.Join(out, ", ") + " and the room on the nodes"
}
