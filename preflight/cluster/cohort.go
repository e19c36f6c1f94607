package cluster

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// FlavorResource is a resource of a flavor, the unit in which Kueue counts.
type FlavorResource struct {
	Flavor   string
	Resource corev1.ResourceName
}

// QuotaNode is a ClusterQueue or a cohort in Kueue's tree of quotas
// (https://github.com/kubernetes-sigs/kueue/blob/main/pkg/cache/scheduler/resource_node.go).
type QuotaNode struct {
	parent   *QuotaNode
	children []*QuotaNode
	quotas   map[FlavorResource]nodeQuota
	subtree  map[FlavorResource]int64 // own quota, and what children lend
	usage    map[FlavorResource]int64 // what counts against subtree
}

type nodeQuota struct{ nominal, borrow, lend int64 } // borrow, lend: -1 is no limit

// CohortTree is all ClusterQueues and cohorts.
type CohortTree struct {
	Queues  map[string]*QuotaNode
	cohorts map[string]*QuotaNode
	Circle  bool // cohorts are below each other: nothing can be worked out
}

// cohortTreeOf puts the quotas of all queues together; nil: there are none. What is used of a queue whose status does not
// tell it, the workloads hold that it has admitted.
func cohortTreeOf(b *Rules, all Objects) *CohortTree {
	if len(b.Cluster) == 0 {
		return nil
	}
	t := &CohortTree{Queues: map[string]*QuotaNode{}, cohorts: map[string]*QuotaNode{}}
	for _, name := range slices.Sorted(maps.Keys(b.cohorts)) {
		c := b.cohorts[name]
		n := t.cohort(name)
		n.quotas = quotasOf(c.Spec.ResourceGroups)
		if parent := cmp.Or(c.Spec.ParentName, c.Spec.Parent); parent != "" {
			t.hang(n, t.cohort(parent))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.Cluster)) {
		q := b.Cluster[name]
		n := &QuotaNode{quotas: quotasOf(q.Spec.ResourceGroups), usage: map[FlavorResource]int64{}}
		for _, f := range q.Status.FlavorsReservation {
			for _, r := range f.Resources {
				n.usage[FlavorResource{f.Name, r.Name}] = max(0, job.InBaseUnits(r.Name, r.Total))
			}
		}
		t.Queues[name] = n
		if c := q.Cohort(); c != "" {
			t.hang(n, t.cohort(c))
		}
	}
	for _, w := range Each[workload](all, WorkloadKind) {
		name := w.Status.Admission.ClusterQueue
		if q := b.Cluster[name]; q != nil && q.Silent() {
			w.usage(t.Queues[name].usage)
		}
	}
	for _, n := range t.cohorts {
		steps := 0
		for up := n; up != nil && steps <= len(t.cohorts); up = up.parent {
			steps++
		}
		t.Circle = t.Circle || steps > len(t.cohorts)
	}
	if t.Circle {
		return t
	}
	for _, all := range []map[string]*QuotaNode{t.Queues, t.cohorts} {
		for _, n := range all {
			if n.parent == nil {
				n.add()
			}
		}
	}
	return t
}

// cohort finds a cohort by name; one without an object exists all the same.
func (t *CohortTree) cohort(name string) *QuotaNode {
	if t.cohorts[name] == nil {
		t.cohorts[name] = &QuotaNode{}
	}
	return t.cohorts[name]
}

func (t *CohortTree) hang(n, parent *QuotaNode) {
	n.parent = parent
	parent.children = append(parent.children, n)
}

func quotasOf(groups []resourceGroup) map[FlavorResource]nodeQuota {
	out := map[FlavorResource]nodeQuota{}
	limit := func(name corev1.ResourceName, q *resource.Quantity) int64 {
		if q == nil {
			return -1
		}
		return max(0, job.InBaseUnits(name, *q))
	}
	for _, g := range groups {
		for _, f := range g.Flavors {
			for _, r := range f.Resources {
				out[FlavorResource{f.Name, r.Name}] = nodeQuota{max(0, job.InBaseUnits(r.Name, r.NominalQuota)), limit(r.Name, r.BorrowingLimit), limit(r.Name, r.LendingLimit)}
			}
		}
	}
	return out
}

// add sums up quotas and usage from the leaves to the roots.
func (n *QuotaNode) add() {
	n.subtree = map[FlavorResource]int64{}
	for fr, q := range n.quotas {
		n.subtree[fr] = q.nominal
	}
	if n.usage == nil {
		n.usage = map[FlavorResource]int64{}
	}
	for _, child := range n.children {
		child.add()
		for fr, all := range child.subtree {
			n.subtree[fr] = saturate.Add(n.subtree[fr], all-child.kept(fr))
		}
		for fr, used := range child.usage {
			n.usage[fr] = saturate.Add(n.usage[fr], max(0, used-child.kept(fr)))
		}
	}
}

// kept is what a node never lends to its parent.
func (n *QuotaNode) kept(fr FlavorResource) int64 {
	if q, ok := n.quotas[fr]; ok && q.lend >= 0 {
		return max(0, n.subtree[fr]-q.lend)
	}
	return 0
}

// Shares says whether two nodes may use the quota of one tree.
func (n *QuotaNode) Shares(other *QuotaNode) bool { return n.root() == other.root() }

func (n *QuotaNode) root() *QuotaNode {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// Most is what the node could get if nothing were used.
func (n *QuotaNode) Most(fr FlavorResource) int64 {
	if n.parent == nil {
		return n.subtree[fr]
	}
	out := saturate.Add(n.kept(fr), n.parent.Most(fr))
	if q, ok := n.quotas[fr]; ok && q.borrow >= 0 {
		out = min(out, saturate.Add(n.subtree[fr], q.borrow))
	}
	return out
}

// Left is what the node could get now without preemption; it may be negative.
func (n *QuotaNode) Left(fr FlavorResource) int64 {
	if n.parent == nil {
		return n.subtree[fr] - n.usage[fr]
	}
	kept := n.kept(fr)
	above := n.parent.Left(fr)
	if q, ok := n.quotas[fr]; ok && q.borrow >= 0 {
		above = min(above, saturate.Add(n.subtree[fr]-kept-max(0, n.usage[fr]-kept), q.borrow))
	}
	return max(0, kept-n.usage[fr]) + above
}

// QueueBound is what a node has of one resource of one flavor.
type QueueBound struct {
	FlavorResource
	Nominal, Used int64
}

// Bounds are the node's own quotas, sorted by flavor and resource.
func (n *QuotaNode) Bounds() []QueueBound {
	out := make([]QueueBound, 0, len(n.quotas))
	for fr, q := range n.quotas {
		out = append(out, QueueBound{fr, q.nominal, n.usage[fr]})
	}
	slices.SortFunc(out, func(a, b QueueBound) int {
		return cmp.Or(cmp.Compare(a.Flavor, b.Flavor), cmp.Compare(a.Resource, b.Resource))
	})
	return out
}
