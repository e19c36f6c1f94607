package kinds

// jobSetExclusive puts each child Job into a topology of its own (sigs.k8s.io/jobset v0.10.1
// api/jobset/v1alpha2/jobset_types.go, ExclusiveKey).
const jobSetExclusive = "alpha.jobset.sigs.k8s.io/exclusive-topology"

// jobSetNodeSelector says that somebody has labelled the nodes for the Jobs instead (NodeSelectorStrategyKey, there).
const jobSetNodeSelector = "alpha.jobset.sigs.k8s.io/node-selector"

// ReviewedAnnotations are the annotations of a job that say what work it asks for: where it queues, how many
// pods run together, and how they lie to each other. Operators write the others while a job runs.
func ReviewedAnnotations() []string {
	return []string{
		kueueQueue, kueuePriority, kueueMinParallelism, volcanoQueue, volcanoQueueOld, volcanoMinMember, kaiQueue, runaiQueue,
		jobSetExclusive, lwsExclusive, lwsSubExclusive,
	}
}
