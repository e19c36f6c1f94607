package quota

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// mostParents is how many queues are asked, each the parent of the one before; a circle ends there too.
const mostParents = 16

// volcano asks Volcano's queue and those above it.
func (o *check) volcano() {
	name := o.gang.Queue
	queue := o.s.Rules().Volcano[name]
	if queue == nil {
		o.missingQueue(cluster.VolcanoKind, "", name)
		return
	}
	if name == volcanoRoot || o.hasChildren(name) {
		o.add(Violation{
			Rule: RuleQueueClosed, When: Never, Kind: "Queue", Name: name, Path: "spec.parent", At: o.gang.At,
			Message: "other queues are below it; Volcano takes jobs only for a queue that has none below it",
			Remedy:  "Name a queue that has none below it.",
		})
	}
	for range mostParents {
		if state := queue.Status.State; state == "Closed" || state == "Closing" {
			o.closedQueue("Queue", "", name, "status.state", "its state is %s; it takes jobs when that is Open", state)
		}
		o.queueAmounts("Queue", "", name, capability(queue.Spec.Capability), cluster.QuotaAmounts(queue.Status.Allocated), queue.Status.Allocated != nil, "spec.capability")
		if name = queue.Spec.Parent; name == "" || o.s.Rules().Volcano[name] == nil {
			return
		}
		queue = o.s.Rules().Volcano[name]
	}
	o.doubt("whether Volcano's queue %s has room is not judged, nor any above it: it is more than %d queues above %s, or above itself", name, mostParents-1, o.gang.Queue)
}

// volcanoRoot is above every queue that names no parent.
const volcanoRoot = "root"

// hasChildren says whether queues are below one: Volcano's webhook refuses jobs for it
// (volcano ed72c7c8 pkg/webhooks/admission/jobs/validate/admit_job.go, validateJobCreate).
func (o *check) hasChildren(name string) bool {
	for _, q := range o.s.Rules().Volcano {
		if q.Spec.Parent == name {
			return true
		}
	}
	return false
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
