# METADATA
# title: a TrainJob overrides only what may be overridden
# description: |
#   podTemplateOverrides, runtimePatches and podSpecOverrides of a TrainJob reach into the pods that its runtime describes.
#   data.config.overrides: {"default": ["nodeSelector", "tolerations"], "namespaces": {"prod": []}}
#   lists the fields of a pod that may be overridden; labels and annotations, of pods and of what makes them, are "metadata". A namespace that is not listed gets the
#   default; without a default it is not restricted.
# custom:
#   remedy: Leave the field out, or ask for a runtime that has it.
package signalbox.override_fields

allowed := object.get(object.get(data.config.overrides, "namespaces", {}), input.job.namespace, object.get(data.config.overrides, "default", null))

# What an override writes, by its field, and where.
written contains {"field": field, "path": path} if {
	some i, override in input.object.spec.podTemplateOverrides
	some field, _ in override.spec
	path := sprintf("spec.podTemplateOverrides[%d].spec.%s", [i, field])
}

written contains {"field": "metadata", "path": path} if {
	some i, override in input.object.spec.podTemplateOverrides
	override.metadata
	path := sprintf("spec.podTemplateOverrides[%d].metadata", [i])
}

# A patch has the depth of a JobSet: all but the pods' fields is how to get there, a name, or labels and annotations.
written contains {"field": field, "path": path} if {
	some i, patch in input.object.spec.runtimePatches
	some k, jobs in patch.trainingRuntimeSpec.template.spec.replicatedJobs
	some field, _ in jobs.template.spec.template.spec
	path := sprintf("spec.runtimePatches[%d].trainingRuntimeSpec.template.spec.replicatedJobs[%d].template.spec.template.spec.%s", [i, k, field])
}

written contains {"field": "metadata", "path": path} if {
	some i, patch in input.object.spec.runtimePatches
	patch.trainingRuntimeSpec.template.metadata
	path := sprintf("spec.runtimePatches[%d].trainingRuntimeSpec.template.metadata", [i])
}

written contains {"field": "metadata", "path": path} if {
	some i, patch in input.object.spec.runtimePatches
	some k, jobs in patch.trainingRuntimeSpec.template.spec.replicatedJobs
	some at in [["template"], ["template", "spec", "template"]]
	object.get(jobs, array.concat(at, ["metadata"]), null) != null
	path := sprintf("spec.runtimePatches[%d].trainingRuntimeSpec.template.spec.replicatedJobs[%d].%s.metadata", [i, k, concat(".", at)])
}

# Of Trainer v2.0; later versions drop it.
written contains {"field": field, "path": path} if {
	some i, override in input.object.spec.podSpecOverrides
	some field, _ in override
	field != "targetJobs"
	path := sprintf("spec.podSpecOverrides[%d].%s", [i, field])
}

deny contains {"path": override.path, "msg": msg} if {
	input.job.kind == "TrainJob"
	is_array(allowed)
	some override in written
	not override.field in allowed
	msg := sprintf("%s is overridden; jobs in namespace %s may override %s", [override.field, input.job.namespace, names])
}

names := "nothing" if count(allowed) == 0

names := concat(", ", sort(allowed)) if count(allowed) > 0
