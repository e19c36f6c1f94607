package whatif

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// evictions is some nodes of a view, of which pods are taken away and put back one by one to see
// whether a gang fits then. Only the node of a pod changes with it: the room left is counted back and
// forth, and nothing is built anew. Where a gang asks for more of a node than amounts (host ports,
// disks, claims, pods that are not there), the view is made again for each question that amounts
// alone do not decide.
type evictions struct {
	gang   gang.Gang
	budget *assign.Budget
	store  *cluster.Store
	taken  *cluster.Snapshot // the view of which the nodes are
	amount bool              // the gang asks for nothing but amounts
	loose  *evictions        // the same, and the gang asks for nothing but amounts; nil: so it does

	view    *cluster.Snapshot
	cycle   *assign.Cycle
	asks    []job.Resources // by group, once they are known
	evicted []map[corev1.ResourceName]int64
	held    []holding // of the last answer that was a yes; nil: of no use
}

// holding is how many pods of a pod set each node takes, and all of them.
type holding struct {
	*assign.PodSet
	on    []int32
	total int64
}

// evictionsOn is the nodes with all their pods.
func evictionsOn(s *cluster.Snapshot, nodes []*cluster.Node, g gang.Gang, b *assign.Budget) *evictions {
	m := &evictions{gang: g, budget: b, store: s.Fork(), taken: s, amount: true}
	for i := range g.Groups {
		m.amount = m.amount && amountsOnly(&g.Groups[i].Pod.Spec)
	}
	if !m.amount {
		m.loose = evictionsOn(s, nodes, loosened(g), b)
	}
	for _, n := range nodes {
		m.store.SetNode(n.Object())
		if !b.Spend(stepsPerPod * (1 + len(n.Pods()))) {
			return m
		}
		for _, p := range n.Pods() {
			m.store.KeepPod(p)
		}
	}
	if !b.Spend(stepsPerPod * len(s.Nominated())) {
		return m
	}
	for _, p := range s.Nominated() { // others make room for them, and it is not the gang's
		m.store.KeepPod(p)
	}
	m.look()
	return m
}

// amountsOnly says that a pod asks for nothing of a node but amounts.
func amountsOnly(spec *corev1.PodSpec) bool {
	return !slices.ContainsFunc(spec.Volumes, holdsNodes) && len(podspec.HostPorts(spec)) == 0 && len(podspec.AntiAffinity(spec)) == 0
}

// holdsNodes says that a volume may be had on some nodes only, or by so many pods.
func holdsNodes(v corev1.Volume) bool {
	return v.PersistentVolumeClaim != nil || v.Ephemeral != nil || len(podspec.Disks(&v)) > 0
}

// loosened is a gang that asks for nothing but amounts: where it does not fit, the gang does not.
func loosened(g gang.Gang) gang.Gang {
	g.Groups = slices.Clone(g.Groups)
	for i := range g.Groups {
		pod := &g.Groups[i].Pod
		pod.Requests = podspec.Requested(*pod)
		spec := &pod.Spec
		spec.Volumes = slices.DeleteFunc(slices.Clone(spec.Volumes), holdsNodes)
		spec.HostNetwork = false
		for _, containers := range []*[]corev1.Container{&spec.Containers, &spec.InitContainers} {
			*containers = slices.Clone(*containers)
			for k := range *containers {
				(*containers)[k].Ports = nil
			}
		}
		if spec.Affinity != nil {
			affinity := *spec.Affinity
			affinity.PodAntiAffinity, spec.Affinity = nil, &affinity
		}
	}
	return g
}

// What it costs to read a pod, and to count it away or back.
const (
	stepsPerPod  = 100
	stepsPerMove = 10
)

// look makes the view. Each node is a class of its own: its room changes alone.
func (m *evictions) look() {
	m.view = m.store.Snapshot(m.taken.Taken(), "")
	if !m.amount {
		return
	}
	m.view.Separate()
	m.cycle = assign.NewCycle(m.view, m.gang, m.budget)
	m.evicted = make([]map[corev1.ResourceName]int64, len(m.view.Nodes()))
}

// evict takes a pod away.
func (m *evictions) evict(p *cluster.Pod) {
	if !m.amount {
		m.loose.evict(p)
		m.store.DropPod(p.Namespace(), p.Name())
		return
	}
	m.move(p, 1)
}

// restore puts a pod back that was taken away.
func (m *evictions) restore(p *cluster.Pod) {
	if !m.amount {
		m.loose.restore(p)
		m.store.KeepPod(p)
		return
	}
	m.move(p, -1)
}

func (m *evictions) move(p *cluster.Pod, sign int64) {
	if !m.budget.Spend(stepsPerMove) {
		return
	}
	at, ok := m.view.NodeAt(p.Node())
	if !ok {
		return
	}
	n, cols := m.view.Nodes()[at], m.view.Columns()
	change := func(name corev1.ResourceName, by int64) {
		if m.evicted[at] == nil {
			m.evicted[at] = map[corev1.ResourceName]int64{}
		}
		m.evicted[at][name] += by
		if column, ok := cols.Index[name]; ok {
			cols.Free[column][at] = n.FreeWithout(name, m.evicted[at][name])
		}
	}
	for _, a := range p.Requests() {
		change(a.Name, sign*a.N)
	}
	change(corev1.ResourcePods, sign)
}

// fits says whether the gang fits on what is there now; known is false where that cannot be told.
func (m *evictions) fits() (yes, known bool) {
	if !m.budget.Spend(0) { // there may not even be a view
		return false, false
	}
	if !m.amount {
		held := m.loose.held
		if yes, known := m.loose.fits(); !yes && known {
			return false, true
		}
		if yes, known = m.rebuilt(); !yes {
			m.loose.held = held // of what was a yes for amounts alone
		}
		return yes, known
	}
	if !m.budget.Spend(len(m.cycle.Grouping.Nodes) * (1 + len(m.gang.Groups))) {
		return false, false
	}
	m.cycle.Forget()
	q := assign.NewSolver(m.view, m.gang, m.cycle)
	q.Purpose, q.Requests = assign.Deciding, m.asks
	var r fit.Result
	failed, podSets := fit.Run(q, &r)
	m.asks = q.Requests
	switch {
	case !m.budget.Spend(0) || len(q.FlipsYes) > 0:
		return false, false
	case failed == nil:
		m.hold(podSets)
		return true, true
	default:
		return false, failed.No
	}
}

// rebuilt says whether the gang fits on a view that is made again.
func (m *evictions) rebuilt() (yes, known bool) {
	if !m.budget.Spend(stepsPerPod * len(m.view.Nodes())) {
		return false, false
	}
	m.view = m.store.Snapshot(m.taken.Taken(), "")
	r, cycle := fit.Solve(m.view, m.gang, m.budget)
	cycle.Release()
	return r.Verdict == fit.Fits, r.Verdict != fit.Unknown
}

// hold remembers how many pods the nodes take.
func (m *evictions) hold(podSets []*assign.PodSet) {
	m.held = nil
	if len(m.cycle.Order.Stages) > 1 || !m.budget.Spend(len(podSets)*len(m.view.Nodes())/4) {
		return
	}
	for _, k := range podSets {
		h := holding{PodSet: k, on: make([]int32, len(m.view.Nodes())), total: k.Total}
		for nodeGroup, members := range m.cycle.Grouping.Nodes {
			for _, node := range members {
				h.on[node] = k.Now[nodeGroup]
			}
		}
		m.held = append(m.held, h)
	}
}

// mustGo says that a pod that was just restored must go again, for a pod set finds too few places
// beside it, whatever the others do.
func (m *evictions) mustGo(p *cluster.Pod) bool {
	if !m.amount {
		return m.loose.mustGo(p)
	}
	at, ok := m.view.NodeAt(p.Node())
	if !ok || !m.budget.Spend(1+len(m.held)) {
		return false
	}
	return slices.ContainsFunc(m.held, func(h holding) bool {
		return h.total-int64(h.on[at])+int64(min(h.on[at], h.TakenBy(m.view, at))) < int64(h.Count)
	})
}
