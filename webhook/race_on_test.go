//go:build race

package webhook

// raceFactor is how much more the race detector lets a review allocate: its own records.
const raceFactor = 2
