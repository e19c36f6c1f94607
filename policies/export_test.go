package policies

import (
	"testing"
	"time"
)

// Patiently gives every rule a minute, so that on a slow machine, too, it is another bound than
// time's that ends it.
func Patiently(t testing.TB) {
	before := perRule
	perRule = time.Minute
	t.Cleanup(func() { perRule = before })
}
