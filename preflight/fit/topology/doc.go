// Package topology places pods that decide where others go: affinity, anti-affinity and spread over
// domains of nodes, volumes that one pod or one node may use, and how many volumes a node attaches.
// It binds pod after pod as a scheduler would, takes them back, and where that finds no place it
// decides by bounds and by a search of everything.
//
// Start reading at SolveConstrained.
package topology
