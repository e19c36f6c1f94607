# METADATA
# title: GPUs are not held by pods that sleep
# description: |
#   Pods that sleep or wait for a debugger hold GPUs until somebody remembers them.
#   data.config.idle_gpus: {"namespaces": ["*"]} names the namespaces where this holds; ["*"] means all.
# custom:
#   remedy: Start the training itself, or set a deadline.
package signalbox.no_idle_gpus

guarded if "*" in data.config.idle_gpus.namespaces

guarded if input.job.namespace in data.config.idle_gpus.namespaces

checks := {"gpus-held-by-sleep", "debug-holds-gpus"}

deny contains {"path": finding.path, "msg": finding.message} if {
	guarded
	input.job.gpus > 0
	some finding in input.findings
	finding.check in checks
}
