//go:build race

package webhook

// raceFactor is how much more the race detector lets a review allocate: its own records, and what pools forget at random
// (sync.Pool, where the race detector is on).
const raceFactor = 3
