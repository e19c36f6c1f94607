package capacity

import (
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// berth is a node in a ledger and the pods on it. It changes with every pod that comes or
// goes; snapshots get digests of it.
type berth struct {
	name           string
	object         *corev1.Node // nil: the node is not known, pods only name it
	pods           []*podRecord // by namespace and name
	used, resident job.Resources
	saturated      bool // a sum has hit the ceiling, from which nothing can be taken away

	allocatable   job.Resources
	ready, silent bool
	taints        string // as text
	grows         growth

	node    *Node // as the last snapshot has it
	class   *class
	touched bool // since the last snapshot
}

// take replaces the node itself.
func (b *berth) take(n *corev1.Node) {
	b.object = n
	b.allocatable = allocatableOf(n)
	b.ready, b.silent = readiness(n)
	b.taints = taintsText(n.Spec.Taints)
	b.grows = growthOf(n)
}

// board adds a pod.
func (b *berth) board(p *podRecord) {
	at, _ := slices.BinarySearchFunc(b.pods, p, (*podRecord).compare)
	b.pods = slices.Insert(b.pods, at, p)
	b.add(p)
}

func (b *berth) add(p *podRecord) {
	if b.used == nil {
		b.used, b.resident = job.Resources{}, job.Resources{}
	}
	p.addTo(b.used)
	if p.resident {
		p.addTo(b.resident)
	}
	b.saturated = b.saturated || p.ceiling(b.used)
}

// leave takes a pod away.
func (b *berth) leave(p *podRecord) {
	at, ok := slices.BinarySearchFunc(b.pods, p, (*podRecord).compare)
	if !ok {
		return
	}
	b.pods = slices.Delete(b.pods, at, at+1)
	if b.saturated { // count anew
		b.used, b.resident, b.saturated = nil, nil, false
		for _, p := range b.pods {
			b.add(p)
		}
		return
	}
	p.takeFrom(b.used)
	if p.resident {
		p.takeFrom(b.resident)
	}
}

// digest writes down the node as it is now, for snapshots to keep.
func (b *berth) digest() {
	n := &Node{
		Name: b.name, Labels: b.object.Labels, Taints: b.object.Spec.Taints,
		Ready: b.ready, silent: b.silent, Cordoned: b.object.Spec.Unschedulable,
		Allocatable: b.allocatable, Used: maps.Clone(b.used),
		object: b.object, pods: slices.Clone(b.pods),
	}
	if n.Used == nil {
		n.Used = job.Resources{}
	}
	switch {
	case b.node != nil && maps.Equal(b.node.Resident, b.resident):
		n.Resident = b.node.Resident
	case b.resident == nil:
		n.Resident = job.Resources{}
	default:
		n.Resident = maps.Clone(b.resident)
	}
	b.node = n
}

// ceiling says whether a sum with the pod in it has hit the largest number there is.
func (p *podRecord) ceiling(sum job.Resources) bool {
	return slices.ContainsFunc(p.requests, func(a amount) bool { return sum[a.name] == math.MaxInt64 })
}

// takeFrom takes the pod and itself out of a sum.
func (p *podRecord) takeFrom(sum job.Resources) {
	take := func(name corev1.ResourceName, n int64) {
		if sum[name] -= n; sum[name] == 0 {
			delete(sum, name)
		}
	}
	for _, a := range p.requests {
		take(a.name, a.n)
	}
	take(corev1.ResourcePods, 1)
}

// marks count what some nodes say that matters for all.
type marks struct {
	silent, lacking    int
	karpenter, cluster int
}

func (m *marks) add(b *berth, n int) {
	if b.object == nil {
		return
	}
	if b.silent {
		m.silent += n
	}
	if !b.ready || b.object.Spec.Unschedulable {
		m.lacking += n
	}
	switch b.grows {
	case byKarpenter:
		m.karpenter += n
	case byClusterAutoscaler:
		m.cluster += n
	case byNobody:
	}
}
