# METADATA
# title: large jobs end by themselves
# description: |
#   A job that hangs holds its GPUs until somebody looks. data.config.deadlines: {"above_gpus": 16,
#   "most_seconds": 604800, "namespaces": ["*"]} says above how many GPUs, and where, a job has a
#   deadline, and how late it may be; without most_seconds any will do.
# custom:
#   remedy: Write activeDeadlineSeconds.
package signalbox.deadline_required

guarded if "*" in data.config.deadlines.namespaces

guarded if input.job.namespace in data.config.deadlines.namespaces

large if {
	guarded
	input.job.gpus > data.config.deadlines.above_gpus
}

deny contains {"path": "spec", "msg": msg} if {
	large
	input.job.deadline_seconds == 0
	msg := sprintf("asks for %d GPUs without a deadline; above %d GPUs a job has one", [input.job.gpus, data.config.deadlines.above_gpus])
}

deny contains {"path": "spec", "msg": msg} if {
	large
	input.job.deadline_seconds > data.config.deadlines.most_seconds
	msg := sprintf("has a deadline of %d seconds; %d are allowed", [input.job.deadline_seconds, data.config.deadlines.most_seconds])
}
