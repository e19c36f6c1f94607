# METADATA
# title: a job that is marked as frozen is not changed or started
# description: Whoever freezes a job says so in the annotation example.com/frozen.
# custom:
#   remedy: Take the annotation example.com/frozen away.
package signalbox.frozen

deny contains {"path": "metadata.annotations", "msg": "is frozen by annotation"} if {
	input.job.annotations["example.com/frozen"] == "true"
}
