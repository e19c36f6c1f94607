package quota

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// kueueVersions are those in which the objects below may be in a view.
var kueueVersions = []string{"v1beta2", "v1beta1", "v1alpha1"}

// kueueObject says whether an object of Kueue without a namespace is there, in any version.
func (o *check) kueueObject(kind, name string) job.Presence {
	gk := schema.GroupKind{Group: cluster.ClusterKind.Group, Kind: kind}
	for _, version := range kueueVersions {
		if _, is := o.s.Lookup(gk.WithVersion(version), "", name); is == job.Present {
			return job.Present
		}
	}
	if o.s.Holds(cluster.ResourceOf(gk.WithVersion(""))) {
		return job.Absent
	}
	return job.Unknown
}

// flavorsThere reports a flavor, or the topology of one, that does not exist: the ClusterQueue is not active then, whatever its
// status still says (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/cache/scheduler/clusterqueue.go, inactiveReason).
func (o *check) flavorsThere(name string, queue *cluster.ClusterQueue) {
	for at, g := range queue.Spec.ResourceGroups {
		for k, f := range g.Flavors {
			where := job.Path("spec.resourceGroups").Index(at).Child("flavors").Index(k).Child("name")
			flavor := o.s.Rules().Flavors[f.Name]
			switch {
			case flavor == nil && len(o.s.Rules().Flavors) > 0 && o.kueueObject(cluster.FlavorKind.Kind, f.Name) == job.Absent: // by hand, queues are written without any
				o.closedQueue("ClusterQueue", "", name, where, "its flavor %s does not exist", f.Name)
				return
			case flavor != nil && flavor.Spec.TopologyName != "" && o.kueueObject("Topology", flavor.Spec.TopologyName) == job.Absent:
				o.closedQueue("ClusterQueue", "", name, where, "the Topology %s of its flavor %s does not exist", flavor.Spec.TopologyName, f.Name)
				return
			}
		}
	}
}

// queuePriority reports a priority class of Kueue's own that does not exist: the job gets no Workload then, and waits for ever
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/util/priority/priority.go, GetPriorityFromWorkloadPriorityClass).
func (o *check) queuePriority() {
	const kind = "WorkloadPriorityClass"
	class := o.gang.QueuePriority
	if class == "" || o.kueueObject(kind, class) != job.Absent {
		return
	}
	o.add(Violation{
		Rule: RuleObject, When: Never, Kind: kind, Name: class, Path: nameOfObject, At: job.Path("metadata.labels").Key(gang.QueuePriorityLabel),
		Message: "it does not exist, and Kueue queues no job that names it",
		Others:  namesOf(o.s, schema.GroupKind{Group: cluster.ClusterKind.Group, Kind: kind}, ""),
	})
}

// behind is in doubt where jobs wait in a queue that lets no other pass them
// (https://kueue.sigs.k8s.io/docs/concepts/cluster_queue/#queueing-strategy).
func (o *check) behind(name string, queue *cluster.ClusterQueue) {
	waiting := int(queue.Status.PendingWorkloads)
	if o.gang.Exists {
		waiting-- // its own is among them
	}
	if queue.Strict() && waiting > 0 {
		o.doubt("ClusterQueue %s is StrictFIFO and %s in it: the job waits until those before it are let in", name, words.Count(waiting, "workload waits", "workloads wait"))
	}
}
