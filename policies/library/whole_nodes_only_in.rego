# METADATA
# title: whole nodes are for batch namespaces
# description: |
#   data.config.whole_node_namespaces: ["batch"] lists the namespaces whose jobs may take all
#   accelerators of a node with one pod.
# custom:
#   remedy: Submit in a namespace for batch jobs, or ask for fewer GPUs per pod.
package signalbox.whole_nodes_only_in

deny contains {"path": role.path, "msg": msg} if {
	is_array(data.config.whole_node_namespaces)
	not input.job.namespace in data.config.whole_node_namespaces
	input.cluster.known
	input.cluster.gpus_per_node > 0
	some role in input.job.roles
	role.gpus_per_pod >= input.cluster.gpus_per_node
	msg := sprintf("each pod of %s takes all GPUs of a node (%d of %d); jobs in namespace %s may not", [role.name, role.gpus_per_pod, input.cluster.gpus_per_node, input.job.namespace])
}
