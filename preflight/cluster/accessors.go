package cluster

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// What the accessors below return is read-only.

// PodLists are the live pods by namespace.
func (s *Snapshot) PodLists() map[string]*PodList { return s.podsIn }

// PodsWithAntiAffinity are the live pods on nodes that have required anti-affinity of their own.
func (s *Snapshot) PodsWithAntiAffinity() []*Pod { return s.withAntiAffinity }

// Nominated are the pods that wait for room which others make on a node: kube-scheduler keeps it for them from all
// pods that are not above them.
func (s *Snapshot) Nominated() []*Pod { return s.nominated }

// NominatedTo is that node; empty: there is none.
func (p *Pod) NominatedTo() string { return p.nominated }

// Yielding says that some pod may have to give way to pods that name no priority class, whose priority is 0.
func (s *Snapshot) Yielding() bool { return s.yielding > 0 }

// Index is the objects of the view as they were read.
func (s *Snapshot) Index() Objects { return s.objects }

// Rules are what objects say that stand between jobs and nodes.
func (s *Snapshot) Rules() *Rules { return s.rules }

// Allocated is how many devices claims hold.
func (s *Snapshot) Allocated() int { return s.allocated.count }

// PodsScope is the only namespace whose pods are in the view; empty: there are several, or the
// view was declared whole.
func (s *Snapshot) PodsScope() string { return s.podsScope }

// Silent is how many nodes say nothing about their health.
func (s *Snapshot) Silent() int { return s.silent }

// Lacking says that some nodes are not ready, take no pods or carry the taint of a condition.
func (s *Snapshot) Lacking() bool { return s.lacking }

// Object is the node as the API has it.
func (n *Node) Object() *corev1.Node { return n.object }

// Pods are the pods that take room on the node, by namespace and name.
func (n *Node) Pods() []*Pod { return n.pods }

// Attached are the volumes that are attached to the node.
func (n *Node) Attached() []AttachedVolume { return n.attached }

// Node is the name of the node that the pod is on; empty: it waits for one.
func (p *Pod) Node() string { return p.node }

// HostPorts are the ports of the node that the pod takes.
func (p *Pod) HostPorts() []podspec.HostPort { return p.ports }

// AntiAffinity are the required terms that keep other pods away.
func (p *Pod) AntiAffinity() []PodTerm { return p.apart }

// Claims are the names of the volume claims that the pod uses.
func (p *Pod) Claims() []string { return p.claims }

// Disks are the volumes that are written into the pod itself.
func (p *Pod) Disks() []podspec.Disk { return p.disks }

// Resident says that the pod stays on an idle cluster: of a DaemonSet, or static.
func (p *Pod) Resident() bool { return p.resident }

// Deleted says that the pod is being deleted.
func (p *Pod) Deleted() bool { return p.deleted }
