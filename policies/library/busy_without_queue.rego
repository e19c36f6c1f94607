# METADATA
# title: where there is no queue, a job that cannot start now is not taken
# description: |
#   Without a queue the pods of a job that does not fit start one by one, as places come free,
#   and hold what they have. data.config.busy: {"namespaces": ["interactive"]} names the namespaces where this holds; ["*"] means all.
# custom:
#   remedy: Submit again later, ask for less, or submit through a queue.
package signalbox.busy_without_queue

guarded if "*" in data.config.busy.namespaces

guarded if input.job.namespace in data.config.busy.namespaces

deny contains {"path": "spec", "msg": msg} if {
	guarded
	not input.job.queued
	not input.job.suspended
	input.cluster.fit in {"full", "fragmented"}
	msg := sprintf("the job does not fit now (%s), and it names %s", [input.cluster.fit, queue])
}

queue := "no queue to wait in" if input.job.queue == ""

queue := sprintf("queue %s, which nobody reads there", [input.job.queue]) if input.job.queue != ""
