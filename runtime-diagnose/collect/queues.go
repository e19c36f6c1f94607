package collect

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// t9kQueues are where the scheduler of T9k keeps jobs waiting, and what says how old their pods may become.
// Where queues live is not documented, so that they are listed and not asked for.
var t9kQueues = schema.GroupVersionKind{Group: "scheduler.tensorstack.dev", Version: "v1beta1", Kind: "Queue"}

// readT9kQueue reads the queue that the job is in, where T9k's scheduler places its pods.
func (r *reading) readT9kQueue(ctx context.Context) {
	if r.out.Job == nil || r.out.Job.Gang.Scheduler != "t9k-scheduler" || r.out.Job.Gang.Queue == "" {
		return
	}
	name := r.out.Job.Gang.Queue
	m, err := r.mapping(t9kQueues.GroupKind(), t9kQueues.Version)
	if err != nil {
		if !meta.IsNoMatchError(err) {
			r.missing("Queue "+name, err)
		}
		return
	}
	list, err := r.Dynamic.Resource(m.Resource).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, Limit: mostQueues})
	if err != nil {
		r.missing("Queue "+name, err)
		return
	}
	if list.GetContinue() != "" {
		r.missing("Queue "+name, fmt.Errorf("more than %d namespaces have one; the rest was not read", mostQueues))
	}
	for i := range list.Items {
		u := &list.Items[i]
		if u.GetName() != name {
			continue // a server that does not select
		}
		u.SetGroupVersionKind(t9kQueues)
		r.owners.between[u.GetUID()] = u
	}
}

// mostQueues bounds the queues of one name.
const mostQueues = 20
