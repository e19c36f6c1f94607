// Package quota judges what stands between a gang and the nodes: ResourceQuotas, LimitRanges, the
// queues of Kueue, Volcano and T9k, pod groups, devices, and how many nodes may be added. Each rule
// that a gang does not keep is a Violation. The nodes themselves are the matter of package fit.
//
// Start reading at Violations.
package quota
