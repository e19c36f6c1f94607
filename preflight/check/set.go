package check

// Set is a sorted, immutable choice of checks.
type Set struct{ checks []*Check }
