package capacity

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// ground is what a gang and all changes tried of it have in common; it is worked out
// once. Changes alter counts, requests, selectors, node affinity and tolerations of
// groups, and nothing else.
type ground struct {
	s          *cluster.Snapshot
	budget     *budget
	grid       *cluster.NodeGrouping
	traits     []traits // by group
	own        []ownPod
	stays      map[*cluster.Pod]bool  // pods of the gang: they keep their places on an idle cluster too
	slots      []cluster.AttachLimits // of drivers that attach the gang's volumes and have a limit
	ties       bool                   // pods of the gang decide where others of it may go, beyond their node
	asked      map[string]bool        // keys of labels of pods that some rule looks at; nil: not gathered yet
	memory     *scratch
	admissions []*admission
	sums       []*roomSums
	met        map[relation][]int8 // by group: whether a rule of one is about another; 0: not asked yet
	terms      []cluster.PodTerm   // of anti-affinity, equal ones once
	twins      []int               // by group: the first one whose pods have the same labels
}

// relation is a rule between pods: for anti-affinity its number among the terms of the ground, else a
// group and the number among the rules that this has of the sort.
type relation struct {
	sort, group, rule int
}

// number is the number of a term of anti-affinity; equal ones have the same.
func (on *ground) number(term *cluster.PodTerm) int {
	for at := range on.terms {
		if on.budget.spend(stepsPerMatch) && on.terms[at].Equal(*term) {
			return at
		}
	}
	on.terms = append(on.terms, *term)
	return len(on.terms) - 1
}

// findTwins finds the groups whose pods have the same labels.
func (on *ground) findTwins(g gang.Gang) {
	on.twins = make([]int, len(g.Groups))
	var first []int
	for i := range g.Groups {
		p := &g.Groups[i].Pod
		at := slices.IndexFunc(first, func(j int) bool {
			q := &g.Groups[j].Pod
			return on.budget.spend(stepsPerMatch) && maps.Equal(p.Labels, q.Labels) && reflect.DeepEqual(p.Marks, q.Marks)
		})
		if on.twins[i] = i; at >= 0 {
			on.twins[i] = first[at]
			continue
		}
		first = append(first, i)
	}
}

// The sorts of rules between pods.
const (
	antiAffine = iota
	affine
	spread
)

// meets says whether a rule is about the pods of a group, and asks once.
func (on *ground) meets(rule relation, group int, ask func() (yes bool, doubt string)) (yes bool, doubt string) {
	row := on.met[rule]
	if row == nil {
		row = make([]int8, len(on.traits))
		if on.met == nil {
			on.met = map[relation][]int8{}
		}
		on.met[rule] = row
	}
	group = on.twins[group]
	switch {
	case row[group] == 1:
		return true, ""
	case row[group] == 2 || !on.budget.spend(stepsPerMatch):
		return false, ""
	}
	yes, doubt = ask()
	switch {
	case doubt != "":
	case yes:
		row[group] = 1
	default:
		row[group] = 2
	}
	return yes, doubt
}

// traits are what of a group no change alters.
type traits struct {
	ports                         []podspec.HostPort
	disks                         []podspec.Disk
	apart, near                   []cluster.PodTerm // required anti-affinity and affinity
	seeds                         []int32           // nodes of pods that match every term of near
	even                          []evenTerm        // topology spread that must hold
	claims                        []claimUse
	barredIdle, barredNow, closed []bool   // by node; nil: none
	stuck                         string   // why no pod is scheduled, whatever room there is; empty: nothing
	blind, notes                  []string // as in question
}

func (t *traits) blur(why string) {
	if !slices.Contains(t.blind, why) {
		t.blind = append(t.blind, why)
	}
}

// stepsPerGroup is what it costs to read the template of a group.
const stepsPerGroup = 100

// ownPod is a pod of the gang that has a node.
type ownPod struct {
	group  int
	record *cluster.Pod
}

func newGround(s *cluster.Snapshot, g gang.Gang, b *budget) *ground {
	on := &ground{s: s, budget: b, traits: make([]traits, len(g.Groups)), stays: map[*cluster.Pod]bool{}, memory: borrow(s)}
	on.countOwn(g)
	on.findTwins(g)
	keys, byName := map[string]bool{}, false
	for i := range g.Groups {
		if g.Groups[i].Count <= 0 {
			continue
		}
		if !b.spend(stepsPerGroup) {
			return on
		}
		on.traits[i] = on.traitsOf(g.Namespace, &g.Groups[i])
		spec := &g.Groups[i].Pod.Spec
		more, fixed := podspec.SelectorKeys(spec)
		byName = byName || fixed
		if class := s.RuntimeClass(spec); class != nil && class.Scheduling != nil {
			more = append(more, slices.Collect(maps.Keys(class.Scheduling.NodeSelector))...)
		}
		for _, key := range more {
			keys[key] = true
		}
	}
	if byName {
		keys[corev1.LabelHostname] = true
	}
	on.grid = s.GroupNodes(slices.Sorted(maps.Keys(keys)))
	byLabels := on.grid
	if byName {
		on.grid = on.grid.Split(func(at int32) int32 { return at })
	}
	for i := range on.traits {
		t := &on.traits[i]
		for _, flags := range [][]bool{t.barredIdle, t.barredNow, t.closed} {
			if flags != nil {
				on.grid = on.grid.Split(func(at int32) int32 { return int32(number(flags[at])) })
			}
		}
	}
	on.compete()
	on.attach()
	if on.ties = on.tied(g); on.ties {
		on.part(on.topologyKeys())
	}
	if on.grid != byLabels && len(keys) > 0 {
		on.grid = on.grid.Labelled(s.LabelColumn(slices.Sorted(maps.Keys(keys))))
	} else if on.grid.LabelSet == nil {
		on.grid.LabelSet, on.grid.LabelSets = make([]int32, len(on.grid.Nodes)), 1
	}
	return on
}

// number is 1 for what is so.
func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// countOwn finds the pods of the gang that have a node and keep it. A pod that is being
// deleted takes room but will be replaced.
func (on *ground) countOwn(g gang.Gang) {
	in := on.s.PodLists()[g.Namespace]
	if g.Own == nil || in == nil {
		return
	}
	var scratch corev1.Pod
	for p := range in.With(cluster.HashLabels(g.OwnLabels)) {
		if p.Node() == "" || p.Deleted() {
			continue
		}
		if name, ok := g.Own(p.Metadata(&scratch)); ok && g.Index(name) >= 0 {
			on.own = append(on.own, ownPod{g.Index(name), p})
			on.stays[p] = true
		}
	}
	slices.SortFunc(on.own, func(a, b ownPod) int { return a.record.Compare(b.record) })
}

func (on *ground) traitsOf(namespace string, g *gang.Group) traits {
	t := traits{ports: podspec.HostPorts(&g.Pod.Spec)}
	if len(g.Pod.Spec.Volumes) > 0 {
		volumes(on.s, on, &t, namespace, g)
	}
	for _, term := range podspec.AntiAffinity(&g.Pod.Spec) {
		own := cluster.OwnTermOf(term, namespace, &g.Pod)
		own.Number = on.number(&own)
		t.apart = append(t.apart, own)
	}
	on.attract(&t, namespace, g)
	on.level(&t, namespace, g)
	idle, now := on.barred(&t, namespace, g)
	t.barredIdle, t.barredNow = either(t.barredIdle, idle), either(t.barredNow, now)
	if t.stuck != "" {
		closeWhereNot(on.s, &t, func(int) bool { return false })
	}
	return t
}

// alike says that two pods have the same labels, as far as any rule looks at them: those of
// the gang's own pods, and those of pods that exist.
func (on *ground) alike(x, y *job.Pod) bool {
	if on.asked == nil {
		on.asked = map[string]bool{}
		ask := func(selector labels.Selector) {
			requirements, _ := selector.Requirements()
			for i := range requirements {
				on.asked[requirements[i].Key()] = true
			}
		}
		for i := range on.traits {
			for _, term := range slices.Concat(on.traits[i].apart, on.traits[i].near) {
				ask(term.Selector)
			}
			for _, e := range on.traits[i].even {
				ask(e.selector)
			}
		}
		for _, p := range on.s.Guarded() {
			for i := range p.AntiAffinity() {
				ask(p.AntiAffinity()[i].Selector)
			}
		}
	}
	for key := range on.asked {
		a, isA, _, _ := x.Label(key)
		if b, isB, _, _ := y.Label(key); a != b || isA != isB {
			return false
		}
	}
	return true
}

// either marks what one of two lists marks; nil is a list without marks.
func either(a, b []bool) []bool {
	if a == nil || b == nil {
		return append(a, b...)
	}
	for i := range a {
		a[i] = a[i] || b[i]
	}
	return a
}

// distinct sorts keys and drops repeated ones.
func distinct(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}
