# METADATA
# title: nothing large begins in a freeze
# description: |
#   data.config.freezes: [{"from": "2026-12-20", "until": "2027-01-02", "why": "the move", "above_gpus":
#   8, "namespaces": ["*"]}] lists freezes by their first and last day in UTC. Jobs that ask for
#   above_gpus or fewer may begin; what goes on may go on, and does not grow or resume. Without namespaces a freeze holds everywhere.
# custom:
#   remedy: Submit after the freeze.
package signalbox.change_freeze

holds(freeze) if not freeze.namespaces

holds(freeze) if "*" in freeze.namespaces

holds(freeze) if input.job.namespace in freeze.namespaces

begins if input.request.operation == "CREATE"

begins if input.job.gpus > input.old_job.gpus

begins if {
	input.old_job.suspended
	not input.job.suspended
}

deny contains {"path": "spec", "msg": msg} if {
	begins
	some freeze in data.config.freezes
	input.request.date >= freeze.from
	input.request.date <= freeze.until
	holds(freeze)
	input.job.gpus > object.get(freeze, "above_gpus", -1)
	why := object.get(freeze, "why", "a freeze")
	most := object.get(freeze, "above_gpus", -1)
	msg := sprintf("the job asks for %s on %s; until %s no job begins that asks for more than %d: %s", [gpus, input.request.date, freeze.until, most, why])
}

gpus := "1 GPU" if input.job.gpus == 1

gpus := sprintf("%d GPUs", [input.job.gpus]) if input.job.gpus != 1
