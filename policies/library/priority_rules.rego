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

deny contains {"path": "spec", "msg": msg} if {
	rule.required == true
	input.job.priority_class == ""
	msg := sprintf("the job names no priority class; jobs in namespace %s name one", [input.job.namespace])
}

deny contains {"path": "spec", "msg": msg} if {
	input.job.priority_class != ""
	is_array(rule.allowed)
	not input.job.priority_class in rule.allowed
	msg := sprintf("the job names priority class %s; namespace %s may use %s", [input.job.priority_class, input.job.namespace, names])
}

names := "none" if count(rule.allowed) == 0

names := concat(", ", sort(rule.allowed)) if count(rule.allowed) > 0
