# METADATA
# title: what failed at the same line each time is not tried again
# description: |
#   A job that ended at the same line several times in a row costs its GPUs once more and ends there.
#   data.config.repeats: {"most": 3, "above_gpus": 8, "namespaces": ["*"]} says how often in a row a job
#   of that name (or generateName, or controller) may end with one signature and one line. Runs that
#   nobody diagnosed count as different. Whoever changes the job gives it another name.
# custom:
#   remedy: Read what the diagnosis of the last run says, change the job, and submit it under another name.
package signalbox.no_repeated_failure

guarded if "*" in data.config.repeats.namespaces

guarded if input.job.namespace in data.config.repeats.namespaces

last := array.slice(input.earlier.runs, 0, data.config.repeats.most)

ends contains [run.signature, run.line] if some run in last

deny contains {"path": "metadata.name", "msg": msg} if {
	guarded
	input.request.operation == "CREATE"
	input.job.gpus > object.get(data.config.repeats, "above_gpus", 0)
	input.earlier.failures_in_a_row >= data.config.repeats.most
	count(ends) == 1
	some [signature, line] in ends
	signature != ""
	msg := sprintf("the last %d runs of it ended with %s, and with the same line: %s", [count(last), signature, line])
}
