// Package fit answers whether a gang of pods fits on a cluster, with a proof. It works on an
// immutable snapshot; it is not a scheduler: it places nothing, and where it cannot prove an
// answer it says unknown. What would make a gang fit is the matter of package whatif.
//
// Start reading at Fit, then at Solve.
package fit
