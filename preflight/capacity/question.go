package capacity

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// question is a gang on a snapshot, prepared for counting.
type question struct {
	s       *cluster.Snapshot
	on      *ground
	gang    gang.Gang
	need    []int // by group: pods that must be placed yet
	extra   []int // by group: pods above the minimum of an elastic group
	plan    []place
	strange []string        // names of nodes that pods of the gang are on and the view does not hold
	order   []place         // as plan, in an order in which pods can be bound; kept where that matters
	own     int             // pods of the gang that have a place already
	settled []int           // by group: those of them that are of the group
	notes   []string        // what was not looked at
	blind   []string        // what was not looked at and could turn a yes into a no
	dark    []string        // what was not looked at and could turn a no into a yes
	lift    bool            // take unready and cordoned nodes for good ones
	asks    []job.Resources // by group: of one pod; nil: not asked yet
	trying  purpose
	rivals  []*kin   // of whom clash says who cannot share a node
	clash   [][]bool // with itself: one per node
}

// purpose is what a question is asked for.
type purpose uint8

const (
	placing  purpose = iota // where the pods go, and how far they get
	keeping                 // where they go, if all do
	deciding                // whether all find a place
)

// place is a number of pods of a group on a node.
type place struct {
	group int
	node  int32 // beyond the nodes of the view: one of the strange ones
	count int
}

// kin is a set of groups that no scheduler can tell apart: they run at the same time and
// their pods ask for the same. Counting them as one makes the usual case (one master
// like its workers) exact.
type kin struct {
	name   string // of the first group
	groups []int
	source *job.Pod // as the gang has it
	pod    *job.Pod // with what its runtime class adds
	needs  []cluster.Need
	traits *traits // of the first group
	*holes
	count int  // pods to place
	alone bool // at most one on a node
}

// gate is the first reason why a node cannot take a pod, in the order of Rejections.
type gate uint8

const (
	open gate = iota
	notReady
	cordoned
	notSelected
	tainted
	tooSmall
	full
	otherwise
	closed // for good, whatever room there is
)

// passes says whether a node may take pods of the kin once it is idle.
func (g gate) passes() bool { return g == open || g == full || g == otherwise }

func newQuestion(s *cluster.Snapshot, g gang.Gang, on *ground) *question {
	q := &question{s: s, on: on, gang: g, need: make([]int, len(g.Groups)), extra: make([]int, len(g.Groups)), settled: make([]int, len(g.Groups))}
	for i := range g.Groups {
		group := &g.Groups[i]
		q.need[i] = group.Least()
		q.extra[i] = max(0, group.Count) - q.need[i]
	}
	for _, p := range on.own {
		switch {
		case q.need[p.group] > 0:
			q.need[p.group]--
		case q.extra[p.group] > 0:
			q.extra[p.group]--
		default:
			continue
		}
		q.own++
		q.settled[p.group]++
		at, ok := s.NodeAt(p.record.Node())
		if !ok {
			at = len(s.Nodes()) + len(q.strange)
			q.strange = append(q.strange, p.record.Node())
		}
		q.plan = append(q.plan, place{p.group, int32(at), 1})
	}
	return q
}

// blur records something that is not modelled: from then on a plan proves nothing, while
// what does not even fit without it still does not fit.
func (q *question) blur(why string) {
	if !slices.Contains(q.blind, why) {
		q.blind = append(q.blind, why)
	}
}

// note records something that was not looked at and does not change the answer.
func (q *question) note(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(q.notes, text) {
		q.notes = append(q.notes, text)
	}
}

// gather makes the kins of a stage.
func (q *question) gather(stage []int) []*kin {
	var out []*kin
	for _, i := range stage {
		if !q.on.budget.spend(stepsPerGroup) {
			break
		}
		if q.need[i] == 0 && q.extra[i] == 0 {
			continue
		}
		group := &q.gang.Groups[i]
		k := q.alike(out, i)
		if k == nil {
			k = &kin{name: group.Name, source: &group.Pod, pod: &group.Pod, traits: &q.on.traits[i]}
			out = append(out, k)
		}
		k.groups = append(k.groups, i)
		k.count = int(saturate.Add(int64(k.count), int64(q.need[i])))
	}
	for _, k := range out {
		q.prepare(k, q.runtimeClass(k, q.requested(k.groups[0])))
	}
	return out
}

// alike finds the kin that a group belongs to.
func (q *question) alike(kins []*kin, group int) *kin {
	for _, k := range kins {
		if !q.on.budget.spend(3) {
			return nil
		}
		if maps.Equal(q.requested(k.groups[0]), q.requested(group)) && q.on.budget.spend(stepsPerGroup) && q.equal(k.source, &q.gang.Groups[group].Pod) {
			return k
		}
	}
	return nil
}

// requested is what one pod of a group takes.
func (q *question) requested(group int) job.Resources {
	if q.asks == nil {
		q.asks = make([]job.Resources, len(q.gang.Groups))
	}
	if q.asks[group] == nil {
		q.asks[group] = podspec.Requested(q.gang.Groups[group].Pod)
	}
	return q.asks[group]
}

// equal says that a scheduler cannot tell the pods apart, whatever they ask for.
func (q *question) equal(x, y *job.Pod) bool {
	same, a, b := equality.Semantic.DeepEqual, &x.Spec, &y.Spec
	return same(a.NodeSelector, b.NodeSelector) && same(a.Affinity, b.Affinity) && same(a.Tolerations, b.Tolerations) &&
		same(a.TopologySpreadConstraints, b.TopologySpreadConstraints) &&
		same(a.Volumes, b.Volumes) && same(a.ResourceClaims, b.ResourceClaims) && same(a.SchedulingGates, b.SchedulingGates) &&
		same(a.RuntimeClassName, b.RuntimeClassName) &&
		a.NodeName == b.NodeName && a.SchedulerName == b.SchedulerName &&
		slices.Equal(podspec.HostPorts(a), podspec.HostPorts(b)) &&
		(!q.on.ties && len(podspec.AntiAffinity(a)) == 0 && len(q.s.Guarded()) == 0 || q.on.alike(x, y))
}

// several says that the kin has more than one pod, so that it matters whether they agree
// with each other.
func (q *question) several(k *kin) bool {
	n := int64(0)
	for _, i := range k.groups {
		n = saturate.Add(n, int64(q.need[i])+int64(q.extra[i]))
	}
	return n > 1
}

// prepare finds out how many pods of the kin each cell takes, and why not.
func (q *question) prepare(k *kin, requests job.Resources) {
	k.needs = q.s.Columns().NeedsOf(requests)
	for _, name := range requests.Names() {
		if n := requests[name]; n < 0 {
			q.note("%s asks for %s %s; counted as 0", k.name, job.Format(name, n), name)
		}
	}
	q.lookPast(k)
	k.alone = q.several(k) && q.clashes(k, k)
	for _, why := range k.traits.notes {
		q.note("%s", why)
	}
	for _, why := range k.traits.blind {
		q.blur(why)
	}
	k.holes = q.admit(k).holes(k.needs, k.alone)
}
