//go:build !race

package webhook

const raceFactor = 1
