package whatif

import (
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
// disks, volumes, pods that are not there), the view is made again for each question.
type evictions struct {
	gang   gang.Gang
	budget *assign.Budget
	store  *cluster.Store
	taken  *cluster.Snapshot // the view of which the nodes are
	amount bool              // the gang asks for nothing but amounts

	view    *cluster.Snapshot
	cycle   *assign.Cycle
	asks    []job.Resources // by group, once they are known
	evicted []map[corev1.ResourceName]int64
}

// evictionsOn is the nodes with all their pods.
func evictionsOn(s *cluster.Snapshot, nodes []*cluster.Node, g gang.Gang, b *assign.Budget) *evictions {
	m := &evictions{gang: g, budget: b, store: s.Fork(), taken: s, amount: true}
	for i := range g.Groups {
		spec := &g.Groups[i].Pod.Spec
		m.amount = m.amount && len(spec.Volumes) == 0 && len(podspec.HostPorts(spec)) == 0 && len(podspec.AntiAffinity(spec)) == 0
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
	m.look()
	return m
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
		m.store.DropPod(p.Namespace(), p.Name())
		return
	}
	m.move(p, 1)
}

// restore puts a pod back that was taken away.
func (m *evictions) restore(p *cluster.Pod) {
	if !m.amount {
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
		if !m.budget.Spend(stepsPerPod * len(m.view.Nodes())) {
			return false, false
		}
		m.view = m.store.Snapshot(m.taken.Taken(), "")
		r, cycle := fit.Solve(m.view, m.gang, m.budget)
		cycle.Release()
		return r.Verdict == fit.Fits, r.Verdict != fit.Unknown
	}
	if !m.budget.Spend(len(m.cycle.Grouping.Nodes) * (1 + len(m.gang.Groups))) {
		return false, false
	}
	m.cycle.Forget()
	q := assign.NewSolver(m.view, m.gang, m.cycle)
	q.Purpose, q.Requests = assign.Deciding, m.asks
	var r fit.Result
	failed, _ := fit.Run(q, &r)
	m.asks = q.Requests
	switch {
	case !m.budget.Spend(0) || len(q.FlipsYes) > 0:
		return false, false
	case failed == nil:
		return true, true
	default:
		return false, failed.No
	}
}
