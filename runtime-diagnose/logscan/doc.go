// Package logscan turns logs into observations: lines, launches and attempts, tracebacks, progress, and what became of
// each observation inside its own log. One reader serves live and kept logs. Of a gang of thousands it keeps the logs
// that differ; of those that print the same, exemplars and a summary each.
//
// It judges no job: which observation is the cause is for package attribute. Start reading at Read; one log is read in
// Log.read, one line in logReader.visit.
package logscan
