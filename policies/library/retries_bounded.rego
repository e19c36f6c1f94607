# METADATA
# title: retries are bounded by what they cost
# description: |
#   A job that fails at the same line each time costs its GPUs once more with every retry.
#   data.config.retries: {"above_gpus": 0, "most_attempts": 10, "most_gpu_attempts": 64, "namespaces":
#   ["*"]} says how many attempts a job may have, and how many times GPUs. A job that bounds its
#   retries nowhere counts as one that never stops.
# custom:
#   remedy: Write a backoffLimit (or the field of its kind) that keeps within the bound.
package signalbox.retries_bounded

guarded if "*" in data.config.retries.namespaces

guarded if input.job.namespace in data.config.retries.namespaces

large if {
	guarded
	input.job.gpus > object.get(data.config.retries, "above_gpus", 0)
}

attempts := input.job.retries + 1

deny contains {"path": "spec", "msg": msg} if {
	large
	not input.job.retries_bounded
	msg := sprintf("asks for %d GPUs and bounds its retries nowhere", [input.job.gpus])
}

deny contains {"path": "spec", "msg": msg} if {
	large
	input.job.retries_bounded
	attempts > data.config.retries.most_attempts
	msg := sprintf("may begin %d times; %d are allowed", [attempts, data.config.retries.most_attempts])
}

deny contains {"path": "spec", "msg": msg} if {
	large
	input.job.retries_bounded
	attempts * input.job.gpus > data.config.retries.most_gpu_attempts
	msg := sprintf("may begin %d times with %d GPUs, %d in all; %d are allowed", [attempts, input.job.gpus, attempts * input.job.gpus, data.config.retries.most_gpu_attempts])
}
