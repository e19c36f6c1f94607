package controller

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

const (
	// nodesEvery is how often the view of the cluster is asked which nodes are not ready.
	nodesEvery = 2 * time.Second
	// steady is how long a node must be so before the jobs on it are looked at: kubelets start again.
	steady = 5 * time.Second
	// mournedFor is how long a node that is gone is remembered: its pods are deleted within a minute.
	mournedFor = 10 * time.Minute
)

// nodes are the nodes that are not ready, or gone. Where a kubelet itself says that it is not ready, or nothing else does, the pods on it stay
// Ready until they are evicted, five minutes later (kubernetes/kubernetes, pkg/controller/nodelifecycle: only a node that
// stops answering has its pods marked): nothing else changes of the job.
type nodes struct {
	mu   sync.Mutex
	last []*cluster.Node // by name
	down map[string]outage
}

// outage is what is wrong with a node, and since when.
type outage struct {
	since time.Time
	gone  bool // or there, and not ready
}

// see takes the nodes of a view, all that there are, and returns those that have come to be ready, not ready or gone since the last.
func (n *nodes) see(all []*cluster.Node, now time.Time) (changed []*cluster.Node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	down, there := map[string]outage{}, make(map[string]bool, len(all))
	for _, node := range all {
		there[node.Name] = true
		before, lost := n.down[node.Name]
		if lost == node.Ready || before.gone {
			changed = append(changed, node)
		}
		switch {
		case node.Ready:
		case lost && !before.gone:
			down[node.Name] = before
		default:
			down[node.Name] = outage{since: now}
		}
	}
	for _, node := range n.last {
		if !there[node.Name] {
			down[node.Name] = outage{since: now, gone: true}
			changed = append(changed, node)
		}
	}
	for name, before := range n.down { // gone before the last look
		if before.gone && !there[name] && now.Sub(before.since) < mournedFor {
			down[name] = before
		}
	}
	n.last, n.down = all, down
	return changed
}

// under says of the nodes that pods of a job run on which are not ready and which are gone, sorted, and since when the first is so; zero: all are ready.
func (n *nodes) under(pods []corev1.Pod) (lost []string, since time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.down) == 0 {
		return nil, since
	}
	on := map[string]bool{}
	for i := range pods {
		p := &pods[i]
		o, down := n.down[p.Spec.NodeName]
		if !down || p.Status.Phase != corev1.PodRunning {
			continue
		}
		if since.IsZero() || o.since.Before(since) {
			since = o.since
		}
		if o.gone {
			on[p.Spec.NodeName+" gone"] = true
		} else {
			on[p.Spec.NodeName] = true
		}
	}
	return slices.Sorted(maps.Keys(on)), since
}

// follow has the jobs looked at whose nodes come to be not ready, gone, or ready again, until the context is done.
func (n *nodes) follow(ctx context.Context, view func() *cluster.Snapshot, cache client.Reader, now func() time.Time, look func(*corev1.Pod, time.Duration)) {
	ticker := time.NewTicker(nodesEvery)
	defer ticker.Stop()
	for {
		if s := view(); s.Holds(corev1.Resource("nodes")) { // before, nodes that are not in it are not gone
			for _, node := range n.see(s.Nodes(), now()) {
				for _, p := range node.Pods() {
					var pod corev1.Pod
					if cache.Get(ctx, client.ObjectKey{Namespace: p.Namespace(), Name: p.Name()}, &pod) == nil {
						look(&pod, steady)
					}
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
