# METADATA
# title: a user asks for no more accelerators than one job of theirs may have
# description: |
#   data.config.user_gpu_limit: {"default": 16, "groups": {"research": 64}, "users": {"ana": 128}}
#   is the most that one job may ask for. What is said of the user counts before what is said
#   of groups, and of several groups the highest limit. Without any the user is not restricted.
# custom:
#   remedy: Ask for fewer GPUs or pods, or ask for a higher limit.
package signalbox.max_gpus_per_user

limit := data.config.user_gpu_limit.users[input.request.user]

limit := max(of_groups) if {
	not data.config.user_gpu_limit.users[input.request.user]
	count(of_groups) > 0
}

limit := data.config.user_gpu_limit["default"] if {
	not data.config.user_gpu_limit.users[input.request.user]
	count(of_groups) == 0
}

of_groups contains n if {
	some group in input.request.groups
	n := data.config.user_gpu_limit.groups[group]
}

deny contains {"path": "spec", "msg": msg} if {
	data.config.user_gpu_limit
	input.job.gpus > limit
	msg := sprintf("the job asks for %s; one job of %s may ask for %d", [gpus, input.request.user, limit])
}

gpus := "1 GPU" if input.job.gpus == 1

gpus := sprintf("%d GPUs", [input.job.gpus]) if input.job.gpus != 1
