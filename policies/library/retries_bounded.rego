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
	msg := sprintf("the job asks for %s and bounds its retries nowhere", [gpus])
}

deny contains {"path": "spec", "msg": msg} if {
	large
	input.job.retries_bounded
	attempts > data.config.retries.most_attempts
	msg := sprintf("the job may begin more often (%d) than allowed (%d)", [attempts, data.config.retries.most_attempts])
}

deny contains {"path": "spec", "msg": msg} if {
	large
	input.job.retries_bounded
	attempts * input.job.gpus > data.config.retries.most_gpu_attempts
	msg := sprintf("the job's attempts (%d) hold %s each, %d in all; %d are allowed", [attempts, gpus, attempts * input.job.gpus, data.config.retries.most_gpu_attempts])
}

gpus := "1 GPU" if input.job.gpus == 1

gpus := sprintf("%d GPUs", [input.job.gpus]) if input.job.gpus != 1
