package capacity

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// ground is what a gang and all changes tried of it have in common; it is worked out
// once. Changes alter counts, requests, selectors, node affinity and tolerations of
// groups, and nothing else.
type ground struct {
	s          *Snapshot
	grid       *grid
	traits     []traits // by group
	own        []ownPod
	stays      map[*podRecord]bool // pods of the gang: they keep their places on an idle cluster too
	admissions []*admission
	sums       []*roomSums
}

// traits are what of a group no change alters.
type traits struct {
	ports                         []hostPort
	apart                         []keepAway
	barredIdle, barredNow, closed []bool   // by node; nil: none
	blind, notes                  []string // as in question
}

func (t *traits) blur(why string) {
	if !slices.Contains(t.blind, why) {
		t.blind = append(t.blind, why)
	}
}

// ownPod is a pod of the gang that has a node.
type ownPod struct {
	group  int
	record *podRecord
}

func (s *Snapshot) ground(g Gang) *ground {
	s.lineUp()
	on := &ground{s: s, traits: make([]traits, len(g.Groups))}
	on.countOwn(g)
	keys, byName := map[string]bool{}, false
	for i := range g.Groups {
		if g.Groups[i].Count <= 0 {
			continue
		}
		on.traits[i] = on.traitsOf(g.Namespace, &g.Groups[i])
		spec := &g.Groups[i].Pod.Spec
		more, fixed := selectorKeys(spec)
		byName = byName || fixed
		if class := s.runtimeClassOf(spec); class != nil && class.Scheduling != nil {
			more = append(more, sortedKeys(class.Scheduling.NodeSelector)...)
		}
		for _, key := range more {
			keys[key] = true
		}
	}
	if byName {
		keys[corev1.LabelHostname] = true
	}
	on.grid = s.gridBy(slices.Sorted(maps.Keys(keys)))
	labels := on.grid
	if byName {
		on.grid = on.grid.split(func(at int32) int32 { return at })
	}
	for i := range on.traits {
		t := &on.traits[i]
		for _, flags := range [][]bool{t.barredIdle, t.barredNow, t.closed} {
			if flags != nil {
				on.grid = on.grid.split(func(at int32) int32 { return int32(bit(flags[at])) })
			}
		}
	}
	if on.grid != labels && len(keys) > 0 {
		on.grid = on.grid.labelled(s.byLabel.column(s.nodes, slices.Sorted(maps.Keys(keys))))
	} else if on.grid.labels == nil {
		on.grid.labels, on.grid.kinds = make([]int32, len(on.grid.nodes)), 1
	}
	return on
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// countOwn finds the pods of the gang that have a node and keep it. A pod that is being
// deleted takes room but will be replaced.
func (on *ground) countOwn(g Gang) {
	in := on.s.podsIn[g.Namespace]
	if g.Own == nil || in == nil {
		return
	}
	var scratch corev1.Pod
	for p := range in.all() {
		if p.node == "" || p.deleted {
			continue
		}
		if name, ok := g.Own(p.seen(&scratch)); ok && g.group(name) >= 0 {
			on.own = append(on.own, ownPod{g.group(name), p})
			put(&on.stays, p, true)
		}
	}
	slices.SortFunc(on.own, func(a, b ownPod) int { return a.record.compare(b.record) })
}

func (on *ground) traitsOf(namespace string, g *Group) traits {
	t := traits{ports: hostPortsOf(&g.Pod.Spec)}
	for _, term := range antiAffinity(&g.Pod.Spec) {
		t.apart = append(t.apart, keepAwayOf(term, namespace))
	}
	t.barredIdle, t.barredNow = on.barred(&t, namespace, g)
	on.s.volumes(&t, namespace, g)
	return t
}

// volumes closes the nodes from which a volume of the group cannot be reached.
func (s *Snapshot) volumes(t *traits, namespace string, g *Group) {
	note := func(format string, args ...any) { t.notes = append(t.notes, fmt.Sprintf(format, args...)) }
	for _, v := range g.Pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim := v.PersistentVolumeClaim.ClaimName
		object, presence := s.Lookup(claimKind, namespace, claim)
		if presence != job.Present {
			note("the claim %s is not in the snapshot; it may bind %s to some nodes", claim, g.Name)
			continue
		}
		name, _, _ := unstructured.NestedString(object.Object, "spec", "volumeName")
		if name == "" {
			note("the claim %s is not bound yet; its volume may bind %s to some nodes", claim, g.Name)
			continue
		}
		volume, presence := s.Lookup(volumeKind, "", name)
		pv := corev1.PersistentVolume{}
		if presence != job.Present || runtime.DefaultUnstructuredConverter.FromUnstructured(volume.Object, &pv) != nil {
			note("the volume %s of the claim %s is not in the snapshot; it may bind %s to some nodes", name, claim, g.Name)
			continue
		}
		if pv.Spec.NodeAffinity != nil && pv.Spec.NodeAffinity.Required != nil {
			s.reachable(t, pv.Spec.NodeAffinity.Required)
		}
	}
}

func (s *Snapshot) reachable(t *traits, required *corev1.NodeSelector) {
	from := s.byLabels(reachableFrom(required), required.NodeSelectorTerms, nil)
	if t.closed == nil {
		t.closed = make([]bool, len(s.nodes))
	}
	for at := range s.nodes {
		t.closed[at] = t.closed[at] || !from(at)
	}
}

// byLabels asks once about nodes that agree on every label that is looked at.
func (s *Snapshot) byLabels(match func(*corev1.Node) bool, terms []corev1.NodeSelectorTerm, keys []string) func(at int) bool {
	more, byName := termKeys(terms)
	if byName {
		return func(at int) bool { return match(s.nodes[at].object) }
	}
	column := s.byLabel.column(s.nodes, sorted(append(more, keys...)))
	known := make([]int8, column.values+1)
	return func(at int) bool {
		known := &known[column.of[at]]
		if *known == 0 {
			*known = -1
			if match(s.nodes[at].object) {
				*known = 1
			}
		}
		return *known > 0
	}
}

// selectorKeys are the label keys that the choice of nodes rests on; byName: it rests on
// names of nodes too.
func selectorKeys(spec *corev1.PodSpec) (keys []string, byName bool) {
	if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		keys, byName = termKeys(a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms)
	}
	for key := range spec.NodeSelector {
		keys = append(keys, key)
	}
	return sorted(keys), byName || spec.NodeName != ""
}

func termKeys(terms []corev1.NodeSelectorTerm) (keys []string, byName bool) {
	for _, term := range terms {
		byName = byName || len(term.MatchFields) > 0
		for _, e := range term.MatchExpressions {
			keys = append(keys, e.Key)
		}
	}
	return keys, byName
}

func sorted(keys []string) []string {
	slices.Sort(keys)
	return slices.Compact(keys)
}
