package terminal

import (
	"fmt"
	"strings"
	"testing"
)

// Of many names the first are told and the others counted, but for one, which is as short as its count.
func TestFewNamesAreToldAndTheOthersCounted(t *testing.T) {
	for n, want := range map[int]string{5: "n0, n1, n2, n3, n4", 6: "n0, n1, n2, n3, n4, n5", 7: "n0, n1, n2, n3, n4 and 2 more", 1000: "n0, n1, n2, n3, n4 and 995 more"} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("n%d", i))
		}
		if got := Few(all); got != want || strings.Count(got, ",") > 5 {
			t.Errorf("of %d: %s; want %s", n, got, want)
		}
	}
}
