// Command queueparity compares what the fit says of Kueue's quotas with Kueue itself: its
// cache and its flavor assigner run in this process, on generated queues, cohorts, flavors
// and workloads.
//
// Kueue is asked twice about every gang: with the workloads that hold quota, and without
// them. What does not fit without them must be Never to us, what fits only without them
// Now, and what fits with them no limit. Where Kueue takes one flavor after the other and
// gets stuck, although another choice would do, its own arithmetic is asked about every
// choice; that is counted apart. The numbers in a limit must be Kueue's numbers.
//
// Start reading at judge.go; kueue.go is Kueue, scenario.go makes the scenarios.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// mostOfSeed is how many scenarios a seed has: those of seed 3 begin at 3,600,000, so that no two seeds share one.
const mostOfSeed = 1_200_000

func main() {
	count := flag.Int("n", 2000, "scenarios to generate")
	seed := flag.Uint64("seed", 1, "the seed: scenarios of two seeds are never the same")
	only := flag.Int64("only", -1, "judge the scenario of this number alone, and say everything about it")
	show := flag.Int("show", 10, "disagreements to print")
	flag.Parse()
	if *count < 0 || *count > mostOfSeed || *seed > math.MaxInt64/mostOfSeed-1 {
		fmt.Fprintf(os.Stderr, "queueparity: -n is 0 to %d and -seed at most %d\n", mostOfSeed, math.MaxInt64/mostOfSeed-1)
		os.Exit(3)
	}
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	from := *seed * mostOfSeed
	to := from + uint64(*count)
	if *only >= 0 {
		from, to = uint64(*only), uint64(*only)+1
	}
	ok, err := run(context.Background(), from, to, *show, *only >= 0)
	if err != nil {
		fmt.Fprintln(os.Stderr, "queueparity:", err)
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}

// tally is what came out.
type tally struct {
	agree, unknown, wrong int
	greedy                int // of those that agree: Kueue takes the first flavor and gets stuck
	numbers               int // limits whose numbers were compared
	verdicts              map[string]int
}

func run(ctx context.Context, from, to uint64, show int, talk bool) (bool, error) {
	t := tally{verdicts: map[string]int{}}
	for seed := from; seed < to; seed++ {
		s := newScenario(seed)
		v, err := judge(ctx, s)
		if err != nil {
			return false, fmt.Errorf("scenario %d: %w", seed, err)
		}
		t.verdicts[v.ours]++
		t.numbers += v.numbers
		switch {
		case v.unknown:
			t.unknown++
		case v.wrong != "":
			if t.wrong++; t.wrong <= show {
				fmt.Printf("scenario %d: %s\n", seed, v.wrong)
			}
		default:
			t.agree++
			if v.greedy {
				t.greedy++
			}
		}
		if talk {
			fmt.Printf("%s\n%+v\n", s, v)
		}
	}
	fmt.Printf("agree %d of %d, unknown %d; ours: none %d, now %d, never %d; numbers of %d limits; %d where Kueue takes the first flavor and gets stuck\n",
		t.agree, to-from, t.unknown, t.verdicts["none"], t.verdicts["now"], t.verdicts["never"], t.numbers, t.greedy)
	return t.wrong == 0, nil
}
