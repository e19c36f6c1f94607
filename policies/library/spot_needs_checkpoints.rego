# METADATA
# title: spot nodes are for jobs that survive them
# description: |
#   A spot node goes with two minutes of notice or less, and what was computed goes with it.
#   data.config.spot_checkpoints: {"namespaces": ["*"]} names the namespaces where this holds; ["*"] means all.
# custom:
#   remedy: Write checkpoints to a persistent volume, or select nodes that stay.
package signalbox.spot_needs_checkpoints

guarded if "*" in data.config.spot_checkpoints.namespaces

guarded if input.job.namespace in data.config.spot_checkpoints.namespaces

checks := {"spot-without-checkpoints"}

deny contains {"path": finding.path, "msg": finding.message} if {
	guarded
	input.job.gpus > 0
	some finding in input.findings
	finding.check in checks
}
