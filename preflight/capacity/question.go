package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// question is a gang on a snapshot, prepared for counting.
type question struct {
	s     *Snapshot
	gang  Gang
	need  []int // by group: pods that must be placed yet
	extra []int // by group: pods above the minimum of an elastic group
	plan  []Placement
	own   int      // pods of the gang that have a place already
	notes []string // what was not looked at
	blind []string // what was not looked at and could turn a yes into a no
	dark  []string // what was not looked at and could turn a no into a yes
	lift  bool     // take unready and cordoned nodes for good ones
	memo  *memo
}

// kin is a set of groups that no scheduler can tell apart: they run at the same time and
// their pods ask for the same. Counting them as one makes the usual case (one master
// like its workers) exact.
type kin struct {
	name   string // of the first group
	groups []int
	source *job.Pod // as the gang has it
	pod    *job.Pod // with what its runtime class adds
	needs  []need
	ports  []hostPort
	apart  []keepAway
	gates  []gate   // by node
	refuse []int    // by taint set: index+1 into the taints that refuse
	taints []string // that refuse, by taint set
	idle   []int    // pods that fit on each node alone, were it idle
	now    []int    // pods that fit on each node alone
	count  int      // pods to place
	alone  bool     // at most one on a node
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

func (s *Snapshot) question(g Gang) *question {
	q := &question{s: s, gang: g, need: make([]int, len(g.Groups)), extra: make([]int, len(g.Groups))}
	for i := range g.Groups {
		group := &g.Groups[i]
		q.need[i] = group.least()
		q.extra[i] = max(0, group.Count) - q.need[i]
	}
	q.countOwn()
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

// countOwn lets pods of the gang that have a node keep it. A pod that is being deleted
// takes room but will be replaced.
func (q *question) countOwn() {
	if q.gang.Own == nil {
		return
	}
	for _, p := range q.s.podsIn[q.gang.Namespace] {
		if p.node == "" || p.object.DeletionTimestamp != nil {
			continue
		}
		name, ok := q.gang.Own(p.object)
		i := q.gang.group(name)
		if !ok || i < 0 {
			continue
		}
		switch {
		case q.need[i] > 0:
			q.need[i]--
		case q.extra[i] > 0:
			q.extra[i]--
		default:
			continue
		}
		q.own++
		q.plan = append(q.plan, Placement{name, p.node, 1})
	}
}

// gather makes the kins of a stage.
func (q *question) gather(stage []int) []*kin {
	var out []*kin
	for _, i := range stage {
		if q.need[i] == 0 && q.extra[i] == 0 {
			continue
		}
		group := &q.gang.Groups[i]
		k := q.alike(out, group)
		if k == nil {
			k = &kin{name: group.Name, source: &group.Pod, pod: &group.Pod}
			out = append(out, k)
		}
		k.groups = append(k.groups, i)
		k.count = int(plus(int64(k.count), int64(q.need[i])))
	}
	for _, k := range out {
		q.prepare(k, q.runtimeClass(k, Requested(*k.source)))
	}
	return out
}

// alike finds the kin that a group belongs to.
func (q *question) alike(kins []*kin, g *Group) *kin {
	for _, k := range kins {
		if q.equal(k.source, &g.Pod) {
			return k
		}
	}
	return nil
}

// equal says that a scheduler cannot tell the pods apart.
func (q *question) equal(x, y *job.Pod) bool {
	same, a, b := equality.Semantic.DeepEqual, &x.Spec, &y.Spec
	return same(Requested(*x), Requested(*y)) &&
		same(a.NodeSelector, b.NodeSelector) && same(a.Affinity, b.Affinity) && same(a.Tolerations, b.Tolerations) &&
		same(a.TopologySpreadConstraints, b.TopologySpreadConstraints) &&
		same(a.Volumes, b.Volumes) && same(a.ResourceClaims, b.ResourceClaims) && same(a.SchedulingGates, b.SchedulingGates) &&
		same(a.RuntimeClassName, b.RuntimeClassName) &&
		a.NodeName == b.NodeName && a.SchedulerName == b.SchedulerName &&
		slices.Equal(hostPortsOf(a), hostPortsOf(b)) &&
		(len(antiAffinity(a)) == 0 && len(q.s.guarded) == 0 || same(x.Labels, y.Labels))
}

// several says that the kin has more than one pod, so that it matters whether they agree
// with each other.
func (q *question) several(k *kin) bool {
	n := int64(0)
	for _, i := range k.groups {
		n = plus(n, int64(q.need[i])+int64(q.extra[i]))
	}
	return n > 1
}

// prepare finds out how many pods of the kin each node takes, and why not.
func (q *question) prepare(k *kin, requests job.Resources) {
	k.needs = q.s.cols.needsOf(requests)
	k.ports = hostPortsOf(&k.pod.Spec)
	for _, t := range antiAffinity(&k.pod.Spec) {
		k.apart = append(k.apart, keepAwayOf(t, q.gang.Namespace))
	}
	for _, name := range requests.Names() {
		if n := requests[name]; n < 0 {
			q.note("%s asks for %s %s; counted as 0", k.name, job.Format(name, n), name)
		}
	}
	q.lookPast(k)
	k.alone = q.several(k) && q.clashes(k, k)
	if q.recall(k) {
		return
	}
	k.gates = q.gates(k)
	q.volumes(k)
	k.idle, k.now = q.holes(k)
	barredIdle, barredNow := q.barred(k, true), q.barred(k, false)
	for at := range k.gates {
		if k.gates[at] != open {
			k.idle[at], k.now[at] = 0, 0
			continue
		}
		if k.alone {
			k.idle[at], k.now[at] = min(1, k.idle[at]), min(1, k.now[at])
		}
		switch {
		case k.idle[at] == 0:
			k.gates[at] = tooSmall
		case k.now[at] == 0:
			k.gates[at] = full
		case barredNow != nil && barredNow[at]:
			k.gates[at], k.now[at] = otherwise, 0
		}
		if barredIdle != nil && barredIdle[at] {
			k.idle[at], k.now[at] = 0, 0
		}
	}
	q.memo.add(k)
}

// memo remembers what nodes take of kins, for questions that differ in numbers only. A
// nil memo remembers nothing.
type memo struct{ kins []*kin }

func (m *memo) add(k *kin) {
	if m != nil {
		m.kins = append(m.kins, k)
	}
}

// recall takes over what an equal kin has found out; it never changes afterwards.
func (q *question) recall(k *kin) bool {
	if q.memo == nil || q.lift {
		return false
	}
	for _, was := range q.memo.kins {
		if was.alone == k.alone && slices.Equal(was.needs, k.needs) && q.equal(was.source, k.source) {
			k.gates, k.refuse, k.taints, k.idle, k.now = was.gates, was.refuse, was.taints, was.idle, was.now
			return true
		}
	}
	return false
}

// gates are the reasons that lie in the nodes themselves; room is looked at later.
func (q *question) gates(k *kin) []gate {
	s := q.s
	out := make([]gate, len(s.nodes))
	selected := q.selected(k)
	k.refuse, k.taints = make([]int, len(s.cols.taintSets)), nil
	for set, taints := range s.cols.taintSets {
		if q.lift {
			taints = slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return transient(t.Key) })
		}
		if t := untolerated(taints, k.pod.Spec.Tolerations); t != nil {
			k.taints = append(k.taints, taintText(t))
			k.refuse[set] = len(k.taints)
		}
	}
	toleratesCordon := untolerated([]corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}, k.pod.Spec.Tolerations) == nil
	for at, n := range s.nodes {
		switch {
		case !n.Ready && !q.lift:
			out[at] = notReady
		case n.Cordoned && !toleratesCordon && !q.lift:
			out[at] = cordoned
		case !selected[at]:
			out[at] = notSelected
		case k.refuse[s.cols.taintSet[at]] > 0:
			out[at] = tainted
		}
	}
	return out
}

// selected says which nodes the selector, the required affinity and a fixed node name
// admit. Nodes that agree on every label it looks at are asked once.
func (q *question) selected(k *kin) []bool {
	spec := &k.pod.Spec
	out := make([]bool, len(q.s.nodes))
	match := selects(spec)
	keys, byName := selectorKeys(spec)
	if byName {
		for at, n := range q.s.nodes {
			out[at] = match(n.object) && (spec.NodeName == "" || spec.NodeName == n.Name)
		}
		return out
	}
	class, classes := q.s.labelClasses(keys)
	answer := make([]int8, classes)
	for at, n := range q.s.nodes {
		c := class[at]
		if answer[c] == 0 {
			answer[c] = -1
			if match(n.object) {
				answer[c] = 1
			}
		}
		out[at] = answer[c] > 0
	}
	return out
}

// selectorKeys are the label keys that the choice of nodes rests on; byName: it rests on
// names of nodes too.
func selectorKeys(spec *corev1.PodSpec) (keys []string, byName bool) {
	for key := range spec.NodeSelector {
		keys = append(keys, key)
	}
	byName = spec.NodeName != ""
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		for _, term := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
			byName = byName || len(term.MatchFields) > 0
			for _, e := range term.MatchExpressions {
				keys = append(keys, e.Key)
			}
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), byName
}

// holes are how many pods of the kin alone go on each node, were it idle and as it is.
func (q *question) holes(k *kin) (idle, now []int) {
	idle, now = make([]int, len(q.s.nodes)), make([]int, len(q.s.nodes))
	for at := range idle {
		if k.gates[at] != open {
			continue
		}
		idle[at] = k.fitsIn(q.s.cols.idle, at)
		if now[at] = idle[at]; q.s.cols.busy[at] {
			now[at] = k.fitsIn(q.s.cols.free, at)
		}
	}
	return idle, now
}

// fitsIn is how many pods of the kin go into what a node has.
func (k *kin) fitsIn(room [][]int64, at int) int {
	most := int64(math.MaxInt32)
	for _, need := range k.needs {
		if need.column < 0 {
			return 0
		}
		if n := room[need.column][at] / need.n; n < most {
			most = n
		}
	}
	return int(max(0, most))
}

// nodeAt is the position of a node.
func (s *Snapshot) nodeAt(name string) (int, bool) {
	return slices.BinarySearchFunc(s.nodes, name, func(n *Node, name string) int { return strings.Compare(n.Name, name) })
}
