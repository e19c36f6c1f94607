# METADATA
# title: jobs say whose they are and who pays
# description: |
#   data.config.labels: {"default": ["team"], "namespaces": {"prod": ["team", "cost-center"]}} lists
#   labels that a job has, with a value; an annotation of the name counts as well. A namespace
#   that is not listed gets the default.
# custom:
#   remedy: Write the label into metadata.labels of the job.
package signalbox.labels_required

wanted := object.get(object.get(data.config.labels, "namespaces", {}), input.job.namespace, object.get(data.config.labels, "default", []))

says(name) if trim_space(input.job.labels[name]) != ""

says(name) if trim_space(input.job.annotations[name]) != ""

deny contains {"path": "metadata.labels", "msg": msg} if {
	some name in wanted
	not says(name)
	msg := sprintf("the job has no label %s; jobs in namespace %s have one", [name, input.job.namespace])
}
