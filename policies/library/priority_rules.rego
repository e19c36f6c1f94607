# METADATA
# title: jobs have a priority class of their namespace
# description: |
#   data.config.priorities: {"default": {"allowed": ["low"]}, "namespaces": {"prod": {"allowed":
#   ["high", "low"], "required": true}}} says which priority classes a job may name, and whether it
#   must name one. A namespace that is not listed gets the default.
# custom:
#   remedy: Name a priority class that the namespace may use.
package signalbox.priority_rules

rule := object.get(object.get(data.config.priorities, "namespaces", {}), input.job.namespace, object.get(data.config.priorities, "default", {}))

named contains input.job.priority_class if input.job.priority_class != ""

# Kueue reads a class of its own, which preempts others.
named contains input.job.labels["kueue.x-k8s.io/priority-class"]

# So does KAI, of the job or of its pods
# (github.com/NVIDIA/KAI-Scheduler pkg/podgrouper/podgrouper/plugins/defaultgrouper/default_grouper.go, calcPodGroupPriorityClass).
named contains labels.priorityClassName if {
	some of in array.concat([input.job], input.job.roles)
	labels := of.labels
	labels.priorityClassName != ""
}

# Pods of one role may have another class than those of the next.
named contains role.pod.priorityClassName if {
	some role in input.job.roles
	role.pod.priorityClassName != ""
}

deny contains {"path": "spec", "msg": msg} if {
	rule.required == true
	count(named) == 0
	msg := sprintf("the job names no priority class; jobs in namespace %s name one", [input.job.namespace])
}

deny contains {"path": "spec", "msg": msg} if {
	is_array(rule.allowed)
	some class in named
	not class in rule.allowed
	msg := sprintf("the job names priority class %s; namespace %s may use %s", [class, input.job.namespace, names])
}

names := "none" if count(rule.allowed) == 0

names := concat(", ", sort(rule.allowed)) if count(rule.allowed) > 0
