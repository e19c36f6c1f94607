// Package diagnose finds out which pod of a training job failed first, and why: it takes
// what was collected (a Case), matches it against known signatures, ranks causes before
// consequences, and says how far the evidence carries. Rules decide; a language model,
// where one is configured, only explains what the rules found and cites it.
//
// The core here is pure. Reading from the cluster is in collect, writing annotations in
// controller. Start reading at Diagnose.
package diagnose
