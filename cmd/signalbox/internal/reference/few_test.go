package reference

import (
	"fmt"
	"strings"
	"testing"
)

// Of many names that hold a word twelve are listed, and the others counted.
func TestNamesWithAWordAreListedOrCounted(t *testing.T) {
	for n, want := range map[int]string{12: "gpu-11x", 13: "and 1 more", 500: "and 488 more"} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("gpu-%dx", i))
		}
		got := NamesWith("gpu", all)
		if !strings.HasSuffix(got, ", "+want) || strings.Count(got, "gpu-") != 12 {
			t.Errorf("of %d: %s; want %s at the end", n, got, want)
		}
	}
}
