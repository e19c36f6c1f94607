# METADATA
# title: a namespace uses only the cluster runtimes it is allowed
# description: |
#   A TrainJob names its runtime, and nothing in Trainer or RBAC stops a namespace from
#   naming any ClusterTrainingRuntime. data.config.runtimes says which ones a namespace
#   may name: {"namespaces": {"ml": ["torch-distributed"]}, "tenant_label": "tenant", "tenants":
#   {"vision": [...]}, "default": [...]}. A namespace that is not listed gets what its tenant has, by
#   the label of the namespace that tenant_label names; then the default; without one it is not
#   restricted.
# custom:
#   remedy: Name a runtime that the namespace may use, or ask its owner to allow this one.
package signalbox.runtime_not_allowed

allowed := object.get(object.get(data.config.runtimes, "namespaces", {}), input.job.namespace, of_tenant)

default of_tenant := null

of_tenant := data.config.runtimes.tenants[tenant]

of_tenant := data.config.runtimes["default"] if not data.config.runtimes.tenants[tenant]

default tenant := ""

tenant := input.request.namespace_labels[data.config.runtimes.tenant_label]

deny contains {"path": input.job.runtime.path, "msg": msg} if {
	input.job.runtime.kind == "ClusterTrainingRuntime"
	is_array(allowed)
	not input.job.runtime.name in allowed
	msg := sprintf("the job names ClusterTrainingRuntime %s; namespace %s may use %s", [input.job.runtime.name, input.job.namespace, names])
}

names := "none" if count(allowed) == 0

names := concat(", ", sort(allowed)) if count(allowed) > 0
