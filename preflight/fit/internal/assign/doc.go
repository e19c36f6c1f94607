// Package assign counts and packs: equal groups of a gang on equal nodes, each counted once. It reads
// what of a pod decides about nodes, filters the nodes, counts how many pods each takes, and puts
// pods on them, with bounds that prove a no. Rules by which pods decide about other nodes than their
// own are read here, and solved in package topology.
//
// Start reading at NewCycle and Solver.Solve.
package assign
