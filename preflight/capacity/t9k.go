package capacity

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
)

// t9kQueue is what of TensorStack's Queue is read, as far as its manual says what it means
// (https://github.com/t9k/user-manuals/tree/master/src/modules/scheduling). The shapes of
// pods that a queue takes and the namespaces it serves are not judged.
type t9kQueue struct {
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		Quota struct {
			Requests corev1.ResourceList `json:"requests"`
		} `json:"quota"`
		Closed bool `json:"closed"`
	} `json:"spec"`
	Status struct {
		Allocated corev1.ResourceList `json:"allocated"`
	} `json:"status"`
}

// t9k asks the queue of the T9k scheduler. Of queues of one name in several namespaces
// nobody knows which is meant.
func (o *obstacle) t9k() {
	queues := o.s.rules.t9k[o.gang.Queue]
	switch len(queues) {
	case 0:
		o.missingQueue(t9kQueueKind, "", o.gang.Queue)
		return
	case 1:
	default:
		o.note("%d queues of the T9k scheduler are called %s; none is judged", len(queues), o.gang.Queue)
		return
	}
	q := queues[0]
	if q.Spec.Closed {
		o.closedQueue("Queue", q.Metadata.Namespace, o.gang.Queue, "spec.closed", "it is closed; it takes no jobs until it is opened")
	}
	o.queueAmounts("Queue", q.Metadata.Namespace, o.gang.Queue, job.ResourcesOf(q.Spec.Quota.Requests), quotaAmounts(q.Status.Allocated),
		q.Status.Allocated != nil, "spec.quota.requests")
}
