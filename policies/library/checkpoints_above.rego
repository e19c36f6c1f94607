# METADATA
# title: large jobs keep their checkpoints
# description: |
#   A job that loses its pods loses what it computed since it began, unless it writes to storage
#   that outlasts them. data.config.checkpoints: {"above_gpus": 16, "namespaces": ["*"]} says above
#   how many GPUs, and where, what trains mounts a volume that lasts. A path of the node does not
#   count: the next pod may run elsewhere.
# custom:
#   remedy: Mount a persistent volume where checkpoints are written.
package signalbox.checkpoints_above

guarded if "*" in data.config.checkpoints.namespaces

guarded if input.job.namespace in data.config.checkpoints.namespaces

kept if {
	some role in input.job.roles
	role.keeps_files
}

# What a runtime adds was not seen; it may bring the volume.
unseen if {
	some role in input.job.roles
	role.partial
}

deny contains {"path": "spec", "msg": msg} if {
	guarded
	input.job.gpus > data.config.checkpoints.above_gpus
	not kept
	not unseen
	msg := sprintf("the job asks for %s and mounts nothing that outlasts its pods; a job with more than %d keeps its checkpoints", [gpus, data.config.checkpoints.above_gpus])
}

gpus := "1 GPU" if input.job.gpus == 1

gpus := sprintf("%d GPUs", [input.job.gpus]) if input.job.gpus != 1
