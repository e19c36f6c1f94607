package assign

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// sharedClaim is a request of a ResourceClaim that pods share.
type sharedClaim struct {
	name    string
	request int
}

// SharedClaim is the beginning of ClaimUse.Claim where it is a ResourceClaim: no volume claim is called so.
const SharedClaim = "ResourceClaim "

// claimSpec is what a claim of a pod asks for; nil: nothing more. Not known: it may ask for something else.
func (cycle *Cycle) claimSpec(namespace string, of *corev1.PodResourceClaim) (spec *resourcev1.ResourceClaimSpec, known bool) {
	switch {
	case of.ResourceClaimTemplateName != nil:
		if template := cluster.Find[resourcev1.ResourceClaimTemplate](cycle.s.Index(), cluster.TemplateKind, namespace, *of.ResourceClaimTemplateName); template != nil {
			return &template.Spec.Spec, true
		}
	case of.ResourceClaimName != nil:
		claim := cluster.Find[resourcev1.ResourceClaim](cycle.s.Index(), cluster.ClaimGVK, namespace, *of.ResourceClaimName)
		switch {
		case claim == nil || claim.DeletionTimestamp != nil:
		case claim.Status.Allocation == nil:
			return &claim.Spec, true
		default:
			return nil, !slices.ContainsFunc(claim.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
				return len(r.BindingConditions)+len(r.SkipNodeOperations) > 0
			})
		}
	}
	return nil, false
}

// allocatedClaims closes the nodes from which the devices of a claim that has some are not reached. It keeps them
// as long as pods have it that are there; what no pod has the scheduler takes back where a pod finds no place with it
// (https://github.com/kubernetes/kubernetes/blob/v1.37.1/pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go,
// PostFilter), so that it proves no more than a yes.
func (cycle *Cycle) allocatedClaims(t *podFacts, namespace string, claims []corev1.PodResourceClaim) {
	for i := range claims {
		if claims[i].ResourceClaimName == nil {
			continue
		}
		claim := cluster.Find[resourcev1.ResourceClaim](cycle.s.Index(), cluster.ClaimGVK, namespace, *claims[i].ResourceClaimName)
		if claim == nil || claim.Status.Allocation == nil || claim.Status.Allocation.NodeSelector == nil || !cycle.Budget.Spend(2*len(cycle.s.Nodes())) {
			continue
		}
		on := make([]bool, len(cycle.s.Nodes()))
		for _, at := range cycle.s.SelectedBy(claim.Status.Allocation.NodeSelector) {
			on[at] = true
		}
		now, idle := cycle.holders(claim, on)
		if !now && !cycle.strict {
			t.claimMayMove = claim.Name
			continue
		}
		open := func(at int) bool { return on[at] }
		if closeNow(cycle.s, t, open); idle {
			closeWhereNot(cycle.s, t, open)
		}
	}
}

// holders says whether a pod that is there has a claim, and whether one has that stays on an idle cluster. UIDs of pods are
// not kept: it is a pod that is called so, on a node from which the devices are reached.
func (cycle *Cycle) holders(claim *resourcev1.ResourceClaim, reached []bool) (now, idle bool) {
	in := cycle.s.PodLists()[claim.Namespace]
	if len(claim.Status.ReservedFor) == 0 || in == nil {
		return false, false
	}
	for p := range in.All() {
		if !cycle.Budget.Spend(1) {
			return false, false
		}
		at, there := cycle.s.NodeAt(p.Node())
		if there && reached[at] && slices.ContainsFunc(claim.Status.ReservedFor, func(r resourcev1.ResourceClaimConsumerReference) bool {
			return r.APIGroup == "" && r.Resource == "pods" && r.Name == p.Name()
		}) {
			now, idle = true, idle || p.Resident() || cycle.stays[p]
		}
	}
	return now, idle
}

// shareDevices says that all pods with a claim take its devices once, and are where these are: on one node, unless
// several nodes may reach them. A plan has them on one node whatever they may be: what the first pod got is reached from there.
func (cycle *Cycle) shareDevices(t *podFacts, c *cluster.DeviceCount, role, name string, use *deviceUse) {
	node := SameNode
	if c.Several && !cycle.strict {
		node = AnyNode
	}
	if t.doubtDevices(c, role, name); c.Endless {
		name = "" // of which there is no number
	}
	t.shareOf(name, use, node)
}

// shareOf says that pods share devices that count for a limit.
func (t *podFacts) shareOf(name string, use *deviceUse, node oneNode) {
	for n := range use.count {
		t.Claims = append(t.Claims, ClaimUse{
			Claim: SharedClaim + use.shared.name, Driver: name, Node: node,
			Handle: fmt.Sprintf("%s/%d/%d", use.shared.name, use.shared.request, n),
		})
	}
}
