# METADATA
# title: jobs go to the queues of their namespace, or to none
# description: |
#   data.config.queues: {"default": {"required": true}, "namespaces": {"ml": {"allowed": ["gpu"]},
#   "web": {"forbidden": true}}} says whether a job must name a queue, may name only some, or none.
#   A namespace that is not listed gets the default. "above_gpus": 0 leaves out jobs that ask for
#   no more GPUs than that.
# custom:
#   remedy: Name a queue that the namespace may use, or leave the queue out where none may be used.
package signalbox.queue_rules

rule := object.get(object.get(data.config.queues, "namespaces", {}), input.job.namespace, object.get(data.config.queues, "default", {}))

# Each scheduler reads a mark of its own, and a job may bear several, of itself and on its pods.
marks := {
	"kueue.x-k8s.io/queue-name", "scheduling.volcano.sh/queue-name", "volcano.sh/queue-name",
	"scheduler.tensorstack.dev/queue", "kai.scheduler/queue", "runai/queue", "yunikorn.apache.org/queue",
}

named contains input.job.queue if input.job.queue != ""

named contains queue if {
	some of in array.concat([input.job], input.job.roles)
	some list in [of.labels, of.annotations]
	some mark in marks
	queue := list[mark]
	queue != ""
}

# YuniKorn has a word without a domain, too, on the pods that it places
# (https://yunikorn.apache.org/docs/user_guide/labels_and_annotations_in_yunikorn).
named contains role.labels.queue if {
	some role in input.job.roles
	role.pod.schedulerName == "yunikorn"
	role.labels.queue != ""
}

counts if input.job.gpus > object.get(rule, "above_gpus", -1)

deny contains {"path": "metadata.labels", "msg": msg} if {
	counts
	rule.required == true
	input.job.queue != ""
	not input.job.queued
	msg := sprintf("the job names queue %s, which nobody reads there; jobs in namespace %s wait in one", [input.job.queue, input.job.namespace])
}

deny contains {"path": "metadata.labels", "msg": msg} if {
	counts
	rule.required == true
	input.job.queue == ""
	msg := sprintf("the job names no queue; jobs in namespace %s wait in one", [input.job.namespace])
}

deny contains {"path": "metadata.labels", "msg": msg} if {
	counts
	is_array(rule.allowed)
	some queue in named
	not queue in rule.allowed
	msg := sprintf("the job names queue %s; namespace %s may use %s", [queue, input.job.namespace, concat(", ", sort(rule.allowed))])
}

deny contains {"path": "metadata.labels", "msg": msg} if {
	counts
	rule.forbidden == true
	some queue in named
	msg := sprintf("the job names queue %s; jobs in namespace %s start without one", [queue, input.job.namespace])
}
