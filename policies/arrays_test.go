package policies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/policies"
)

// Lists that double are the cheapest bomb: a dozen lines of array.concat took 837 MiB once, and two more four times that.
func TestDoublingListsEnd(t *testing.T) {
	for _, lines := range []int{12, 14} {
		t.Run(fmt.Sprint(lines, " lines"), func(t *testing.T) {
			policies.Patiently(t)
			var rules strings.Builder
			rules.WriteString("deny contains \"x\" if {\n\ts0 := numbers.range(1, 10000)\n")
			for i := range lines {
				fmt.Fprintf(&rules, "\ts%d := array.concat(s%d, s%d)\n", i+1, i, i)
			}
			fmt.Fprintf(&rules, "\tcount(s%d) < input.job.gpus - 1000\n}", lines)
			o := load(t, files("a.rego", policy("a", rules.String()), "b.rego", policy("big_job", big)))
			got := decide(t, o, input("enforce"))
			if len(got.Undecided) != 1 || !strings.HasSuffix(got.Undecided[0], "array.concat: the answer would have more than 32 MiB") {
				t.Errorf("undecided: %q", got.Undecided)
			}
			if len(got.Rulings) != 1 || got.Rulings[0].Policy != "big-job" {
				t.Errorf("%+v; want the other policy's denial", got.Rulings)
			}
		})
	}
}
