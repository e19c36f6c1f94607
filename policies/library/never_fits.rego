# METADATA
# title: a job that can never fit is not taken
# description: |
#   A job that no node of this cluster could hold, even if all were empty, waits for ever.
#   data.config.never_fits: {"namespaces": ["*"]} names the namespaces where this holds; ["*"] means all.
# custom:
#   remedy: Make the change that is named, or submit to another cluster.
package signalbox.never_fits

guarded if "*" in data.config.never_fits.namespaces

guarded if input.job.namespace in data.config.never_fits.namespaces

deny contains {"path": "spec", "msg": msg} if {
	guarded
	input.cluster.fit == "too-big"
	msg := concat("", ["the job cannot fit into this cluster, even if it were empty", change])
}

change := "" if input.cluster.change == ""

change := sprintf("; it would with this change: %s", [input.cluster.change]) if input.cluster.change != ""
