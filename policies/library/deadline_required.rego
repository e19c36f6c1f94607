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
	input.job.deadline_seconds <= 0
	msg := sprintf("the job asks for %s without a deadline; a job with more than %d has one", [gpus, data.config.deadlines.above_gpus])
}

deny contains {"path": "spec", "msg": msg} if {
	large
	input.job.deadline_seconds > data.config.deadlines.most_seconds
	msg := sprintf("the job's deadline of %d s is above the %d s that are allowed", [input.job.deadline_seconds, data.config.deadlines.most_seconds])
}

gpus := "1 GPU" if input.job.gpus == 1

gpus := sprintf("%d GPUs", [input.job.gpus]) if input.job.gpus != 1
