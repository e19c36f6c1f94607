// Package gang is what has to run together: groups of equal pods, in what order they run, and in
// which queue. It is what a job of any kind asks of a cluster, and knows no cluster.
package gang
