// Package capacity answers whether a gang of pods fits on a cluster, with a proof,
// and what would make it fit. It works on an immutable snapshot; it is not a
// scheduler: it places nothing, and where it cannot prove an answer it says unknown.
//
// Start reading at Fit.
package capacity
