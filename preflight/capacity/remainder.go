package capacity

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// remainder is some nodes of a view, of which pods are taken away and put back one by one to see
// whether a gang fits then. Only the node of a pod changes with it: the room left is counted back and
// forth, and nothing is built anew. Where a gang asks for more of a node than amounts (host ports,
// disks, volumes, pods that are not there), the view is made again for each question.
type remainder struct {
	gang   Gang
	budget *budget
	ledger *Ledger
	taken  *Snapshot // the view of which the nodes are
	amount bool      // the gang asks for nothing but amounts

	view *Snapshot
	on   *ground
	asks []job.Resources // by group, once they are known
	gone []map[corev1.ResourceName]int64
}

// remainderOf is the nodes with all their pods.
func (s *Snapshot) remainderOf(nodes []*Node, g Gang, b *budget) *remainder {
	m := &remainder{gang: g, budget: b, ledger: s.fork(), taken: s, amount: true}
	for i := range g.Groups {
		spec := &g.Groups[i].Pod.Spec
		m.amount = m.amount && len(spec.Volumes) == 0 && len(hostPortsOf(spec)) == 0 && len(antiAffinity(spec)) == 0
	}
	for _, n := range nodes {
		m.ledger.SetNode(n.object)
		if !b.spend(stepsPerPod * (1 + len(n.pods))) {
			return m
		}
		for _, p := range n.pods {
			m.ledger.KeepPod(p)
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
func (m *remainder) look() {
	m.view = m.ledger.Snapshot(m.taken.taken, "")
	if !m.amount {
		return
	}
	m.view.separate()
	m.on = m.view.ground(m.gang, m.budget)
	m.gone = make([]map[corev1.ResourceName]int64, len(m.view.nodes))
}

// take takes a pod away.
func (m *remainder) take(p *Pod) {
	if !m.amount {
		m.ledger.DropPod(p.namespace, p.name)
		return
	}
	m.move(p, 1)
}

// put puts a pod back that was taken away.
func (m *remainder) put(p *Pod) {
	if !m.amount {
		m.ledger.KeepPod(p)
		return
	}
	m.move(p, -1)
}

func (m *remainder) move(p *Pod, sign int64) {
	if !m.budget.spend(stepsPerMove) {
		return
	}
	at, ok := m.view.nodeAt(p.node)
	if !ok {
		return
	}
	n, cols := m.view.nodes[at], m.view.columns()
	change := func(name corev1.ResourceName, by int64) {
		if m.gone[at] == nil {
			m.gone[at] = map[corev1.ResourceName]int64{}
		}
		m.gone[at][name] += by
		if column, ok := cols.index[name]; ok {
			cols.free[column][at] = n.freeWithout(name, m.gone[at][name])
		}
	}
	for _, a := range p.requests {
		change(a.name, sign*a.n)
	}
	change(corev1.ResourcePods, sign)
}

// fits says whether the gang fits on what is there now; known is false where that cannot be told.
func (m *remainder) fits() (yes, known bool) {
	if !m.amount {
		if !m.budget.spend(stepsPerPod * len(m.view.nodes)) {
			return false, false
		}
		m.view = m.ledger.Snapshot(m.taken.taken, "")
		r, on := m.view.fit(m.gang, m.budget)
		on.release()
		return r.Verdict == Fits, r.Verdict != Unknown
	}
	if !m.budget.spend(len(m.on.grid.nodes) * (1 + len(m.gang.Groups))) {
		return false, false
	}
	m.on.forget()
	q := m.view.question(m.gang, m.on)
	q.trying, q.asks = deciding, m.asks
	var r Result
	failed, _ := q.run(&r)
	m.asks = q.asks
	switch {
	case !m.budget.spend(0) || len(q.blind) > 0:
		return false, false
	case failed == nil:
		return true, true
	default:
		return false, failed.no
	}
}

// forget drops what was counted of the room on the nodes.
func (on *ground) forget() {
	for _, a := range on.admissions {
		a.rooms = nil
	}
	on.sums = nil
	if on.memory != nil {
		on.memory.used = 0
	}
}
