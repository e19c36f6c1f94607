# METADATA
# title: a TrainJob overrides only what may be overridden
# description: |
#   podTemplateOverrides, runtimePatches and podSpecOverrides of a TrainJob reach into the pods that its runtime describes.
#   data.config.overrides: {"default": ["nodeSelector", "tolerations"], "namespaces": {"prod": []}}
#   lists the fields of a pod that may be overridden. A namespace that is not listed gets the
#   default; without a default it is not restricted.
# custom:
#   remedy: Leave the field out, or ask for a runtime that has it.
package signalbox.override_fields

allowed := object.get(object.get(data.config.overrides, "namespaces", {}), input.job.namespace, object.get(data.config.overrides, "default", null))

deny contains {"path": path, "msg": msg} if {
	input.job.kind == "TrainJob"
	is_array(allowed)
	some i, override in input.object.spec.podTemplateOverrides
	some field, _ in override.spec
	not field in allowed
	path := sprintf("spec.podTemplateOverrides[%d].spec.%s", [i, field])
	msg := sprintf("%s is overridden; jobs in namespace %s may override %s", [field, input.job.namespace, names])
}

deny contains {"path": path, "msg": msg} if {
	input.job.kind == "TrainJob"
	is_array(allowed)
	some i, patch in input.object.spec.runtimePatches
	some k, jobs in patch.trainingRuntimeSpec.template.spec.replicatedJobs
	some field, _ in jobs.template.spec.template.spec
	not field in allowed
	path := sprintf("spec.runtimePatches[%d].trainingRuntimeSpec.template.spec.replicatedJobs[%d].template.spec.template.spec.%s", [i, k, field])
	msg := sprintf("%s is overridden; jobs in namespace %s may override %s", [field, input.job.namespace, names])
}

# Of Trainer v2.0; later versions drop it.
deny contains {"path": path, "msg": msg} if {
	input.job.kind == "TrainJob"
	is_array(allowed)
	some i, override in input.object.spec.podSpecOverrides
	some field, _ in override
	not field in array.concat(["targetJobs"], allowed)
	path := sprintf("spec.podSpecOverrides[%d].%s", [i, field])
	msg := sprintf("%s is overridden; jobs in namespace %s may override %s", [field, input.job.namespace, names])
}

names := "nothing" if count(allowed) == 0

names := concat(", ", sort(allowed)) if count(allowed) > 0
