package assign

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// gone says that all groups of a pod set have completed before every group of a stage.
func (q *Solver) gone(k *PodSet, stage []int) bool {
	q.Cycle.Budget.Spend(2 + len(k.Groups)*len(stage)/4)
	for _, a := range k.Groups {
		for _, b := range stage {
			if !q.Cycle.Order.CompletedBefore(a, b) {
				return false
			}
		}
	}
	return true
}

// Solver is a gang on a snapshot, prepared for counting.
type Solver struct {
	Snapshot     *cluster.Snapshot
	Cycle        *Cycle
	Gang         gang.Gang
	Need         []int // by group: pods that must be placed yet
	Extra        []int // by group: pods above the minimum of an elastic group
	Plan         []Place
	UnknownNodes []string        // names of nodes that pods of the gang are on and the view does not hold
	Order        []Place         // as plan, in an order in which pods can be bound; kept where that matters
	PlacedBefore int             // pods of the gang that have a place already
	Running      []int           // by group: those of them that are of the group
	Info         []string        // what was not looked at
	FlipsYes     []string        // what was not looked at and could turn a yes into a no
	FlipsNo      []string        // what was not looked at and could turn a no into a yes
	Refused      bool            // the API server does not take the pods: to wait for room does not help
	IgnoreHealth bool            // take unready and cordoned nodes for good ones
	Requests     []job.Resources // by group: of one pod; nil: not asked yet
	Purpose      Purpose
	clashOf      []*PodSet // the pod sets that clash is about
	clash        [][]int32 // by pod set: those it keeps from; with itself: one per node
}

// Purpose is what a question is asked for.
type Purpose uint8

const (
	Placing  Purpose = iota // where the pods go, and how far they get
	Keeping                 // where they go, if all do
	Deciding                // whether all find a place
)

// Place is a number of pods of a group on a node.
type Place struct {
	Group int
	Node  int32 // beyond the nodes of the view: one of the strange ones
	Count int
}

// PodSet is a set of groups that no scheduler can tell apart: they run at the same time and
// their pods ask for the same. Counting them as one makes the usual case (one master
// like its workers) exact.
type PodSet struct {
	Name   string // of the first group
	Groups []int
	source *job.Pod // as the gang has it
	Pod    *job.Pod // with what its runtime class adds
	Needs  []cluster.Need
	Facts  *podFacts // of the first group
	*capacity
	Count      int  // pods to place
	OnePerNode bool // at most one on a node
}

// FilterReason is the first reason why a node cannot take a pod, in the order of Rejections.
type FilterReason uint8

// The reasons; Open is none.
const (
	Open FilterReason = iota
	NotReady
	Cordoned
	NotSelected
	Tainted
	TooSmall
	Full
	Otherwise
	Closed // for good, whatever room there is
)

// Passes says whether a node may take pods of the pod set once it is idle.
func (g FilterReason) Passes() bool { return g == Open || g == Full || g == Otherwise }

// NewSolver prepares a gang for counting: pods that have a node already are placed there.
func NewSolver(s *cluster.Snapshot, g gang.Gang, cycle *Cycle) *Solver {
	q := &Solver{Snapshot: s, Cycle: cycle, Gang: g, Need: make([]int, len(g.Groups)), Extra: make([]int, len(g.Groups)), Running: make([]int, len(g.Groups))}
	for i := range g.Groups {
		group := &g.Groups[i]
		q.Need[i] = group.Least()
		q.Extra[i] = max(0, group.Count) - q.Need[i]
	}
	for _, p := range cycle.Own {
		switch {
		case q.Need[p.group] > 0:
			q.Need[p.group]--
		case q.Extra[p.group] > 0:
			q.Extra[p.group]--
		default:
			continue
		}
		q.PlacedBefore++
		q.Running[p.group]++
		at, ok := s.NodeAt(p.Record.Node())
		if !ok {
			at = len(s.Nodes()) + len(q.UnknownNodes)
			q.UnknownNodes = append(q.UnknownNodes, p.Record.Node())
		}
		q.Plan = append(q.Plan, Place{p.group, int32(at), 1})
	}
	return q
}

// DoubtYes records something that is not modelled: from then on a plan proves nothing, while
// what does not even fit without it still does not fit.
func (q *Solver) DoubtYes(why string) {
	if !slices.Contains(q.FlipsYes, why) {
		q.FlipsYes = append(q.FlipsYes, why)
	}
}

// Inform records something that was not looked at and does not change the answer.
func (q *Solver) Inform(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(q.Info, text) {
		q.Info = append(q.Info, text)
	}
}

// PodSets makes the pod sets of a stage.
func (q *Solver) PodSets(stage []int) []*PodSet {
	var out []*PodSet
	like := map[string][]*PodSet{} // those that ask for the same, on the same nodes
	for _, i := range stage {
		if !q.Cycle.Budget.Spend(3 * stepsPerGroup / 2) {
			break
		}
		if q.Need[i] == 0 && q.Extra[i] == 0 {
			continue
		}
		group := &q.Gang.Groups[i]
		var asks string
		if len(stage) > 1 { // one group is like no other
			asks = q.asks(i)
		}
		k := q.alike(like[asks], i)
		if k == nil {
			k = &PodSet{Name: group.Name, source: &group.Pod, Pod: &group.Pod, Facts: &q.Cycle.Facts[i]}
			out, like[asks] = append(out, k), append(like[asks], k)
		}
		k.Groups = append(k.Groups, i)
		k.Count = int(saturate.Add(int64(k.Count), int64(q.Need[i])))
	}
	for _, k := range out {
		q.prepare(k, q.runtimeClass(k, q.requested(k.Groups[0])))
	}
	return out
}

// NamesNodes says that the pods go to nodes which are named, by themselves or by a volume that they have: there will be
// no others.
func (k *PodSet) NamesNodes() bool { return k.Facts.onHosts || podspec.NamesNodes(&k.Pod.Spec) }

// alike finds the pod set that a group belongs to, among those that ask for the same.
func (q *Solver) alike(podSets []*PodSet, group int) *PodSet {
	for _, k := range podSets {
		if !q.Cycle.Budget.Spend(stepsPerGroup) {
			return nil
		}
		if q.Cycle.Order.EndAlike(k.Groups[0], group) && q.equal(k.source, &q.Gang.Groups[group].Pod) {
			return k
		}
	}
	return nil
}

// asks is what the pods of a group ask for, and the labels that a node needs for them, as a text that others share.
func (q *Solver) asks(group int) string {
	text := make([]byte, 0, 128)
	requested := q.requested(group)
	for _, name := range requested.Names() {
		text = strconv.AppendInt(append(append(text, name...), '='), requested[name], 10)
		text = append(text, '\n')
	}
	selector := q.Gang.Groups[group].Pod.Spec.NodeSelector
	for _, key := range slices.Sorted(maps.Keys(selector)) {
		text = append(append(append(append(text, key...), ':'), selector[key]...), '\n')
	}
	if part := q.Gang.Groups[group].Part; part != nil { // pods of two parts are never alike
		text = append(text, part.Value...)
	}
	return string(text)
}

// requested is what one pod of a group takes.
func (q *Solver) requested(group int) job.Resources {
	if q.Requests == nil {
		q.Requests = make([]job.Resources, len(q.Gang.Groups))
	}
	if q.Requests[group] == nil {
		q.Requests[group] = podspec.Requested(q.Gang.Groups[group].Pod)
	}
	return q.Requests[group]
}

// equal says that a scheduler cannot tell the pods apart, whatever they ask for.
func (q *Solver) equal(x, y *job.Pod) bool {
	same, a, b := equality.Semantic.DeepEqual, &x.Spec, &y.Spec
	return same(a.NodeSelector, b.NodeSelector) && same(a.Affinity, b.Affinity) && same(a.Tolerations, b.Tolerations) &&
		same(a.TopologySpreadConstraints, b.TopologySpreadConstraints) &&
		same(a.Volumes, b.Volumes) && same(a.ResourceClaims, b.ResourceClaims) && same(a.SchedulingGates, b.SchedulingGates) &&
		same(a.RuntimeClassName, b.RuntimeClassName) && same(a.SchedulingGroup, b.SchedulingGroup) &&
		a.NodeName == b.NodeName && a.SchedulerName == b.SchedulerName &&
		slices.Equal(podspec.HostPorts(a), podspec.HostPorts(b)) &&
		(!q.Cycle.Constrained && len(podspec.AntiAffinity(a)) == 0 && len(q.Snapshot.PodsWithAntiAffinity()) == 0 || q.Cycle.alike(x, y))
}

// Several says that the pod set has more than one pod, so that it matters whether they agree
// with each other.
func (q *Solver) Several(k *PodSet) bool {
	n := int64(0)
	for _, i := range k.Groups {
		n = saturate.Add(n, int64(q.Need[i])+int64(q.Extra[i]))
	}
	return n > 1
}

// prepare finds out how many pods of the pod set each node group takes, and why not.
func (q *Solver) prepare(k *PodSet, requests job.Resources) {
	k.Needs = q.Snapshot.Columns().NeedsOf(requests)
	for _, name := range requests.Names() {
		if n := requests[name]; n < 0 {
			q.DoubtYes(fmt.Sprintf("%s asks for %s %s; counted as 0", k.Name, job.Format(name, n), name))
		}
	}
	q.lookPast(k)
	k.OnePerNode = q.Several(k) && q.Clashes(k, k)
	for _, why := range k.Facts.info {
		q.Inform("%s", why)
	}
	for _, why := range k.Facts.flipsYes {
		q.DoubtYes(why)
	}
	k.capacity = q.nodeFilter(k).capacityFor(k.Needs, k.OnePerNode)
}

// PodsOf are the pods of some pod sets, and their roles.
func (q *Solver) PodsOf(podSets []*PodSet) (n int, who string) {
	var roles words.Roles
	for _, k := range podSets {
		n = int(saturate.Add(int64(n), int64(k.Count)))
		for _, g := range k.Groups {
			roles.Add(q.Gang.Groups[g].Name, q.Need[g])
		}
	}
	return n, roles.String()
}
