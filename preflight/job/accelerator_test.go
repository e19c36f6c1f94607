package job

import (
	"strings"
	"testing"
)

// A name without a vendor is Kubernetes' own, and is not looked up: no accelerator that is known may have such a name.
func TestEveryAcceleratorHasAVendor(t *testing.T) {
	for _, a := range accelerators {
		if !strings.Contains(a.pattern, "/") {
			t.Errorf("%s has no vendor", a.pattern)
		}
	}
}
