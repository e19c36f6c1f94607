package capacity

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// volcanoQueue is what of Volcano's Queue is read: capability is what its jobs may hold
// together, deserved and guarantee are shares that no job breaks
// (https://github.com/volcano-sh/apis/blob/v1.13.0/pkg/apis/scheduling/v1beta1/types.go).
type volcanoQueue struct {
	Spec struct {
		Capability corev1.ResourceList `json:"capability"`
		Parent     string              `json:"parent"`
	} `json:"spec"`
	Status struct {
		State     string              `json:"state"`
		Allocated corev1.ResourceList `json:"allocated"`
	} `json:"status"`
}

// mostParents is how deep queues are followed; a circle ends there too.
const mostParents = 16

// volcano asks Volcano's queue and those above it.
func (o *obstacle) volcano() {
	name := o.gang.Queue
	queue := o.s.rules.volcano[name]
	if queue == nil {
		o.missingQueue(volcanoKind, "", name)
		return
	}
	for range mostParents {
		if state := queue.Status.State; state == "Closed" || state == "Closing" {
			o.closedQueue("Queue", "", name, "status.state", "its state is %s; it takes jobs when that is Open", state)
		}
		o.queueAmounts("Queue", "", name, capability(queue.Spec.Capability), quotaAmounts(queue.Status.Allocated), queue.Status.Allocated != nil, "spec.capability")
		if name = queue.Spec.Parent; name == "" || o.s.rules.volcano[name] == nil {
			return
		}
		queue = o.s.rules.volcano[name]
	}
}

// capability is what limits. No cpu or no memory is no limit, 0 of them neither
// (https://github.com/volcano-sh/volcano/blob/master/pkg/scheduler/plugins/capacity/capacity.go, newQueueAttr).
func capability(list corev1.ResourceList) job.Resources {
	out := job.ResourcesOf(list)
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if out[name] <= 0 {
			delete(out, name)
		}
	}
	return out
}
