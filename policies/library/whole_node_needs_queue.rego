# METADATA
# title: jobs that take whole nodes wait in a queue
# description: |
#   A job whose pods take all accelerators of a node blocks colleagues when it holds nodes
#   while it waits for the rest. In a queue it waits without holding any.
#   data.config.whole_node: {"namespaces": ["interactive"]} names the namespaces where
#   this holds; {"namespaces": ["*"]} means all.
# custom:
#   remedy: Submit through a queue, or ask for fewer GPUs per pod.
package signalbox.whole_node_needs_queue

guarded if "*" in data.config.whole_node.namespaces

guarded if input.job.namespace in data.config.whole_node.namespaces

deny contains {"path": role.path, "msg": msg} if {
	guarded
	input.cluster.known
	input.cluster.gpus_per_node > 0
	not input.job.queued
	some role in input.job.roles
	role.gpus_per_pod >= input.cluster.gpus_per_node
	msg := sprintf("each pod of %s takes all GPUs of a node (%d of %d), and the job %s", [role.name, role.gpus_per_pod, input.cluster.gpus_per_node, waits])
}

waits := "names no queue" if input.job.queue == ""

waits := sprintf("names queue %s, which nobody reads there", [input.job.queue]) if input.job.queue != ""
