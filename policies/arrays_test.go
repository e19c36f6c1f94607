package policies_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Lists that double are the cheapest bomb: a dozen lines of array.concat took 837 MiB once, and two more four times that.
func TestDoublingListsEnd(t *testing.T) {
	for _, lines := range []int{12, 14} {
		t.Run(fmt.Sprint(lines, " lines"), func(t *testing.T) {
			var rules strings.Builder
			rules.WriteString("deny contains \"x\" if {\n\ts0 := numbers.range(1, 10000)\n")
			for i := range lines {
				fmt.Fprintf(&rules, "\ts%d := array.concat(s%d, s%d)\n", i+1, i, i)
			}
			fmt.Fprintf(&rules, "\tcount(s%d) < input.job.gpus - 1000\n}", lines)
			o := load(t, files("a.rego", policy("a", rules.String()), "b.rego", policy("big_job", big)))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := decide(t, o, input("enforce"))
			runtime.ReadMemStats(&after)
			want := []string{"it did not end in the time that policies have", "it took more than 256 MiB of memory"} // on a slow machine time ends first
			if len(got.Undecided) != 1 || !slices.Contains(want, strings.TrimPrefix(got.Undecided[0], "a: ")) {
				t.Errorf("undecided: %q; want one of %q", got.Undecided, want)
			}
			// The last value is not interrupted: it may be as large again as what there was, and how much there was when
			// somebody looked depends on the machine.
			t.Logf("it took %d MiB", (after.TotalAlloc-before.TotalAlloc)>>20)
			if len(got.Rulings) != 1 || got.Rulings[0].Policy != "big-job" {
				t.Errorf("%+v; want the other policy's denial", got.Rulings)
			}
		})
	}
}
