package kinds

// jobSetExclusive puts each child Job into a topology of its own (sigs.k8s.io/jobset v0.10.1
// api/jobset/v1alpha2/jobset_types.go, ExclusiveKey).
const jobSetExclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology"

// jobSetNodeSelector says that somebody has labelled the nodes for the Jobs instead (NodeSelectorStrategyKey, there), each with
// the name of its Job, and keeps other pods away from them by a taint (NamespacedJobKey, NoScheduleTaintKey).
const (
	jobSetNodeSelector = "alpha.jobset.sigs.k8s.io/node-selector"
	jobSetNodeLabel    = "alpha.jobset.sigs.k8s.io/namespaced-job"
	jobSetNodeTaint    = "alpha.jobset.sigs.k8s.io/no-schedule"
)

// ReviewedAnnotations are the annotations of a job that say what work it asks for: where it queues, how many
// pods run together, and how they lie to each other. Operators write the others while a job runs.
func ReviewedAnnotations() []string {
	return []string{
		kueueQueue, kueuePriority, kueueMinParallelism, volcanoQueue, volcanoQueueOld, volcanoMinMember, kaiQueue, runaiQueue,
		jobSetExclusive, lwsExclusive, lwsSubExclusive,
	}
}
