// Package preflight reviews a training job before it enters the cluster: it reads the
// job with the reader of its kind, runs the checks, asks the policies, and reports.
//
// Checks observe, policies decide, callers speak: nothing here denies by itself, no
// check parses YAML, and the two doors (the webhook and the command line) get the same
// Report for the same job and the same cluster view. It holds no client and does no I/O.
//
// Start reading at Reviewer.Review.
package preflight
