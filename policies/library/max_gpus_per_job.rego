# METADATA
# title: a job asks for no more accelerators than its namespace may hold at once
# description: |
#   data.config.gpu_limit: {"default": 64, "namespaces": {"interactive": 2}} is the most
#   that one job may ask for over all pods. A namespace that is not listed gets the default;
#   without a default it is not restricted.
# custom:
#   remedy: Ask for fewer GPUs or pods, or ask the owner of the namespace for a higher limit.
package signalbox.max_gpus_per_job

limit := object.get(object.get(data.config.gpu_limit, "namespaces", {}), input.job.namespace, object.get(data.config.gpu_limit, "default", null))

deny contains {"path": "spec", "msg": msg} if {
	is_number(limit)
	input.job.gpus > limit
	msg := sprintf("the job asks for %s (pods: %d); one job in namespace %s may ask for %d", [gpus, input.job.pods, input.job.namespace, limit])
}

gpus := "1 GPU" if input.job.gpus == 1

gpus := sprintf("%d GPUs", [input.job.gpus]) if input.job.gpus != 1
