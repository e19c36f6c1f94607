// Package cluster keeps what a cluster holds: a Store that follows changes one by one and reads
// every object once, when it arrives, and immutable Snapshots of it. It knows nodes, the pods on
// them and the objects that rules are written in; it judges nothing: what they mean for a gang is
// the matter of packages quota and fit.
//
// Start reading at Store.Snapshot, then at Snapshot.
package cluster
