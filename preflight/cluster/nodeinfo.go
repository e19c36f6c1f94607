package cluster

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
)

// nodeInfo is a node in a store and the pods on it. It changes with every pod that comes or
// goes; snapshots get digests of it.
type nodeInfo struct {
	name           string
	object         *corev1.Node // nil: the node is not known, pods only name it
	pods           []*Pod       // by namespace and name
	used, resident amounts
	shown          bool // snapshots have the three above: copy before writing
	saturated      bool // a sum has hit the ceiling, from which nothing can be taken away

	allocatable   job.Resources
	has           []int64 // allocatable, by column; nil: not worked out
	round         int     // of those columns
	ready, silent bool
	taints        string // as text
	grows         growth

	mounts           []mount
	attachments      []nodeAttachment // those of attachmentsKnown
	attached         []AttachedVolume // those of volumesKnown
	attachLimits     []attachLimit    // those of limitsKnown
	attachmentsKnown bool
	volumesKnown     bool
	limitsKnown      bool

	node    *Node // as the last snapshot has it
	class   *nodeClass
	shape   *nodeShape
	at      int  // in the order of known nodes, as of the last snapshot
	touched bool // since the last snapshot
}

// take replaces the node itself. same says that it offers what it offered before, more or
// less of it.
func (b *nodeInfo) take(n *corev1.Node) (same bool) {
	b.object = n
	b.ready, b.silent = readiness(n)
	b.allocatable, same = allocatableOf(n, b.silent, b.allocatable)
	b.has = nil
	b.taints = podspec.TaintsText(n.Spec.Taints)
	b.grows = growthOf(n)
	return same
}

// own makes what snapshots have writable, with room for one more pod.
func (b *nodeInfo) own() {
	if b.shown {
		b.shown = false
		b.pods = append(make([]*Pod, 0, len(b.pods)+1), b.pods...)
		b.used, b.resident = slices.Clone(b.used), slices.Clone(b.resident)
	}
}

// addPod adds a pod.
func (b *nodeInfo) addPod(p *Pod) {
	b.own()
	at, _ := slices.BinarySearchFunc(b.pods, p, (*Pod).Compare)
	b.pods = slices.Insert(b.pods, at, p)
	b.add(p)
}

func (b *nodeInfo) add(p *Pod) {
	b.used = b.used.plus(p)
	if p.resident {
		b.resident = b.resident.plus(p)
	}
	b.saturated = b.saturated || p.ceiling(b.used)
}

// removePod takes a pod away.
func (b *nodeInfo) removePod(p *Pod) {
	at, ok := slices.BinarySearchFunc(b.pods, p, (*Pod).Compare)
	if !ok {
		return
	}
	b.own()
	b.pods = slices.Delete(b.pods, at, at+1)
	if b.saturated { // count anew
		b.used, b.resident, b.saturated = nil, nil, false
		for _, p := range b.pods {
			b.add(p)
		}
		return
	}
	b.used = b.used.minus(p)
	if p.resident {
		b.resident = b.resident.minus(p)
	}
}

// digest writes down the node as it is now, for snapshots to keep.
func (b *nodeInfo) digest() {
	b.shown = true
	b.node = &Node{
		Name: b.name, Labels: b.object.Labels, Taints: b.object.Spec.Taints,
		Ready: b.ready, silent: b.silent, Cordoned: b.object.Spec.Unschedulable,
		Allocatable: b.allocatable, used: b.used, resident: b.resident,
		object: b.object, pods: b.pods, attached: b.attached, attachLimits: b.attachLimits,
	}
}

// ceiling says whether a sum with the pod in it has hit the largest number there is.
func (p *Pod) ceiling(sum amounts) bool {
	return slices.ContainsFunc(*p.requests, func(a Amount) bool { return sum.of(a.Name) == math.MaxInt64 })
}

// amounts are what pods take in sum, by the names of resources; 0 is left out.
type amounts []Amount

// find is where a resource is, or would be.
func (s amounts) find(name corev1.ResourceName) (at int, ok bool) {
	for at < len(s) && s[at].Name < name {
		at++
	}
	return at, at < len(s) && s[at].Name == name
}

func (s amounts) of(name corev1.ResourceName) int64 {
	if at, ok := s.find(name); ok {
		return s[at].N
	}
	return 0
}

// plus adds a pod, and itself as one of the resource "pods".
func (s amounts) plus(p *Pod) amounts {
	add := func(name corev1.ResourceName, n int64) {
		at, ok := s.find(name)
		if !ok {
			s = slices.Insert(s, at, Amount{name, 0})
		}
		s[at].N = saturate.Add(s[at].N, n)
	}
	for _, a := range *p.requests {
		add(a.Name, a.N)
	}
	add(corev1.ResourcePods, 1)
	return s
}

// minus takes a pod out that is in the sum.
func (s amounts) minus(p *Pod) amounts {
	take := func(name corev1.ResourceName, n int64) {
		at, _ := s.find(name)
		if s[at].N -= n; s[at].N == 0 {
			s = slices.Delete(s, at, at+1)
		}
	}
	for _, a := range *p.requests {
		take(a.Name, a.N)
	}
	take(corev1.ResourcePods, 1)
	return s
}

// marks count what some nodes say that matters for all.
type marks struct {
	silent, lacking    int
	karpenter, cluster int
}

func (m *marks) add(b *nodeInfo, n int) {
	if b.object == nil {
		return
	}
	if b.silent {
		m.silent += n
	}
	if !b.ready || b.object.Spec.Unschedulable || slices.ContainsFunc(b.object.Spec.Taints, func(t corev1.Taint) bool { return podspec.TransientTaint(t.Key) }) {
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
