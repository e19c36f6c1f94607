# METADATA
# title: what a check finds is refused, where and while somebody says so
# description: |
#   data.config.elevate: {"shm-missing": {"namespaces": ["prod"], "except": ["prod-old"], "from":
#   "2026-06-01", "until": "2026-12-31"}} makes a finding of the check a denial: in the namespaces,
#   "*" meaning all, without those of except, from the first to the last day in UTC. Without days
#   it always holds.
# custom:
#   remedy: Do what the check says, or ask whoever keeps the cluster for an exception.
package signalbox.elevate_check

holds(rule) if "*" in rule.namespaces

holds(rule) if input.job.namespace in rule.namespaces

begun(rule) if not rule.from

begun(rule) if input.request.date >= rule.from

lasts(rule) if not rule.until

lasts(rule) if input.request.date <= rule.until

deny contains {"path": finding.path, "msg": msg} if {
	some name, rule in data.config.elevate
	holds(rule)
	not input.job.namespace in object.get(rule, "except", [])
	begun(rule)
	lasts(rule)
	some finding in input.findings
	finding.check == name
	msg := sprintf("%s (%s)", [finding.message, name])
}
