# METADATA
# title: pods that failed are kept until somebody has read them
# description: |
#   Where pods are deleted with the job, why they failed is gone with them.
#   data.config.evidence: {"namespaces": ["*"]} names the namespaces where this holds; ["*"] means all.
# custom:
#   remedy: Keep pods that failed, with cleanPodPolicy Running or None, and a ttlSecondsAfterFinished of a day.
package signalbox.evidence_kept

guarded if "*" in data.config.evidence.namespaces

guarded if input.job.namespace in data.config.evidence.namespaces

checks := {"clean-up-deletes-logs", "ttl-deletes-logs", "retries-delete-logs"}

deny contains {"path": finding.path, "msg": finding.message} if {
	guarded
	input.job.gpus > 0
	some finding in input.findings
	finding.check in checks
}
