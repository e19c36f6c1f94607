package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// What a search for victims looks at: nodes to clear, and further nodes with room.
const (
	mostCleared = 128
	mostRoomy   = 64
)

// mostPreemptSteps is what a search for victims may cost.
const mostPreemptSteps = assign.MostSteps / 2

// preempts finds a smallest set of pods of lower priority without which a gang that finds
// no room now would fit, and proves it by a fit without them. Smallest means that none of
// them can stay. nil where no pods have to, may, or can be made to go; why says what was not
// looked at.
func preempts(s *cluster.Snapshot, g gang.Gang, r *fit.Result, b *assign.Budget) (out *fit.Preemption, why string) {
	if r.Verdict != fit.Full && r.Verdict != fit.Fragmented && (r.Verdict != fit.TooBig || r.Unresolvable) {
		return nil, ""
	}
	by, known := rankingOf(s, g)
	switch {
	case !known || r.Verdict == fit.TooBig && !aloneEach(g, r, by):
		return nil, ""
	case by.never:
		return nil, fmt.Sprintf("%s moves nobody aside (preemptionPolicy Never)", by)
	case len(s.PodsWithAntiAffinity()) > 0 || !plain(s, g) || sharesClaims(s, g):
		return nil, fmt.Sprintf("whom %s may move aside is not worked out for pods that look at other pods", by)
	case s.Allocated() > 0 && asksForDevices(s, g):
		return nil, fmt.Sprintf("whom %s may move aside is not worked out for pods with claims of devices: which devices are free once others go is not known", by)
	}
	search := func(residents bool) *victimSearch {
		h := &victimSearch{s: s, gang: g, budget: b, by: by, residents: residents}
		h.gather(r)
		return h
	}
	done := b.Try(mostPreemptSteps)
	h := search(false)
	var victims []*cluster.Pod
	if r.Verdict != fit.TooBig {
		victims = h.fewest()
	}
	if len(victims) == 0 {
		if more := search(true); slices.ContainsFunc(more.clear, victimNode.holdsResident) {
			victims = more.fewest()
			h.unsure = h.unsure || more.unsure
		}
	}
	switch {
	case !done():
		return nil, fmt.Sprintf("whom %s would move aside is more than can be tried", by)
	case h.unsure:
		return nil, fmt.Sprintf("whom %s may move aside is not worked out: whether the gang fits without them is not known", by)
	case len(victims) == 0 && len(h.clear) > 0 && h.passed:
		return nil, fmt.Sprintf("whom %s would move aside is more than can be tried", by)
	case len(victims) == 0 && len(h.clear) > 0 && len(s.Nominated()) > 0:
		return nil, fmt.Sprintf("whom %s may move aside is not worked out where others make room for pods", by)
	case len(victims) == 0 && len(h.clear) > 0 && aloneEach(g, r, by):
		return &fit.Preemption{Class: by.class, Priority: by.own, Pods: h.inVain(r.Wanted - r.Placed), InPart: true}, ""
	case len(victims) == 0:
		return nil, ""
	}
	return &fit.Preemption{Class: by.class, Queue: by.queue, Priority: by.own, Pods: len(victims), Victims: owners(s, by, victims)}, ""
}

// aloneEach says that kube-scheduler makes room for every pod by itself, whether the others find a place or not: no queue
// holds the pods back, no nodes are added for them, nothing before the nodes refuses them, and none is paused.
func aloneEach(g gang.Gang, r *fit.Result, by ranking) bool {
	return by.queue == "" && g.Queue == "" && r.Queue == "" && r.Autoscaler == "" && !r.Held() && r.Paused == ""
}

// inVain is how many pods can go at most for some pods that find no place, each of which clears one node.
func (h *victimSearch) inVain(pods int) (most int) {
	for i := len(h.clear) - 1; i >= max(0, len(h.clear)-pods); i-- { // those with most to clear stand last
		most += len(h.clear[i].victims)
	}
	return most
}

// moveAside adds to an answer which pods would have to go. What fits once pods of DaemonSets are moved aside, too, is not too big.
func moveAside(s *cluster.Snapshot, r *fit.Result, g gang.Gang, b *assign.Budget) {
	if s == nil || s.Rules() == nil {
		return
	}
	out, why := preempts(s, g, r, b)
	if r.Preempts = out; out != nil && !out.InPart && r.Verdict == fit.TooBig {
		r.Verdict, r.WaitsForOthers, r.PodTooBig, r.WithNodesBack, r.NotWithNodesBack = fit.Full, true, false, false, false
		r.Reason = "pods of DaemonSets have what it lacks"
	}
	if why != "" {
		r.Assumed = append(r.Assumed, why)
	}
}

// plain says that where the pods of a gang may go depends on nodes and not on other pods
// of other nodes: then what fits on some nodes fits on more of them.
func plain(s *cluster.Snapshot, g gang.Gang) bool {
	for i := range g.Groups {
		spec := &g.Groups[i].Pod.Spec
		hard := func(c corev1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable != corev1.ScheduleAnyway }
		apart := func(t corev1.PodAffinityTerm) bool { return !s.IsNode(t.TopologyKey) }
		if slices.ContainsFunc(spec.TopologySpreadConstraints, hard) || slices.ContainsFunc(podspec.AntiAffinity(spec), apart) || len(podspec.PodAffinity(spec)) > 0 {
			return false
		}
	}
	return true
}

// asksForDevices says that pods of the gang want devices (DRA). The devices of a pod that goes are free once its
// claims are gone, which evictions do not follow.
func asksForDevices(s *cluster.Snapshot, g gang.Gang) bool {
	return slices.ContainsFunc(g.Groups, func(group gang.Group) bool {
		return group.Count > 0 && (len(group.Pod.Spec.ResourceClaims) > 0 || slices.ContainsFunc(podspec.Requested(group.Pod).Names(), s.Devices))
	})
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

// victimSearch is a search for victims on the nodes that matter: those of the plan as far as it
// got, and those that could be cleared, with least to clear first.
type victimSearch struct {
	scratch corev1.Pod // of BelongsTo
	s       *cluster.Snapshot
	gang    gang.Gang
	budget  *assign.Budget
	by      ranking
	stay    []*cluster.Node // of the plan
	clear   []victimNode
	passed  bool // there are more nodes that could be cleared, or have room
	unsure  bool // an answer without some pods was unknown
	// residents says that those may go, too, which come back to their nodes by themselves: pods of DaemonSets have no
	// rights of their own in kube-scheduler (plugins/defaultpreemption), and static ones are not stopped by it.
	residents bool
	asks      []job.Resources            // by group
	selects   []func(*cluster.Node) bool // by group
	// tolerates are the tolerations of each group.
	tolerates [][]corev1.Toleration
}

// victimNode is a node with pods that may have to go.
type victimNode struct {
	node    *cluster.Node
	victims []*cluster.Pod
}

func (n victimNode) holdsResident() bool {
	return slices.ContainsFunc(n.victims, (*cluster.Pod).Resident)
}

func (h *victimSearch) gather(r *fit.Result) {
	h.prepare()
	planned := map[string]bool{}
	for _, p := range r.Plan {
		planned[p.Node] = true
	}
	roomy := 0
	for _, n := range h.s.Nodes() {
		if !h.budget.Spend(stepsPerMove * (1 + len(n.Pods()))) {
			return
		}
		if !n.Ready || !h.suits(n) {
			if planned[n.Name] { // by pods of the gang that run there already, and count
				h.stay = append(h.stay, n)
			}
			continue
		}
		victims := h.victims(n)
		switch {
		case len(victims) > 0 && h.roomy(n, victims):
			h.clear = append(h.clear, victimNode{n, victims})
		case planned[n.Name]:
			h.stay = append(h.stay, n)
		case h.roomy(n, nil):
			if roomy++; roomy <= mostRoomy {
				h.stay = append(h.stay, n)
			}
		}
	}
	h.passed = roomy > mostRoomy
	// A pod that has no place yet needs one node at most.
	slices.SortStableFunc(h.clear, func(a, b victimNode) int {
		return cmp.Or(cmp.Compare(len(a.victims), len(b.victims)), strings.Compare(a.node.Name, b.node.Name))
	})
	if most := min(mostCleared, 2*(r.Wanted-r.Placed)+16); len(h.clear) > most {
		for _, l := range h.clear[most:] { // what is not cleared may still have room
			if planned[l.node.Name] {
				h.stay = append(h.stay, l.node)
			}
		}
		h.clear, h.passed = h.clear[:most], true
	}
}

// prepare reads once what the groups ask of a node.
func (h *victimSearch) prepare() {
	for i := range h.gang.Groups {
		g := &h.gang.Groups[i]
		pod, asks := assign.Admitted(h.s, &g.Pod, podspec.Requested(g.Pod))
		h.asks = append(h.asks, asks)
		h.selects = append(h.selects, cluster.Selects(&pod.Spec))
		h.tolerates = append(h.tolerates, pod.Spec.Tolerations)
	}
}

// cordon is the taint of a node that is cordoned, also where it does not stand there yet: kube-scheduler
// judges by it (plugins/nodeunschedulable).
var cordon = []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}

// suits says whether some group may use the node.
func (h *victimSearch) suits(n *cluster.Node) bool {
	for i := range h.gang.Groups {
		if n.Cordoned && podspec.Untolerated(cordon, h.tolerates[i]) != nil {
			continue
		}
		if h.gang.Groups[i].Count > 0 && h.selects[i](n) && podspec.Untolerated(n.Taints, h.tolerates[i]) == nil {
			return true
		}
	}
	return false
}

// roomy says whether the node takes a pod of some group once some pods are gone, as far
// as amounts go.
func (h *victimSearch) roomy(n *cluster.Node, gone []*cluster.Pod) bool {
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

// victims are the pods of a node that pods of the gang may move aside: of lower priority and not the gang's own.
func (h *victimSearch) victims(n *cluster.Node) []*cluster.Pod {
	var out []*cluster.Pod
	for _, p := range n.Pods() {
		if rank, mayGo := h.by.of(p); p.Resident() && !(h.residents && p.Owner().Kind == "DaemonSet") || !mayGo || rank >= h.by.own || p.BelongsTo(&h.gang, &h.scratch) {
			continue
		}
		out = append(out, p)
	}
	return out
}

// fewest clears as few nodes as it can, and lets every pod stay that can; nil: not even
// without all of them does the gang fit.
func (h *victimSearch) fewest() []*cluster.Pod {
	if len(h.clear) == 0 {
		return nil
	}
	nodes := slices.Clone(h.stay)
	for _, l := range h.clear {
		nodes = append(nodes, l.node)
	}
	rest := evictionsOn(h.s, nodes, h.gang, h.budget)
	cleared := 0
	fits := func(nodes int) bool {
		for ; cleared < nodes; cleared++ {
			for _, p := range h.clear[cleared].victims {
				rest.evict(p)
			}
		}
		for ; cleared > nodes; cleared-- {
			for _, p := range h.clear[cleared-1].victims {
				rest.restore(p)
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
		first, _ := h.by.of(a)
		second, _ := h.by.of(b)
		return cmp.Or(cmp.Compare(second, first), a.Compare(b))
	})
	return slices.DeleteFunc(gone, func(p *cluster.Pod) bool {
		rest.restore(p)
		stays := !rest.mustGo(p) && h.fits(rest)
		if !stays {
			rest.evict(p)
		}
		return stays
	})
}

// fits asks about what is left. Where nothing is left to spend the answer is no, and nothing is
// said in the end.
func (h *victimSearch) fits(rest *evictions) bool {
	yes, known := rest.fits()
	h.unsure = h.unsure || !known
	return yes
}

// owners counts victims by their owners, most pods first.
func owners(s *cluster.Snapshot, by ranking, victims []*cluster.Pod) []fit.Victim {
	var out []fit.Victim
	for _, p := range victims {
		rank, _ := by.of(p)
		v := fit.Victim{Namespace: p.Namespace(), Name: p.Name(), Priority: rank}
		if p.Owner().Kind != "" {
			v.Kind, v.Name = p.Owner().Kind, p.Owner().Name
		}
		at := slices.IndexFunc(out, func(o fit.Victim) bool {
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
	slices.SortStableFunc(out, func(a, b fit.Victim) int {
		return cmp.Or(cmp.Compare(b.Pods, a.Pods), strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name))
	})
	return out
}

// guards are the PodDisruptionBudgets in the view that select a pod and allow no
// disruption now.
func guards(s *cluster.Snapshot, namespace string, of labels.Labels) []string {
	var out []string
	for _, b := range cluster.In[policyv1.PodDisruptionBudget](s.Index(), cluster.BudgetKind, namespace) {
		if b.Spec.Selector == nil || b.Status.DisruptionsAllowed > 0 {
			continue
		}
		if selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil && selector.Matches(of) {
			out = append(out, namespace+"/"+b.Name)
		}
	}
	return out
}
