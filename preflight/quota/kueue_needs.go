package quota

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// kueueVersions are those in which the objects below may be in a view.
var kueueVersions = []string{"v1beta2", "v1beta1", "v1alpha1"}

// kueueObject finds an object of Kueue in any version; namespace is empty for those that have none.
func (o *check) kueueObject(kind, namespace, name string) (*unstructured.Unstructured, job.Presence) {
	gk := schema.GroupKind{Group: cluster.ClusterKind.Group, Kind: kind}
	for _, version := range kueueVersions {
		if found, is := o.s.Lookup(gk.WithVersion(version), namespace, name); is == job.Present {
			return found, is
		}
	}
	if o.s.Holds(cluster.ResourceOf(gk.WithVersion(""))) {
		return nil, job.Absent
	}
	return nil, job.Unknown
}

// topologyKind is the kind of what says by which labels of nodes places lie near each other.
const topologyKind = "Topology"

// levels are the labels of nodes that a Topology has as its levels; false: it was not read.
func (o *check) levels(name string) (keys []string, known bool) {
	topology, is := o.kueueObject(topologyKind, "", name)
	if is != job.Present {
		return nil, false
	}
	levels, _, err := unstructured.NestedSlice(topology.Object, "spec", "levels")
	for _, l := range levels {
		level, _ := l.(map[string]any)
		key, _ := level["nodeLabel"].(string)
		keys = append(keys, key)
	}
	return keys, err == nil
}

// flavorsThere reports a flavor, or the topology of one, that does not exist: the ClusterQueue is not active then, whatever its
// status still says (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/cache/scheduler/clusterqueue.go, inactiveReason).
func (o *check) flavorsThere(name string, queue *cluster.ClusterQueue) {
	for at, g := range queue.Spec.ResourceGroups {
		for k, f := range g.Flavors {
			where := job.Path("spec.resourceGroups").Index(at).Child("flavors").Index(k).Child("name")
			flavor := o.s.Rules().Flavors[f.Name]
			var topology string
			if flavor != nil {
				topology = flavor.Spec.TopologyName
			}
			switch _, is := o.kueueObject(topologyKind, "", topology); {
			case flavor == nil && o.s.WhyUnread(cluster.FlavorKind, "", f.Name) != "":
				o.doubt("what the flavor %s of ClusterQueue %s asks for is not known: %s", f.Name, name, o.s.WhyUnread(cluster.FlavorKind, "", f.Name))
			case flavor == nil && len(o.s.Rules().Flavors) > 0 && o.flavorAbsent(f.Name): // by hand, queues are written without any
				o.closedQueue("ClusterQueue", "", name, where, "its flavor %s does not exist", f.Name)
				return
			case topology != "" && is == job.Absent:
				o.closedQueue("ClusterQueue", "", name, where, "the Topology %s of its flavor %s does not exist", topology, f.Name)
				return
			case topology != "" && is == job.Unknown:
				o.doubt("the Topology %s of flavor %s was not read; whether ClusterQueue %s is active without it, and which levels it has, is not known", topology, f.Name, name)
			}
		}
	}
}

func (o *check) flavorAbsent(name string) bool {
	_, is := o.kueueObject(cluster.FlavorKind.Kind, "", name)
	return is == job.Absent
}

// usageTold says where it is not known what of the quota is used: the status of a queue that shares it does not tell, and
// neither do workloads. A queue that is written by hand, without a word of Kueue's, is taken to be unused.
func (o *check) usageTold(node *cluster.QuotaNode) {
	workloads := cluster.ResourceOf(cluster.WorkloadKind.WithVersion(""))
	held, _ := o.s.Objects(cluster.WorkloadKind, "")
	for _, name := range slices.Sorted(maps.Keys(o.s.Rules().Cluster)) {
		queue := o.s.Rules().Cluster[name]
		switch {
		case !queue.Silent() || !o.s.Rules().Tree.Queues[name].Shares(node):
		case o.s.AnyUnread(cluster.WorkloadKind):
			o.doubt("the status of ClusterQueue %s does not say what is used of it, and a Workload could not be read", name)
		case len(held) > 0 || o.s.Holds(workloads):
			if len(held) > 0 {
				o.note("the status of ClusterQueue %s does not say what is used of it; what the workloads hold that it has admitted is counted", name)
			}
		case len(queue.Status.Conditions) > 0:
			o.doubt("the status of ClusterQueue %s does not say what is used of it, and no workloads were read", name)
		}
	}
}

// prebuilt reports a Workload that the job names and nobody has made: the job waits for it
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/controller/jobframework/reconciler.go, ensureOneWorkload).
func (o *check) prebuilt() {
	name := o.gang.Prebuilt
	if name == "" {
		return
	}
	switch _, is := o.kueueObject(cluster.WorkloadKind.Kind, o.gang.Namespace, name); is {
	case job.Present:
	case job.Unknown:
		o.doubt("the Workload %s, which the job waits for, was not read", name)
	case job.Absent:
		o.add(Violation{
			Rule: RuleObject, When: Now, Kind: cluster.WorkloadKind.Kind, Namespace: o.gang.Namespace, Name: name, Path: nameOfObject, At: o.gang.At,
			Message: "it does not exist, and Kueue makes no other for a job that names it",
		})
	}
}

// queueOfPods is about a queue that is named where Kueue does not look for that of the job: on its pods, or in an annotation. Where
// Kueue queues pods by themselves, each waits alone; where it does not, they start without a queue
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/controller/jobframework/utils.go, QueueNameForObject, and
// https://kueue.sigs.k8s.io/docs/tasks/run/plain_pods/).
func (o *check) queueOfPods() {
	alone := &check{s: o.s, gang: o.gang, exist: o.exist}
	alone.kueue()
	const text = "queue %s is named where Kueue does not read that of a job: its pods start without it, unless Kueue queues each by itself"
	switch {
	case len(alone.violations) > 0:
		o.doubt(text+"; then %s %s: %s", o.gang.Queue, alone.violations[0].Kind, alone.violations[0].Name, alone.violations[0].Message)
	case len(alone.doubts) > 0:
		o.doubt(text+"; then %s", o.gang.Queue, alone.doubts[0])
	default:
		o.note(text, o.gang.Queue)
	}
}

// queuePriority reports a priority class of Kueue's own that does not exist: the job gets no Workload then, and waits for ever
// (https://github.com/kubernetes-sigs/kueue/blob/v0.19.0/pkg/util/priority/priority.go, GetPriorityFromWorkloadPriorityClass).
func (o *check) queuePriority() {
	const kind = "WorkloadPriorityClass"
	class := o.gang.QueuePriority
	if class == "" {
		return
	}
	switch _, is := o.kueueObject(kind, "", class); is {
	case job.Present:
		return
	case job.Unknown:
		o.doubt("the %s %s was not read; Kueue queues no job that names one which does not exist", kind, class)
		return
	case job.Absent:
	}
	o.add(Violation{
		Rule: RuleObject, When: Never, Kind: kind, Name: class, Path: nameOfObject, At: job.Path("metadata.labels").Key(gang.QueuePriorityLabel),
		Message: "it does not exist, and Kueue queues no job that names it",
		Others:  o.s.NamesOf(schema.GroupKind{Group: cluster.ClusterKind.Group, Kind: kind}, ""),
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
