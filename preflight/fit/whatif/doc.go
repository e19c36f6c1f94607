// Package whatif says of a gang that does not fit what would make it fit: the smallest change, which pods
// would have to go for it, which jobs have to end first. Everything it names was tried on the
// snapshot, with what is left of the steps that the question may cost.
//
// Start reading at Answer, which is the fit and all of that.
package whatif
