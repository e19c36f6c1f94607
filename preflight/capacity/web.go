package capacity

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// web is what ties the pods of a stage to each other and to pods that exist, beyond what
// a node alone decides: affinity, anti-affinity and spread over any topology, volumes that
// one pod or one node may use, and how many volumes a node attaches.
type web struct {
	q    *question
	kins []*kin
	idle bool
	tops []topology

	apart []apartRule
	near  []nearRule
	even  []evenRule
	share []shareRule
	slots []slotRule

	counters []counter
	feeds    [][]int // by kin: the counters that count its pods

	stepsPerLook, stepsPerMix int
	spare                     *seating // of no use any more
	roomsOf                   [][]int64
	holeOrder                 [][]int32 // by kin and whether large holes come first; see byHole
}

// stepsPerMatch is what it costs to compare the pods of a kin with a selector.
const stepsPerMatch = 10

// topology parts the nodes into domains.
type topology struct {
	key  string
	of   []int32 // by cell: its domain, -1 for nodes that are in none; nil: each node is a domain
	size int
}

// domain of a node in a cell; -1: none.
func (t *topology) domain(cell int, node int32) int32 {
	if t.of == nil {
		return node
	}
	return t.of[cell]
}

// apartRule: no pod of the holders shares a domain with another pod of one of the kins in with.
type apartRule struct {
	top           int
	holders, with kinSet

	held, there, both int // counters: of holders, of with, of either
}

// nearRule: a pod of the holders goes where, in every one of the topologies, a pod of the
// kins in with is, or one that existed before. The first of all may go anywhere if it is
// itself of those.
type nearRule struct {
	holders, with kinSet
	tops          []int
	seeded        [][]bool // by topology of the rule, then domain: there is one already
	open          bool     // there is none anywhere, so a first may seed itself

	held, there, others []int // counters by topology of the rule: of holders, of with, of those in with that hold no rule
}

// evenRule: a pod of the holders goes to a domain only if, with it, that has at most skew
// more pods of the counted kins than the domain with fewest.
type evenRule struct {
	holders, counted, self kinSet // self: kins the selector matches
	top, skew              int
	base                   []int32 // by domain: pods that are there
	real                   []bool  // by domain: it is one of those that are compared
	cells                  []bool  // by cell: pods there are counted
	short                  bool    // there are fewer than the rule wants: the fewest is taken as 0
	unreal                 bool    // some nodes are in domains that are not compared

	level, held, heldCounted, heldSelf int // counters: level counts what the rule does, less base
}

// shareRule: pods of these kins share a volume that one pod, or one node, may use.
type shareRule struct {
	kins  kinSet
	once  bool // one pod
	hard  bool // proven; else not known
	why   string
	claim string
}

// slotRule: volumes of a driver that nodes attach up to a limit, by cell.
type slotRule struct {
	driver string
	left   []int32
	own    []int32  // by kin: volumes that each of its pods brings
	shared []kinSet // volumes that pods of several kins share: by whom
	there  [][]bool // by shared volume, then cell: it is attached already
}

// counter counts the pods of some kins by domain; cells: only on nodes of these (nil: of all).
type counter struct {
	top   int
	of    kinSet
	cells []bool
}

// weave makes the web of a stage; nil where nothing ties its pods.
func (q *question) weave(kins []*kin, idle bool) *web {
	if !q.on.ties || len(kins) == 0 {
		return nil
	}
	w := &web{q: q, kins: kins, idle: idle}
	for i, k := range kins {
		w.addApart(i, k)
		w.addNear(i, k)
		w.addEven(i, k)
	}
	w.addShares()
	w.addSlots()
	w.count()
	if len(w.apart)+len(w.near)+len(w.even)+len(w.share)+len(w.slots) == 0 {
		return nil
	}
	return w
}

// topology finds or numbers the domains of a key.
func (w *web) topology(key string) int {
	if at := slices.IndexFunc(w.tops, func(t topology) bool { return t.key == key }); at >= 0 {
		return at
	}
	t := topology{key: key, size: len(w.q.s.Nodes())}
	if key != corev1.LabelHostname {
		column := w.q.s.LabelColumn([]string{key})
		t.of, t.size = make([]int32, len(w.q.on.grid.Nodes)), column.Values+1
		for cell, members := range w.q.on.grid.Nodes {
			t.of[cell] = -1
			if _, ok := w.q.s.Nodes()[members[0]].Labels[key]; ok {
				t.of[cell] = column.Of[members[0]]
			}
		}
	}
	w.tops = append(w.tops, t)
	return len(w.tops) - 1
}

// count gives the rules their counters; rules that look at the same pods share one.
func (w *web) count() {
	number := func(top int, of kinSet, cells []bool) int {
		for at := range w.counters {
			if !w.q.on.budget.spend(2 + len(of)) {
				break
			}
			if c := &w.counters[at]; c.top == top && c.of.equal(of) && slices.Equal(c.cells, cells) {
				return at
			}
		}
		w.counters = append(w.counters, counter{top, of, cells})
		return len(w.counters) - 1
	}
	for at := range w.apart {
		r := &w.apart[at]
		r.held, r.there, r.both = number(r.top, r.holders, nil), number(r.top, r.with, nil), number(r.top, r.holders.with(r.with), nil)
	}
	for at := range w.near {
		r := &w.near[at]
		for _, top := range r.tops {
			r.held = append(r.held, number(top, r.holders, nil))
			r.there = append(r.there, number(top, r.with, nil))
			r.others = append(r.others, number(top, r.with.without(r.holders), nil))
		}
	}
	for at := range w.even {
		r := &w.even[at]
		r.level, r.held = number(r.top, r.counted, r.cells), number(r.top, r.holders, nil)
		r.heldCounted, r.heldSelf = number(r.top, r.holders.and(r.counted), nil), number(r.top, r.holders.and(r.self), nil)
	}
	w.feeds = make([][]int, len(w.kins))
	rules := len(w.apart) + len(w.near) + len(w.even) + len(w.share) + len(w.slots)
	w.stepsPerLook, w.stepsPerMix = 1+rules/2, 4+rules+(len(w.counters)+len(w.kins))/2
	for at := range w.counters {
		for i := range w.counters[at].of.all() {
			w.feeds[i] = append(w.feeds[i], at)
		}
	}
}

// set is the set of some kins.
func (w *web) set(of ...int) kinSet {
	out := newKinSet(len(w.kins))
	for _, i := range of {
		out.add(i)
	}
	return out
}

// matching are the kins that a function holds for.
func (w *web) matching(is func(k *kin) bool) kinSet {
	set := w.set()
	for i, k := range w.kins {
		if is(k) {
			set.add(i)
		}
	}
	return set
}

// meeting are the kins that a rule is about; doubt is why that is not known of one.
func (w *web) meeting(rule relation, is func(*job.Pod) (yes bool, doubt string)) (set kinSet, doubt string) {
	set = w.matching(func(k *kin) bool {
		yes, why := w.q.on.meets(rule, k.groups[0], func() (bool, string) { return is(k.pod) })
		doubt = cmp.Or(doubt, why)
		return yes
	})
	return set, doubt
}

// addApart reads anti-affinity between kins over more than a node; that over nodes is what
// kins clash for.
func (w *web) addApart(i int, k *kin) {
	for at := range k.traits.apart {
		term := &k.traits.apart[at]
		with := w.matching(func(other *kin) bool {
			yes, doubt := w.q.on.meets(relation{antiAffine, term.Number, 0}, other.groups[0], func() (bool, string) { return term.Meets(w.q.s, w.q.gang.Namespace, other.pod) })
			if doubt != "" {
				w.q.blur(notJudged(k.name, "anti-affinity", doubt))
			}
			return yes
		})
		if with.empty() || term.Topology == corev1.LabelHostname {
			continue
		}
		top := w.topology(term.Topology)
		at := slices.IndexFunc(w.apart, func(r apartRule) bool { return r.top == top && r.with.equal(with) })
		if at < 0 {
			at, w.apart = len(w.apart), append(w.apart, apartRule{top: top, holders: w.set(), with: with})
		}
		w.apart[at].holders.add(i)
	}
}

func (w *web) addNear(i int, k *kin) {
	terms := k.traits.near
	if len(terms) == 0 || slices.ContainsFunc(terms, func(t cluster.PodTerm) bool { return t.Unread != "" }) {
		return
	}
	r := nearRule{holders: w.set(i), open: true}
	with, doubt := w.meeting(relation{affine, k.groups[0], 0}, func(p *job.Pod) (bool, string) { return meetsAll(w.q.s, terms, w.q.gang.Namespace, p) })
	if doubt != "" { // without the rule a no is still proven
		w.q.blur(notJudged(k.name, "affinity", doubt))
		return
	}
	r.with = with
	for at := range terms {
		top := w.topology(terms[at].Topology)
		if slices.Contains(r.tops, top) {
			continue
		}
		r.tops = append(r.tops, top)
		seeded := make([]bool, w.tops[top].size)
		for _, node := range k.traits.seeds {
			if _, ok := w.q.s.Nodes()[node].Labels[w.tops[top].key]; !ok && w.tops[top].of != nil {
				continue // a pod on a node in no domain is near to nobody
			}
			seeded[w.domainOf(top, node)] = true
			r.open = w.idle // where those go away, the first may seed itself
		}
		r.seeded = append(r.seeded, seeded)
	}
	for at := range w.near {
		if !w.q.on.budget.spend(stepsPerMatch) {
			return
		}
		if other := &w.near[at]; other.with.equal(r.with) && slices.Equal(other.tops, r.tops) && slices.EqualFunc(other.seeded, r.seeded, slices.Equal) {
			other.holders.join(r.holders)
			return
		}
	}
	w.near = append(w.near, r)
}

// domainOf is the domain of a node, whatever its cell.
func (w *web) domainOf(top int, node int32) int32 {
	if w.tops[top].of == nil {
		return node
	}
	return w.q.s.LabelColumn([]string{w.tops[top].key}).Of[node]
}

func (w *web) addEven(i int, k *kin) {
	eligible := w.eligible(k)
	for at := range k.traits.even {
		e := &k.traits.even[at]
		top := w.topology(e.topology)
		if !w.q.on.budget.spend(w.tops[top].size/4 + len(w.q.s.Nodes())/4) {
			return
		}
		r := evenRule{holders: w.set(i), top: top, skew: e.skew, base: make([]int32, w.tops[top].size), real: make([]bool, w.tops[top].size), cells: make([]bool, len(w.q.on.grid.Nodes))}
		counted, doubt := w.meeting(relation{spread, k.groups[0], at}, e.countsOf)
		if doubt != "" {
			w.q.blur(notJudged(k.name, "topology spread", doubt))
			continue
		}
		if r.counted, r.self = counted, counted; e.selector.Empty() {
			r.self = w.matching(func(*kin) bool { return true })
		}
		counts, domains := e.now, 0
		if w.idle {
			counts = e.idle
		}
		for cell, members := range w.q.on.grid.Nodes {
			if !eligible(cell, e) {
				continue
			}
			r.cells[cell] = true
			for _, node := range members {
				d := w.tops[top].domain(cell, node)
				if !r.real[d] {
					r.real[d], domains = true, domains+1
				}
				r.base[d] += counts[node]
			}
		}
		for cell, members := range w.q.on.grid.Nodes {
			for _, node := range members {
				d := w.tops[top].domain(cell, node)
				r.unreal = r.unreal || d >= 0 && !r.real[d]
			}
		}
		r.short = domains < e.domains
		w.joinEven(r)
	}
}

// joinEven adds a rule, or its holders to an equal one.
func (w *web) joinEven(r evenRule) {
	for at := range w.even {
		if !w.q.on.budget.spend(stepsPerMatch) {
			return
		}
		if o := &w.even[at]; o.top == r.top && o.skew == r.skew && o.short == r.short && o.counted.equal(r.counted) && o.self.equal(r.self) &&
			slices.Equal(o.base, r.base) && slices.Equal(o.real, r.real) && slices.Equal(o.cells, r.cells) {
			o.holders.join(r.holders)
			return
		}
	}
	w.even = append(w.even, r)
}

// eligible says which cells have domains that a constraint of a kin compares: those with
// every topology label of its constraints, and that it may choose where it honors that.
func (w *web) eligible(k *kin) func(cell int, e *evenTerm) bool {
	s, match := w.q.s, podspec.Selects(&k.pod.Spec)
	return func(cell int, e *evenTerm) bool {
		n := s.Nodes()[w.q.on.grid.Nodes[cell][0]]
		for i := range k.traits.even {
			key := k.traits.even[i].topology
			if _, ok := n.Labels[key]; !ok && key != corev1.LabelHostname {
				return false
			}
		}
		if e.honorsAffinity && !match(n.Object()) {
			return false
		}
		return !e.honorsTaints || podspec.Untolerated(n.Taints, k.pod.Spec.Tolerations) == nil
	}
}

// addShares reads claims that several pods share and that one pod or one node may use.
func (w *web) addShares() {
	for i, k := range w.kins {
		for _, c := range k.traits.claims {
			if c.claim == "" || !c.once && c.node == anyNode || slices.ContainsFunc(w.share, func(r shareRule) bool { return r.claim == c.claim }) {
				continue
			}
			r := shareRule{kins: w.set(), once: c.once, hard: c.once || c.node == sameNode, why: c.why, claim: c.claim}
			pods := 0
			for j := i; j < len(w.kins); j++ {
				if !w.q.on.budget.spend(1 + len(w.kins[j].traits.claims)) {
					return
				}
				if slices.ContainsFunc(w.kins[j].traits.claims, func(o claimUse) bool { return o.claim == c.claim }) {
					r.kins.add(j)
					pods += w.kins[j].count
				}
			}
			if pods > 1 || w.q.several(k) {
				w.share = append(w.share, r)
			}
		}
	}
}

func (w *web) addSlots() {
	for at := range w.q.on.slots {
		row := &w.q.on.slots[at]
		left, attached := row.Now, int32(1)
		if w.idle {
			left, attached = row.Idle, 2
		}
		r := slotRule{driver: row.Driver, own: make([]int32, len(w.kins))}
		for _, members := range w.q.on.grid.Nodes {
			r.left = append(r.left, left[members[0]])
		}
		var handles []string
		for i, k := range w.kins {
			for _, c := range k.traits.claims {
				switch seen := slices.Index(handles, c.handle); {
				case c.driver != row.Driver:
				case c.claim == "":
					r.own[i]++
				case seen >= 0:
					r.shared[seen].add(i)
				default:
					handles, r.shared = append(handles, c.handle), append(r.shared, w.set(i))
					there := make([]bool, len(r.left))
					for cell, members := range w.q.on.grid.Nodes {
						there[cell] = row.There[c.handle] != nil && row.There[c.handle][members[0]] >= attached
					}
					r.there = append(r.there, there)
				}
			}
		}
		if slices.Max(r.own) > 0 || len(r.shared) > 0 {
			w.slots = append(w.slots, r)
		}
	}
}
