package cluster

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/podspec"
)

// Node is what the fit knows of one node. Amounts are as in job.Resources.
type Node struct {
	Name            string
	Labels          map[string]string
	Taints          []corev1.Taint
	Ready, Cordoned bool
	Allocatable     job.Resources

	used, resident amounts
	object         *corev1.Node
	silent         bool   // the node says nothing about its health
	pods           []*Pod // that take room, by namespace and name
	attached       []AttachedVolume
	attachLimits   []attachLimit
}

// Used is what the pods on the node take of a resource.
func (n *Node) Used(r corev1.ResourceName) int64 { return n.used.of(r) }

// Resident is the part of Used that stays on an idle cluster: DaemonSet and static pods.
func (n *Node) Resident(r corev1.ResourceName) int64 { return n.resident.of(r) }

// Free is what is left of a resource; 0 where more is used than there is.
func (n *Node) Free(r corev1.ResourceName) int64 { return n.FreeWithout(r, 0) }

// Idle is what would be free without any pod that can go away.
func (n *Node) Idle(r corev1.ResourceName) int64 {
	return left(offer(n.Allocatable, r, n.silent), n.resident.of(r))
}

// unlimited is what a node offers of a resource without a bound.
const unlimited = -1

// offer is what a node offers of a resource: none of what it does not name, as in the scheduler. Only one that
// was written by hand is not limited by a number of pods that is not written.
func offer(allocatable job.Resources, r corev1.ResourceName, silent bool) int64 {
	all, said := allocatable[r]
	if !said && r == corev1.ResourcePods && silent {
		return unlimited
	}
	return max(0, all)
}

func left(offered, used int64) int64 {
	if offered == unlimited {
		return math.MaxInt64
	}
	return offered - min(used, offered)
}

// readiness reads the Ready condition. A node without any condition has been written by
// hand (a kubelet registers with its conditions): it counts as ready, and is silent.
func readiness(n *corev1.Node) (ready, silent bool) {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue, false
		}
	}
	silent = len(n.Status.Conditions) == 0
	return silent, silent
}

// allocatableOf falls back to the capacity where a node that was written by hand (silent) says no more.
// same says that it names the resources that it named before.
func allocatableOf(n *corev1.Node, silent bool, before job.Resources) (out job.Resources, same bool) {
	list := n.Status.Allocatable
	if len(list) == 0 && silent {
		list = n.Status.Capacity
	}
	out, same = make(job.Resources, len(list)), len(list) == len(before)
	for name, q := range list {
		out[name] = job.InBaseUnits(name, q)
		if same {
			_, same = before[name]
		}
	}
	return out, same
}

// Pod is what a view keeps of a pod that exists: what it takes, whom it keeps away, and
// the metadata that says whose it is. It is a twentieth of the pod's size. Immutable.
type Pod struct {
	labelSet           // with the template, which says the rest
	*podMore           // never nil
	requests *[]Amount // by name; never nil
	name     string
	node     string // empty: waits for a place
	priority int32  // as admission wrote it
	resident bool   // stays on an idle cluster
	deleted  bool   // is being deleted
	ended    bool   // takes no room any more
}

// podMore is what few pods have.
type podMore struct {
	annotations map[string]string
	ports       []podspec.HostPort
	apart       []PodTerm // required anti-affinity
	claims      []string  // names of those it uses
	disks       []podspec.Disk
	class       string // its priority class, where the number is not written
	nominated   string // the node where others make room for it, while it waits
}

func (m *podMore) empty() bool {
	return len(m.annotations)+len(m.ports)+len(m.apart)+len(m.claims)+len(m.disks)+len(m.class)+len(m.nominated) == 0
}

// Owner is the controller of a pod.
type Owner struct{ Kind, Name, UID string }

// Amount is one entry of a resource vector.
type Amount struct {
	Name corev1.ResourceName
	N    int64
}

// PodOf keeps of a pod what counts. Annotations and affinity are shared with it.
func PodOf(p *corev1.Pod) *Pod {
	occupied := podspec.OccupiedList(p)
	requests := make([]Amount, 0, len(occupied))
	for name, q := range occupied {
		if n := job.InBaseUnits(name, q); n > 0 {
			requests = append(requests, Amount{name, n})
		}
	}
	slices.SortFunc(requests, func(a, b Amount) int { return strings.Compare(string(a.Name), string(b.Name)) })
	var owner Owner
	if o := metav1.GetControllerOfNoCopy(p); o != nil {
		owner = Owner{o.Kind, o.Name, string(o.UID)}
	}
	r := newPod(p.Namespace, owner, p.Labels)
	r.requests, r.name, r.node = sharedVector(requests), p.Name, p.Spec.NodeName
	r.resident, r.deleted = isResident(p), p.DeletionTimestamp != nil
	r.ended = p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	more := podMore{
		annotations: p.Annotations, ports: podspec.HostPorts(&p.Spec), apart: podTermsOf(podspec.AntiAffinity(&p.Spec), p.Namespace),
		claims: podspec.ClaimNames(p), disks: podspec.PodDisks(p),
	}
	if p.Spec.Priority != nil {
		r.priority = *p.Spec.Priority
	} else {
		more.class = p.Spec.PriorityClassName
	}
	if r.node == "" {
		more.nominated = p.Status.NominatedNodeName
	}
	if !more.empty() {
		few := more
		r.podMore = &few
	}
	return r
}

// Name of the pod.
func (p *Pod) Name() string { return p.name }

// Equal says that two pods count alike in every view.
func (p *Pod) Equal(q *Pod) bool {
	return p.name == q.name && p.node == q.node &&
		p.resident == q.resident && p.deleted == q.deleted && p.ended == q.ended &&
		p.priority == q.priority && p.class == q.class && p.nominated == q.nominated &&
		p.template.alike(q.template) && slices.Equal(*p.requests, *q.requests) && p.labelSet.equal(&q.labelSet) && slices.Equal(p.ports, q.ports) &&
		slices.Equal(p.claims, q.claims) && slices.Equal(p.disks, q.disks) && maps.Equal(p.annotations, q.annotations) &&
		slices.EqualFunc(p.apart, q.apart, PodTerm.Equal)
}

// mirrorAnnotation marks the API's image of a static pod
// (https://pkg.go.dev/k8s.io/api/core/v1#MirrorPodAnnotationKey).
const mirrorAnnotation = corev1.MirrorPodAnnotationKey

// isResident says whether a pod comes back to its node by itself.
func isResident(p *corev1.Pod) bool {
	if _, static := p.Annotations[mirrorAnnotation]; static {
		return true
	}
	return slices.ContainsFunc(p.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "DaemonSet" && o.Controller != nil && *o.Controller
	})
}

// FreeWithout is Free if so much less were used.
func (n *Node) FreeWithout(r corev1.ResourceName, gone int64) int64 {
	return left(offer(n.Allocatable, r, n.silent), n.used.of(r)-gone)
}

// Takes is what a pod takes of a resource.
func (p *Pod) Takes(name corev1.ResourceName) int64 {
	if name == corev1.ResourcePods {
		return 1
	}
	for _, a := range *p.requests {
		if a.Name == name {
			return a.N
		}
	}
	return 0
}

// Missing is how many devices the node has and does not offer: the device plugin found
// them unhealthy. 0 for what is not counted in devices.
func (n *Node) Missing(r corev1.ResourceName) int64 {
	if n.object == nil || job.AcceleratorUnit(r) != job.Device {
		return 0
	}
	has, ok := n.object.Status.Capacity[r]
	if _, offered := n.object.Status.Allocatable[r]; !ok || !offered {
		return 0
	}
	return max(0, job.InBaseUnits(r, has)-n.Allocatable[r])
}
