//go:build !linux

package fit_test

import "time"

var began = time.Now()

// spent is the time that has passed; other systems tell no better.
func spent() time.Duration { return time.Since(began) }
