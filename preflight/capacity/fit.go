package capacity

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/quota"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Fit answers whether the gang fits, and proves it: a yes carries a plan, a no an upper
// bound or an exhausted search; where there is neither, the answer is unknown. What it may
// cost is counted: verdict and suggestions share one budget of steps, and a context that
// ends ends the search, with an unknown that says so.
//
// The nodes are one thing, what lies before them another: the verdict is about nodes,
// Limits are the rules that keep the pods from ever reaching them.
func Fit(ctx context.Context, s *cluster.Snapshot, g gang.Gang) Result {
	return answerAll(s, g, newBudget(ctx, mostSteps))
}

func answerAll(s *cluster.Snapshot, g gang.Gang, b *budget) Result {
	g = quota.Stored(s, g)
	r, on := fit(s, g, b)
	defer on.release()
	if b.gone {
		return r
	}
	addViolations(s, &r, g)
	moveAside(s, &r, g, b)
	if within := within(s, g, &r, on); within != "" {
		r.Changes = append(r.Changes, within)
	}
	if r.refused() {
		found, passed := changes(s, g, &r, on)
		r.Changes = append(r.Changes, found...)
		r.Assumed = append(r.Assumed, passed...)
	}
	if len(r.Changes) > 0 {
		r.Change = r.Changes[0]
	}
	return r
}

// fit is Fit without the search for a change, which can go on from the same ground.
func fit(s *cluster.Snapshot, g gang.Gang, b *budget) (Result, *ground) {
	r := Result{Paused: g.Held(), Wanted: g.Pods(), Plan: []Placement{}, Shortfall: []Shortfall{}, Assumed: []string{}}
	if s == nil || s.Incomplete() != "" {
		r.Assumed = []string{s.Incomplete()}
		return r, nil
	}
	on := newGround(s, g, b)
	if b.over != "" {
		r.Assumed = []string{b.over}
		return r, on
	}
	q := newQuestion(s, g, on)
	a, kins := q.run(&r)
	cut := b.over
	if b.gone {
		r.Assumed = []string{b.over}
		return r, on
	}
	r.Running = q.own
	r.Placed += q.own
	if a != nil && cut == "" {
		kins = q.judge(&r, *a, kins)
	}
	if cut != "" {
		r.Verdict = Unknown
	}
	if b.over != "" {
		q.note("%s", b.over)
	}
	q.stuck(&r)
	if r.Obstacle != "" { // what is not short has nothing to do with it
		r.Shortfall = slices.DeleteFunc(r.Shortfall, func(s Shortfall) bool { return r.Stuck || !s.short() })
	}
	q.explain(&r, kins)
	r.Plan = q.planned()
	r.Order = q.ordered()
	q.assume(&r)
	return r, on
}

// run places stage after stage. It returns the answer of the stage that could not be
// placed whole (nil: there is none) and the kins to talk about.
func (q *question) run(r *Result) (*answer, []*kin) {
	var talk []*kin
	var placed []*packing
	stages := q.gang.Stages()
	for i, stage := range stages {
		kins := q.gather(stage)
		if !q.on.budget.spend(1) {
			return &answer{}, kins
		}
		beside := q.crowdBeside(placed, stage)
		a := q.place(kins, beside, len(stages) == 1)
		if len(beside) > 0 {
			a = q.among(a, q.lingering(placed, stage), kins, stage)
		}
		if a.yes && i == len(stages)-1 && a.best != nil {
			q.stretch(a.best)
		}
		r.Placed += q.record(a.best)
		if talk == nil || !a.yes || len(kins) > 0 && mostPods(kins) >= mostPods(talk) {
			talk = kins
		}
		if !a.yes {
			return &a, kins
		}
		if a.best != nil {
			placed = append(placed, a.best)
		}
	}
	r.Verdict = Fits
	return nil, talk
}

// place is how a stage is solved. Who only tries does not ask how far the pods get.
func (q *question) place(kins []*kin, beside crowd, only bool) answer {
	w := q.weave(kins, false)
	switch {
	case w != nil:
		return q.woven(w, beside)
	case q.trying > placing && q.cannot(kins, false):
		return answer{no: true}
	case q.trying == deciding && only:
		return q.decide(kins, false)
	default:
		return q.solve(kins, false, beside)
	}
}

func mostPods(kins []*kin) int {
	n := 0
	for _, k := range kins {
		n = max(n, k.count)
	}
	return n
}

// gone says that all groups of a kin have completed before every group of a stage.
func (q *question) gone(k *kin, stage []int) bool {
	for _, a := range k.groups {
		for _, b := range stage {
			if !q.gang.CompletedBefore(a, b) {
				return false
			}
		}
	}
	return true
}

// stretch adds pods of elastic groups beyond their minimum, as far as there is room.
func (q *question) stretch(p *packing) {
	for i, k := range p.kins {
		extra := int64(0)
		for _, group := range k.groups {
			extra = saturate.Add(extra, int64(q.extra[group]))
		}
		if p.seating != nil {
			p.seating.more(i, int(min(extra, math.MaxInt32)))
			continue
		}
		p.fill(i, int(extra), false)
	}
}

// record writes a packing into the plan, group by group, and counts its pods.
func (q *question) record(p *packing) (placed int) {
	if p == nil {
		return 0
	}
	from := len(q.plan)
	for i, k := range p.kins {
		placed += p.placed[i]
		shares, group := q.shares(k, p.placed[i]), 0
		seats := p.seats(i)
		q.plan = slices.Grow(q.plan, len(seats)+len(shares))
		for _, on := range seats {
			for n := int(on.count); n > 0 && group < len(shares); {
				take := min(n, shares[group])
				if take > 0 {
					q.plan = append(q.plan, place{k.groups[group], on.node, take})
				}
				n -= take
				if shares[group] -= take; shares[group] == 0 {
					group++
				}
			}
		}
	}
	q.line(p, q.plan[from:])
	return placed
}

// line writes down the order in which the pods of a packing can be bound.
func (q *question) line(p *packing, places []place) {
	if !q.on.ties {
		return
	}
	if p.seating == nil {
		q.order = append(q.order, places...)
		return
	}
	left := slices.Clone(places)
	for _, s := range p.seating.order {
		at := slices.IndexFunc(left, func(l place) bool {
			return l.count > 0 && l.node == s.node && slices.Contains(p.kins[s.kin].groups, l.group)
		})
		if at < 0 {
			continue
		}
		left[at].count--
		if last := len(q.order) - 1; last >= 0 && q.order[last].group == left[at].group && q.order[last].node == s.node {
			q.order[last].count++
		} else {
			q.order = append(q.order, place{left[at].group, s.node, 1})
		}
	}
}

// seated is a number of pods on a node.
type seated struct{ node, count int32 }

// seats are where the pods of kin i went, by node.
func (p *packing) seats(i int) []seated {
	out := make([]seated, 0, len(p.pieces))
	for at, on := range p.pieces {
		if n := p.count(at)[i]; n > 0 {
			for _, node := range on.nodes {
				out = append(out, seated{node, n})
			}
		}
	}
	byNode := func(a, b seated) int { return int(a.node) - int(b.node) }
	switch {
	case slices.IsSortedFunc(out, byNode):
	case len(out) < fewSeats:
		slices.SortFunc(out, byNode)
	default:
		p.q.byNode(out)
	}
	return out
}

// fewSeats is the number of places up to which sorting is cheaper than marking all nodes.
const fewSeats = 64

// byNode sorts places, no two of which are on one node, by marking the nodes.
func (q *question) byNode(seats []seated) {
	counts, marked := q.on.numbers(len(q.s.Nodes())), make([]uint64, len(q.s.Nodes())/64+1)
	for _, on := range seats {
		counts[on.node] = on.count
		marked[on.node/64] |= 1 << (on.node % 64)
	}
	seats = seats[:0]
	for at, bitmap := range marked {
		for ; bitmap != 0; bitmap &= bitmap - 1 {
			node := int32(at*64 + bits.TrailingZeros64(bitmap))
			seats = append(seats, seated{node, counts[node]})
		}
	}
}

// shares deals the placed pods of a kin to its groups: first what each cannot do without,
// then what elastic ones can use.
func (q *question) shares(k *kin, placed int) []int {
	out := make([]int, len(k.groups))
	for _, want := range [][]int{q.need, q.extra} {
		for i, group := range k.groups {
			n := min(placed, want[group])
			out[i] += n
			placed -= n
		}
	}
	return out
}

// ordered is the plan in an order in which its pods can be bound; nil: any will do.
func (q *question) ordered() []Placement {
	var out []Placement
	for _, p := range q.order {
		out = append(out, q.placement(p))
	}
	return out
}

// placement is a place in words.
func (q *question) placement(p place) Placement {
	return Placement{q.gang.Groups[p.group].Name, q.nodeName(p.node), p.count}
}

// nodeName is the name of a node of the view, or of one that only pods of the gang name.
func (q *question) nodeName(at int32) string {
	if known := len(q.s.Nodes()); int(at) >= known {
		return q.strange[int(at)-known]
	}
	return q.s.Nodes()[at].Name
}

// planned is the plan by group, as the gang lists them, then node, with equals added up.
func (q *question) planned() []Placement {
	first := make([]int, len(q.gang.Groups)) // of groups with one name
	for i, g := range q.gang.Groups {
		first[i] = q.gang.Index(g.Name)
	}
	for i := range q.plan {
		q.plan[i].group = first[q.plan[i].group]
	}
	compare := func(a, b place) int {
		switch {
		case a.group != b.group:
			return a.group - b.group
		case len(q.strange) > 0:
			return strings.Compare(q.nodeName(a.node), q.nodeName(b.node))
		default:
			return int(a.node) - int(b.node) // nodes are by name
		}
	}
	if !slices.IsSortedFunc(q.plan, compare) {
		slices.SortStableFunc(q.plan, compare)
	}
	out := make([]Placement, 0, len(q.plan))
	for i, p := range q.plan {
		if i > 0 && compare(q.plan[i-1], p) == 0 {
			out[len(out)-1].Count += p.count
		} else {
			out = append(out, q.placement(p))
		}
	}
	return out
}

// judge names the verdict where a stage was not placed whole, and returns the kins that
// stand in the way: those of a stage that can never run, else those that cannot run now.
func (q *question) judge(r *Result, a answer, kins []*kin) []*kin {
	idleKnown := true
	for _, stage := range q.gang.Stages() {
		ever := q.gather(q.gang.Beside(stage))
		idle := q.ever(ever, true)
		if !q.on.budget.spend(0) { // what was counted in part proves nothing
			idle = answer{}
		}
		if idle.no && (a.no || !q.evens(ever)) {
			q.tooBig(r, ever)
			r.Obstacle = cmp.Or(idle.rule, q.nodeEach(ever, true))
			return ever
		}
		idleKnown = idleKnown && idle.yes
	}
	if !a.no {
		q.note("the pods could not be placed, and it could not be proven that they cannot")
		return kins
	}
	if !idleKnown {
		q.note("that they would fit on the idle cluster is not proven")
	}
	sums := q.sums(kins, q.s.Columns().Free, nil, gate.passes)
	r.Verdict = Fragmented
	if slices.ContainsFunc(sums, func(s Shortfall) bool { return s.Free < s.Asked }) || slices.ContainsFunc(kins, (*kin).crowdedOut) {
		r.Verdict = Full
	}
	r.Shortfall, r.Obstacle = lacking(sums), cmp.Or(a.rule, q.nodeEach(kins, false))
	return kins
}

// nodeEach says that the pods of a kin need a node each, and find too few; empty: none does.
func (q *question) nodeEach(kins []*kin, idle bool) string {
	for _, k := range kins {
		if takers := k.takersOf(idle); k.alone && takers < int64(k.count) {
			nodes := words.Count(int(takers), "node takes", "nodes take") + " one now"
			if idle {
				nodes = words.Count(int(takers), "node", "nodes") + " could take one, even idle"
			}
			_, who := q.podsOf([]*kin{k})
			return fmt.Sprintf("%s need a node each (%s); %s", who, k.whyAlone(), nodes)
		}
	}
	return ""
}

// takersOf is the number of nodes that take a pod of the kin.
func (k *kin) takersOf(idle bool) int64 {
	if idle {
		k.settle()
		return k.idleSums.takers
	}
	return k.takers
}

// whyAlone is what keeps two pods of a kin from one node.
func (k *kin) whyAlone() string {
	switch {
	case podspec.PortConflict(k.traits.ports, k.traits.ports):
		return "they take the same port of it"
	case podspec.DiskConflict(k.traits.disks, k.traits.disks):
		return "they use the same disk"
	default:
		return "required pod anti-affinity"
	}
}

// stuck says what no room helps against.
func (q *question) stuck(r *Result) {
	for i := range q.gang.Groups {
		if why := q.on.traits[i].stuck; why != "" && q.need[i] > 0 && r.refused() {
			r.Obstacle, r.Stuck = why, true
			return
		}
	}
}

// evens says whether pods spread: then those that go away on an idle cluster may have
// filled a domain that holds the others back.
func (q *question) evens(kins []*kin) bool {
	return slices.ContainsFunc(kins, func(k *kin) bool { return len(k.traits.even) > 0 })
}

// ever says whether kins would find room, and on the idle cluster beside those pods of the
// gang that have a place and keep it.
func (q *question) ever(kins []*kin, idle bool) answer {
	var beside crowd
	if idle && q.own > 0 {
		beside = q.stay()
	}
	if w := q.weave(kins, idle); w != nil {
		return q.woven(w, beside)
	}
	if beside == nil {
		return q.decide(kins, idle)
	}
	if q.cannot(kins, idle) {
		return answer{no: true}
	}
	return q.solve(kins, idle, beside)
}

// crowdedOut says that it is not room the kin lacks but nodes: other pods close some of
// them, or each of its pods needs one of its own.
func (k *kin) crowdedOut() bool {
	return slices.Contains(k.gatesNow(), otherwise) || k.alone && k.total < int64(k.count)
}

// tooBig explains kins that do not fit on the idle cluster.
func (q *question) tooBig(r *Result, kins []*kin) {
	r.Verdict = TooBig
	r.ByShape = slices.ContainsFunc(kins, func(k *kin) bool { return k.count > 0 && k.most(true) == 0 })
	r.Shortfall = lacking(q.sums(kins, q.s.Columns().Idle, q.stay(), func(g gate) bool { return g.passes() || g == tooSmall }))
	r.WithNodesBack = q.fitsWithNodesBack()
}

// fitsWithNodesBack says whether the gang would fit on the idle cluster if all its nodes
// were ready and took pods. Then "too big" is true, but no reason to change the job.
func (q *question) fitsWithNodesBack() bool {
	if !q.s.Lacking() {
		return false
	}
	lifted := newQuestion(q.s, q.gang, q.on)
	lifted.lift = true
	for _, stage := range q.gang.Stages() {
		if !lifted.ever(lifted.gather(q.gang.Beside(stage)), true).yes || !q.on.budget.spend(0) {
			return false
		}
	}
	return true
}

// lacking keeps the resources that are short, in sum or in one place; all of them where
// none is short alone.
func lacking(all []Shortfall) []Shortfall {
	var out []Shortfall
	for _, s := range all {
		if s.short() {
			out = append(out, s)
		}
	}
	if out == nil {
		return all
	}
	return out
}

// assume finishes the verdict with what was not looked at.
func (q *question) assume(r *Result) {
	s := q.s
	if !s.PodsKnown() && len(s.Nodes()) > 0 {
		if r.Verdict != TooBig {
			r.Verdict = Unknown
		}
		r.Assumed = append(r.Assumed, "the snapshot holds no pods: what runs on the nodes is not known, every node was counted as idle")
	}
	if len(q.dark) > 0 && r.refused() {
		r.Verdict, r.ByShape, r.WithNodesBack = Unknown, false, false
		r.Assumed = append(r.Assumed, q.dark...)
	}
	if len(q.blind) > 0 && r.Verdict == Fits {
		r.Verdict = Unknown
		q.note("resources and nodes alone would allow it")
	}
	r.Assumed = append(r.Assumed, q.blind...)
	r.Assumed = append(r.Assumed, q.notes...)
	if s.PodsScope() != "" {
		r.Assumed = append(r.Assumed, fmt.Sprintf("all pods of the snapshot are in namespace %s; pods of others are not counted", s.PodsScope()))
	}
	if text := waiting(s, q.gang); text != "" && r.Verdict != TooBig {
		r.Assumed = append(r.Assumed, text)
	}
	if n := s.Silent(); n > 0 {
		r.Assumed = append(r.Assumed, fmt.Sprintf("%s nothing about health; counted as ready", words.Count(n, "node says", "nodes say")))
	}
	if least := q.gang.MinMembers; r.refused() && least > 0 && least < r.Wanted && r.Placed >= least {
		r.Assumed = append(r.Assumed, fmt.Sprintf("the gang may start with %d of its %d pods, and %d fit", least, r.Wanted, r.Placed))
	}
	if class := q.gang.PriorityClass(); class != "" && (r.Verdict == Full || r.Verdict == Fragmented) && !ranked(q.s, q.gang) {
		r.Assumed = append(r.Assumed, fmt.Sprintf("the priority class %s may move others aside; that is not considered", class))
	}
	r.Queue = q.gang.Queue
	r.Grows = s.Autoscaler()
	r.WaitsForOthers = r.Verdict == Full || r.Verdict == Fragmented
}
