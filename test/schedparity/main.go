// Command schedparity compares the fit with the real kube-scheduler: its framework, its
// cache and its default plugins run in this process, on generated scenarios and on the
// jobs and clusters of the repository and the corpus beside it.
//
// Where the fit says that a gang fits, its plan is bound pod by pod through the real
// filters. Where it says that a gang does not, the real scheduler tries to place the pods
// in several orders and must leave one. Where the fit does not know, that is counted.
//
// Start reading at judge.go; oracle.go is the scheduler, scenario.go and features.go make
// the scenarios.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
)

//go:embed disagreements.tsv
var explained string

type options struct {
	count, orders, workers, show int
	seed                         uint64
	only                         int64
	corpus                       string
	verbose                      bool
}

func main() {
	var o options
	flag.IntVar(&o.count, "n", 10000, "scenarios to generate")
	flag.Uint64Var(&o.seed, "seed", 1, "the seed: scenarios of two seeds are never the same")
	flag.Int64Var(&o.only, "only", -1, "judge the scenario of this number alone, and say everything about it")
	flag.IntVar(&o.orders, "orders", 4, "orders in which the scheduler tries the pods; 0: the fit alone is asked")
	flag.IntVar(&o.workers, "workers", 2, "schedulers that run at once")
	flag.IntVar(&o.show, "show", 20, "disagreements and unknown reasons to print")
	flag.StringVar(&o.corpus, "corpus", "../../../shared/corpus", "the test corpus; passed over where there is none")
	flag.BoolVar(&o.verbose, "v", false, "print every scenario")
	flag.Parse()
	if o.count < 0 || o.count > mostOfSeed || o.seed > math.MaxInt64/mostOfSeed-1 {
		fmt.Fprintf(os.Stderr, "schedparity: -n is 0 to %d and -seed at most %d\n", mostOfSeed, math.MaxInt64/mostOfSeed-1)
		os.Exit(3)
	}
	klog.SetLogger(logr.Discard())
	ok, err := run(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "schedparity:", err)
		os.Exit(3)
	}
	if !ok {
		os.Exit(1)
	}
}

// mostOfSeed is how many scenarios a seed has. They have numbers: those of seed 3 begin at 3,600,000, so that no two seeds
// share one. What is rare is drawn by the remainder of the number (by 2400, 500, 75 …), of all of which this is a multiple:
// the thousandth scenario of each seed is of the same kind.
const mostOfSeed = 1_200_000

func run(ctx context.Context, o options) (bool, error) {
	if o.only >= 0 {
		return runOne(ctx, newScenario(uint64(o.only)), o)
	}
	given, skipped, err := givenScenarios(o.corpus)
	if err != nil {
		return false, err
	}
	all := o.count + len(given)
	results := make([]outcome, all)
	var next, done atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, o.workers)
	start := time.Now()
	for w := range o.workers {
		wait.Go(func() {
			oracle, err := newOracle(ctx)
			for errs[w] = err; errs[w] == nil; done.Add(1) {
				at := int(next.Add(1)) - 1
				if at >= all {
					return
				}
				s := given0(given, at)
				if s == nil {
					s = newScenario(o.seed*mostOfSeed + uint64(at-len(given)))
				}
				if results[at], errs[w] = oracle.judge(s, o.orders); errs[w] != nil { //nolint:contextcheck // an oracle lives as long as its context
					errs[w] = fmt.Errorf("%s: %w", s.name, errs[w])
				}
			}
		})
	}
	stop := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() { tell(&done, all, stop) })
	wait.Wait()
	close(stop)
	telling.Wait()
	for _, err := range errs {
		if err != nil {
			return false, err
		}
	}
	return report(results, len(given), skipped, time.Since(start), o), nil
}

func given0(given []*scenario, at int) *scenario {
	if at < len(given) {
		return given[at]
	}
	return nil
}

// tell shows how far it is, on the terminal's error stream.
func tell(done *atomic.Int64, all int, stop <-chan struct{}) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			fmt.Fprintf(os.Stderr, "%d of %d scenarios\n", done.Load(), all)
		}
	}
}

// runOne says everything about one scenario.
func runOne(ctx context.Context, s *scenario, o options) (bool, error) {
	oracle, err := newOracle(ctx)
	if err != nil {
		return false, err
	}
	fmt.Println(s)
	r, err := oracle.judge(s, o.orders) //nolint:contextcheck // an oracle lives as long as its context
	if err != nil {
		return false, err
	}
	fmt.Printf("%s: %s\n", r.verdict, r.said)
	snapshot, err := s.snapshot()
	if err != nil {
		return false, err
	}
	answer := whatif.Answer(ctx, snapshot, s.gang)
	fmt.Println(strings.Join(answer.Lines(), "\n"))
	fmt.Println("order:", answer.Order)
	if r.differs != "" {
		fmt.Println("the scheduler:", r.differs)
	}
	return r.differs == "", nil
}

// mostUnknown is the share of answers that may be unknown, in hundredths, without those that were written by hand.
const mostUnknown = 1

// tooMuchUnknown says whether more than that share is unknown, and not by chance: of a thousand answers, two deviations are six.
func tooMuchUnknown(open, all int) bool {
	share := mostUnknown * float64(all) / 100
	return float64(open) > share+2*math.Sqrt(share)
}

// report prints the tally; false: something differs that nobody has explained, or too
// much is unknown.
func report(results []outcome, given int, skipped string, took time.Duration, o options) bool {
	known := explanations()
	verdicts := map[fit.Verdict]int{}
	per := map[string]*tally{}
	unexplained, explainedCount, unknown, all, open := 0, 0, 0, 0, 0
	reasons := map[string]int{}
	for _, r := range results {
		verdicts[r.verdict]++
		differs := r.differs != ""
		if !slices.Contains(r.about, aboutByHand) {
			if all++; r.verdict == fit.Unknown {
				open++
			}
		}
		switch {
		case r.verdict == fit.Unknown:
			unknown++
			reasons[r.said]++
		case differs && known[r.scenario] != "":
			explainedCount++
		case differs:
			if unexplained++; unexplained <= o.show {
				fmt.Printf("%s: the fit says %s: %s\n  %s\n  about %s\n", r.scenario, r.verdict, r.said, r.differs, strings.Join(r.about, ", "))
			}
		}
		for _, about := range r.about {
			if per[about] == nil {
				per[about] = &tally{}
			}
			per[about].add(r)
		}
		if o.verbose {
			fmt.Printf("%s: %s %s\n", r.scenario, r.verdict, r.said)
		}
	}
	fmt.Printf("%-28s %7s %7s %7s %7s %7s\n", "about", "all", "fits", "no", "unknown", "differ")
	for _, about := range slices.Sorted(maps.Keys(per)) {
		fmt.Printf("%-28s %s\n", about, per[about])
	}
	missing := neverDrawn(per)
	for i, why := range byCount(reasons) {
		if i < o.show {
			fmt.Printf("unknown %d times: %s\n", reasons[why], why)
		}
	}
	judged := len(results) - unknown
	fmt.Printf("fits %d, too-big %d, full %d, fragmented %d; %d given (%s), %d generated from seed %d, in %s\n",
		verdicts[fit.Fits], verdicts[fit.TooBig], verdicts[fit.Full], verdicts[fit.Fragmented], given, skipped, len(results)-given, o.seed, took.Round(time.Second))
	if explainedCount > 0 {
		fmt.Printf("explained in disagreements.tsv: %d\n", explainedCount)
	}
	fmt.Printf("agree %d of %d, unknown %d, of them %d not by hand\n", judged-unexplained, judged, unknown, open)
	if len(missing) > 0 {
		fmt.Printf("never drawn: %s\n", strings.Join(missing, ", "))
	}
	return unexplained == 0 && !tooMuchUnknown(open, all) && len(missing) == 0
}

func byCount(reasons map[string]int) []string {
	return slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		if reasons[a] != reasons[b] {
			return reasons[b] - reasons[a]
		}
		return strings.Compare(a, b)
	})
}

// drawn are the features that a run must have drawn: without them it says nothing about them.
var drawn = []string{
	"affinity to another role", "affinity to itself", "affinity to running pods", "another scheduler", "anti-affinity of running pods",
	"anti-affinity over nodes", "anti-affinity over zones", "attach limits", "claim for one node", "claim for one pod", "claim not bound yet",
	"claim that waits for its pod", "disk in the pod", "elastic", "ephemeral storage", "extended resources", "host ports", "init containers",
	"labels of the operator", "match fields", "match label keys", "min domains", "missing claim", "missing volume", "namespace selector",
	"node affinity", "node name", "node selector", "overhead", "pod-level resources", "pods of the job that run", "priorities",
	"scheduling gates", "sidecars", "spread", "spread over two topologies", "spread with node policies", "stages", "taints",
	"volume of a node", "volume of a zone", "volume of the pod's own",
	severalOfClass, severalOfPod, storageCapacity,
	exclusiveJobs, exclusiveGroups, exclusiveOthers,
	deviceClaims, deviceSelectors, deviceAlternative, deviceTaints, deviceCounters, deviceAdmin, deviceShared, deviceOfNone, deviceOfVictim, neverPreempts, noClass, manyRoles, manyPods, manyNodes,
}

// neverDrawn are those of them that no scenario was about.
func neverDrawn(per map[string]*tally) (missing []string) {
	for _, r := range rarities() {
		if per[r.name] == nil {
			missing = append(missing, r.name)
		}
	}
	for _, about := range drawn {
		if per[about] == nil {
			missing = append(missing, about)
		}
	}
	return missing
}

type tally struct{ all, fits, no, unknown, differ int }

func (t *tally) add(r outcome) {
	t.all++
	switch r.verdict {
	case fit.Unknown:
		t.unknown++
	case fit.Fits:
		t.fits++
	default:
		t.no++
	}
	if r.differs != "" {
		t.differ++
	}
}

func (t *tally) String() string {
	return fmt.Sprintf("%7d %7d %7d %7d %7d", t.all, t.fits, t.no, t.unknown, t.differ)
}

// explanations are the disagreements that are right as they are, by scenario: a line each,
// scenario, tab, reason; # begins a comment.
func explanations() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(explained) {
		if name, why, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(line, "#") {
			out[name] = why
		}
	}
	return out
}

func isAttachment(obj runtime.Object) bool {
	_, is := obj.(*storagev1.VolumeAttachment)
	return is
}
