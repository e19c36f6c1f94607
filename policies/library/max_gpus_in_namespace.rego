# METADATA
# title: a namespace holds no more GPUs of a model than its share
# description: |
#   What the pods of the namespace hold now and what the job asks for are added up.
#   data.config.namespace_gpus: {"ml": {"H100": 32, "*": 64}} is the most by model, as the nodes
#   name it in nvidia.com/gpu.product; "*" counts all models together. A role that selects
#   none, or several, counts for each that it may get. A quota of Kubernetes counts devices, and knows no models.
# custom:
#   remedy: Wait until pods of the namespace end, ask for fewer GPUs, select another model, or ask for a larger share.
package signalbox.max_gpus_in_namespace

shares := data.config.namespace_gpus[input.job.namespace]

in_use(model) := object.get(input.cluster.namespace_gpus, model, 0)

may_get(role, model) if model in role.gpu_models

may_get(role, model) if {
	count(role.gpu_models) == 0
	some m in input.cluster.models
	m.model == model
}

asked(model) := sum([n |
	some role in input.job.roles
	may_get(role, model)
	n := role.gpus_per_pod * role.max
])

deny contains {"path": "spec", "msg": msg} if {
	some model, share in shares
	model != "*"
	asked(model) > 0
	in_use(model) + asked(model) > share
	msg := sprintf("the job asks for %s of model %s, and namespace %s holds %d already; its share is %d", [gpus(asked(model)), model, input.job.namespace, in_use(model), share])
}

deny contains {"path": "spec", "msg": msg} if {
	input.job.gpus > 0
	share := shares["*"]
	held := sum([n | some n in input.cluster.namespace_gpus])
	held + input.job.gpus > share
	msg := sprintf("the job asks for %s, and namespace %s holds %d already; its share is %d", [gpus(input.job.gpus), input.job.namespace, held, share])
}

gpus(1) := "1 GPU"

gpus(n) := sprintf("%d GPUs", [n]) if n != 1
