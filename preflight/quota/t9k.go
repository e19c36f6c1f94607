package quota

import (
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// t9k asks the queue of the T9k scheduler. Of queues of one name in several namespaces
// it is not known which is meant.
func (o *check) t9k() {
	queues := o.s.Rules().T9k[o.gang.Queue]
	switch len(queues) {
	case 0:
		o.missingQueue(cluster.T9kQueueKind, "", o.gang.Queue)
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
	o.queueAmounts("Queue", q.Metadata.Namespace, o.gang.Queue, job.ResourcesOf(q.Spec.Quota.Requests), cluster.QuotaAmounts(q.Status.Allocated),
		q.Status.Allocated != nil, "spec.quota.requests")
}
