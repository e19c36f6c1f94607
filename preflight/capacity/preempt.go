package capacity

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// Preemption is who would have to go for a gang of higher priority. It is said, never
// assumed: the verdict stays what it is without anybody going.
type Preemption struct {
	Class    string   `json:"class"` // the priority class that would move them aside
	Priority int32    `json:"priority"`
	Victims  []Victim `json:"victims"` // none of them can stay: with one more pod the gang does not fit
}

// Victim is a number of pods of one owner.
type Victim struct {
	Kind      string   `json:"kind,omitempty"` // of the owner; empty: the pod itself
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Priority  int32    `json:"priority"`
	Pods      int      `json:"pods"`
	Guards    []string `json:"guards,omitempty"` // PodDisruptionBudgets that want them to stay
}

// String is "3 pods of PyTorchJob ml/x (priority 0)".
func (v Victim) String() string {
	who := words.Count(v.Pods, "pod", "pods") + " of " + v.Kind + " "
	if v.Kind == "" {
		who = "pod "
	}
	text := fmt.Sprintf("%s%s/%s (priority %d", who, v.Namespace, v.Name, v.Priority)
	if len(v.Guards) > 0 {
		text += ", guarded by PodDisruptionBudget " + strings.Join(v.Guards, ", ")
	}
	return text + ")"
}

// String is who would have to go, and for which class.
func (p *Preemption) String() string {
	parts := make([]string, len(p.Victims))
	for i, v := range p.Victims {
		parts[i] = v.String()
	}
	return fmt.Sprintf("%s would have to go for the priority class %s (%d)", strings.Join(parts, ", "), p.Class, p.Priority)
}

// What a search for victims looks at: nodes to clear, and further nodes with room.
const (
	mostCleared = 128
	mostRoomy   = 64
)

// mostPreemptSteps is what a search for victims may cost.
const mostPreemptSteps = mostSteps / 2

// preempts finds a smallest set of pods of lower priority without which a gang that finds
// no room now would fit, and proves it by a fit without them. Smallest means that none of
// them can stay. nil where nobody has to, may, or can be made to go; why says what was not
// looked at.
func preempts(s *cluster.Snapshot, g gang.Gang, r *Result, b *budget) (out *Preemption, why string) {
	if r.Verdict != Full && r.Verdict != Fragmented {
		return nil, ""
	}
	class, priority, known := gangPriority(s, g)
	switch {
	case !known:
		return nil, ""
	case class.Never:
		return nil, fmt.Sprintf("the priority class %s moves nobody aside (preemptionPolicy Never)", class.Name)
	case len(s.Guarded()) > 0 || !plain(g) || sharesClaims(s, g):
		return nil, fmt.Sprintf("whom the priority class %s may move aside is not worked out for pods that look at other pods", class.Name)
	}
	h := &hunt{s: s, gang: g, budget: b, priority: priority}
	done := b.try(mostPreemptSteps)
	h.gather(r)
	victims := h.fewest()
	switch {
	case !done():
		return nil, fmt.Sprintf("whom the priority class %s would move aside is more than can be tried", class.Name)
	case h.unsure:
		return nil, fmt.Sprintf("whom the priority class %s may move aside is not worked out: whether the gang fits without them is not known", class.Name)
	case len(victims) == 0 && h.passed:
		return nil, fmt.Sprintf("whom the priority class %s would move aside is more than can be tried", class.Name)
	case len(victims) == 0:
		return nil, ""
	}
	return &Preemption{Class: class.Name, Priority: priority, Victims: owners(s, victims)}, ""
}

// moveAside adds to an answer who would have to go.
func moveAside(s *cluster.Snapshot, r *Result, g gang.Gang, b *budget) {
	if s == nil || s.Rules() == nil {
		return
	}
	out, why := preempts(s, g, r, b)
	r.Preempts = out
	if why != "" {
		r.Assumed = append(r.Assumed, why)
	}
}

// ranked says that the priority of the gang is known.
func ranked(s *cluster.Snapshot, g gang.Gang) bool {
	_, _, known := gangPriority(s, g)
	return known
}

// gangPriority is the lowest priority of any pod of the gang; known is false where it is
// not above 0 or nobody can say.
func gangPriority(s *cluster.Snapshot, g gang.Gang) (lowest cluster.PriorityClass, value int32, known bool) {
	value = math.MaxInt32
	for i := range g.Groups {
		spec := &g.Groups[i].Pod.Spec
		if g.Groups[i].Count <= 0 {
			continue
		}
		class, ok := s.PriorityClass(spec)
		if !ok || spec.SchedulerName != "" && spec.SchedulerName != corev1.DefaultSchedulerName {
			return cluster.PriorityClass{}, 0, false
		}
		if class.Value < value {
			lowest, value = class, class.Value
		}
	}
	return lowest, value, lowest.Name != ""
}

// plain says that where the pods of a gang may go depends on nodes and not on other pods
// of other nodes: then what fits on some nodes fits on more of them.
func plain(g gang.Gang) bool {
	for i := range g.Groups {
		spec := &g.Groups[i].Pod.Spec
		hard := func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable != corev1.ScheduleAnyway }
		apart := func(t corev1.PodAffinityTerm) bool { return t.TopologyKey != corev1.LabelHostname }
		if slices.ContainsFunc(spec.TopologySpreadConstraints, hard) || slices.ContainsFunc(podspec.AntiAffinity(spec), apart) {
			return false
		}
		if a := spec.Affinity; a != nil && a.PodAffinity != nil && len(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0 {
			return false
		}
	}
	return true
}

// sharesClaims says that a claim of the gang is in use already: then the nodes that matter
// are not all that does.
func sharesClaims(s *cluster.Snapshot, g gang.Gang) bool {
	var claims []string
	for i := range g.Groups {
		for j := range g.Groups[i].Pod.Spec.Volumes {
			if v := g.Groups[i].Pod.Spec.Volumes[j].PersistentVolumeClaim; v != nil {
				claims = append(claims, v.ClaimName)
			}
		}
	}
	in := s.PodLists()[g.Namespace]
	if len(claims) == 0 || in == nil {
		return false
	}
	for p := range in.All() {
		if slices.ContainsFunc(p.Claims(), func(c string) bool { return slices.Contains(claims, c) }) {
			return true
		}
	}
	return false
}

// hunt is a search for victims on the nodes that matter: those of the plan as far as it
// got, and those that could be cleared, with least to clear first.
type hunt struct {
	s        *cluster.Snapshot
	gang     gang.Gang
	budget   *budget
	priority int32
	stay     []*cluster.Node // of the plan
	clear    []lair
	passed   bool                       // there are more nodes that could be cleared
	unsure   bool                       // an answer without some pods was unknown
	asks     []job.Resources            // by group
	selects  []func(*cluster.Node) bool // by group
}

// lair is a node with pods that may have to go.
type lair struct {
	node    *cluster.Node
	victims []*cluster.Pod
}

func (h *hunt) gather(r *Result) {
	h.prepare()
	planned := map[string]bool{}
	for _, p := range r.Plan {
		planned[p.Node] = true
	}
	roomy := 0
	for _, n := range h.s.Nodes() {
		if !h.budget.spend(stepsPerMove * (1 + len(n.Pods()))) {
			return
		}
		if !n.Ready || n.Cordoned || !h.suits(n) {
			if planned[n.Name] { // by pods of the gang that run there already, and count
				h.stay = append(h.stay, n)
			}
			continue
		}
		victims := h.victims(n)
		switch {
		case len(victims) > 0 && h.roomy(n, victims):
			h.clear = append(h.clear, lair{n, victims})
		case planned[n.Name]:
			h.stay = append(h.stay, n)
		case roomy < mostRoomy && h.roomy(n, nil):
			h.stay = append(h.stay, n)
			roomy++
		}
	}
	// A pod that has no place yet needs one node at most.
	slices.SortStableFunc(h.clear, func(a, b lair) int {
		return cmp.Or(cmp.Compare(len(a.victims), len(b.victims)), strings.Compare(a.node.Name, b.node.Name))
	})
	if most := min(mostCleared, 2*(r.Wanted-r.Placed)+16); len(h.clear) > most {
		h.clear, h.passed = h.clear[:most], true
	}
}

// prepare reads once what the groups ask of a node.
func (h *hunt) prepare() {
	for i := range h.gang.Groups {
		g := &h.gang.Groups[i]
		h.asks = append(h.asks, podspec.Requested(g.Pod))
		h.selects = append(h.selects, cluster.Selects(&g.Pod.Spec))
	}
}

// suits says whether some group may use the node.
func (h *hunt) suits(n *cluster.Node) bool {
	for i := range h.gang.Groups {
		if h.gang.Groups[i].Count > 0 && h.selects[i](n) && podspec.Untolerated(n.Taints, h.gang.Groups[i].Pod.Spec.Tolerations) == nil {
			return true
		}
	}
	return false
}

// roomy says whether the node takes a pod of some group once some pods are gone, as far
// as amounts go.
func (h *hunt) roomy(n *cluster.Node, gone []*cluster.Pod) bool {
	return slices.ContainsFunc(h.asks, func(asks job.Resources) bool {
		for name, asked := range asks {
			free := n.Free(name)
			for _, p := range gone {
				free = saturate.Add(free, p.Takes(name))
			}
			if free < asked {
				return false
			}
		}
		return true
	})
}

// victims are the pods of a node that pods of the gang may move aside: of lower priority,
// not the gang's own, and none that comes back to the node by itself.
func (h *hunt) victims(n *cluster.Node) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range n.Pods() {
		if p.Resident() || h.s.PriorityOf(p) >= h.priority || h.own(p) {
			continue
		}
		out = append(out, p)
	}
	return out
}

func (h *hunt) own(p *cluster.Pod) bool {
	if h.gang.Own == nil || p.Namespace() != h.gang.Namespace {
		return false
	}
	var scratch corev1.Pod
	_, own := h.gang.Own(p.Metadata(&scratch))
	return own
}

// fewest clears as few nodes as it can, and lets every pod stay that can; nil: not even
// without all of them does the gang fit.
func (h *hunt) fewest() []*cluster.Pod {
	if len(h.clear) == 0 {
		return nil
	}
	nodes := slices.Clone(h.stay)
	for _, l := range h.clear {
		nodes = append(nodes, l.node)
	}
	rest := remainderOf(h.s, nodes, h.gang, h.budget)
	cleared := 0
	fits := func(nodes int) bool {
		for ; cleared < nodes; cleared++ {
			for _, p := range h.clear[cleared].victims {
				rest.take(p)
			}
		}
		for ; cleared > nodes; cleared-- {
			for _, p := range h.clear[cleared-1].victims {
				rest.put(p)
			}
		}
		return h.fits(rest)
	}
	all := len(h.clear)
	if !fits(all) {
		return nil
	}
	few := min(all, int(largest(int64(all), func(n int64) bool { return !fits(int(n)) }))+1)
	if !fits(few) {
		return nil
	}
	var gone []*cluster.Pod
	for _, l := range h.clear[:few] {
		gone = append(gone, l.victims...)
	}
	// Those of higher priority may stay first, as kube-scheduler has it.
	slices.SortStableFunc(gone, func(a, b *cluster.Pod) int {
		return cmp.Or(cmp.Compare(h.s.PriorityOf(b), h.s.PriorityOf(a)), a.Compare(b))
	})
	return slices.DeleteFunc(gone, func(p *cluster.Pod) bool {
		rest.put(p)
		stays := h.fits(rest)
		if !stays {
			rest.take(p)
		}
		return stays
	})
}

// fits asks about what is left. Where nothing is left to spend the answer is no, and nothing is
// said in the end.
func (h *hunt) fits(rest *remainder) bool {
	yes, known := rest.fits()
	h.unsure = h.unsure || !known
	return yes
}

// owners counts victims by who owns them, most pods first.
func owners(s *cluster.Snapshot, victims []*cluster.Pod) []Victim {
	var out []Victim
	for _, p := range victims {
		v := Victim{Namespace: p.Namespace(), Name: p.Name(), Priority: s.PriorityOf(p)}
		if p.Owner().Kind != "" {
			v.Kind, v.Name = p.Owner().Kind, p.Owner().Name
		}
		at := slices.IndexFunc(out, func(o Victim) bool {
			return v.Kind != "" && o.Kind == v.Kind && o.Namespace == v.Namespace && o.Name == v.Name && o.Priority == v.Priority
		})
		if at < 0 {
			at, out = len(out), append(out, v)
		}
		out[at].Pods++
		for _, guard := range guards(s, p.Namespace(), p.Labels()) {
			if !slices.Contains(out[at].Guards, guard) {
				out[at].Guards = append(out[at].Guards, guard)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Victim) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
	})
	return out
}

// guards are the PodDisruptionBudgets in the view that select a pod and allow no
// disruption now.
func guards(s *cluster.Snapshot, namespace string, of map[string]string) []string {
	var out []string
	for _, b := range cluster.In[policyv1.PodDisruptionBudget](s.Index(), cluster.BudgetKind, namespace) {
		if b.Spec.Selector == nil || b.Status.DisruptionsAllowed > 0 {
			continue
		}
		if selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil && selector.Matches(labels.Set(of)) {
			out = append(out, namespace+"/"+b.Name)
		}
	}
	return out
}
