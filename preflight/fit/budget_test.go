package fit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/test/build"
)

// rivals are as many roles of one pod each that differ in what they ask for and keep apart over zones.
func rivals(roles int) gang.Gang {
	var g gang.Gang
	for i := range roles {
		g.Groups = append(g.Groups, group(fmt.Sprintf("w%d", i), 1, build.Requests(fmt.Sprintf("cpu=%dm", i+1)), role("x"), apartOver("zone", "x")))
	}
	return gangOf(g.Groups...)
}

func twoZones() *cluster.Snapshot {
	return clusterOf(build.Node("n0", build.Label("zone", "a")), build.Node("n1", build.Label("zone", "b")))
}

func TestRulesBetweenPodsHoldHoweverManyRolesThereAre(t *testing.T) {
	for _, roles := range []int{2, 3, 64, 65, 200} {
		want := fit.TooBig
		if roles <= 2 {
			want = fit.Fits
		}
		if got := whatif.Answer(t.Context(), twoZones(), rivals(roles)); got.Verdict != want {
			t.Errorf("%d roles that keep apart over two zones are %s, want %s: %.200s %q", roles, got.Verdict, want, got, got.Assumed)
		}
	}
}

func TestAQuestionEndsWithItsContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for name, tc := range map[string]struct {
		ctx  context.Context
		want string
	}{
		"withdrawn": {ended, "the question was withdrawn before the answer was found"},
		"too late":  {late, "the time was up before the answer was found"},
	} {
		t.Run(name, func(t *testing.T) {
			got := whatif.Answer(tc.ctx, threeZones(), gpus(60, "8"))
			if got.Verdict != fit.Unknown || !strings.Contains(strings.Join(got.Assumed, "; "), tc.want) || len(got.Changes) > 0 {
				t.Errorf("Fit = %s, assumed %q, want unknown for %q", got, got.Assumed, tc.want)
			}
		})
	}
}

// sortsOfQuestions are of all sorts: some fit, some do not, some are hard to decide.
func sortsOfQuestions() map[string]func() (*cluster.Snapshot, gang.Gang) {
	out := map[string]func() (*cluster.Snapshot, gang.Gang){
		"roles that keep apart": func() (*cluster.Snapshot, gang.Gang) { return twoZones(), rivals(9) },
		"spread and near": func() (*cluster.Snapshot, gang.Gang) {
			return threeZones(), gangOf(group("Worker", 4, build.Asks("8"), role("w"), even("zone", "w", 1)), group("Master", 1, build.Asks("8"), role("m"), near("zone", "w")))
		},
		"too large": func() (*cluster.Snapshot, gang.Gang) { return threeZones(), gpus(2, "9") },
		"too many":  func() (*cluster.Snapshot, gang.Gang) { return threeZones(), gpus(7, "8") },
		"fits":      func() (*cluster.Snapshot, gang.Gang) { return threeZones(), gpus(6, "8") },
	}
	return out
}

// answerWithin is the answer for so many steps, and how many of them were made.
func answerWithin(ctx context.Context, s *cluster.Snapshot, g gang.Gang, steps int) (fit.Result, int) {
	b := fit.NewBudget(steps)
	r := whatif.Within(ctx, s, g, b)
	return r, b.Used()
}

func TestMoreStepsNeverChangeAnAnswer(t *testing.T) {
	for name, ask := range sortsOfQuestions() {
		t.Run(name, func(t *testing.T) {
			s, g := ask()
			full, all := answerWithin(t.Context(), s, g, 1<<30)
			if full.Verdict == fit.Unknown {
				t.Fatalf("not answered at all: %s", full)
			}
			for steps := 1; steps < all; steps += max(1, all/200) {
				got, used := answerWithin(t.Context(), s, g, steps)
				if used > steps {
					t.Fatalf("%d steps were made of %d", used, steps)
				}
				switch {
				case got.Verdict == fit.Unknown:
					if !strings.Contains(strings.Join(got.Assumed, "; "), "steps that a question may cost") {
						t.Errorf("unknown within %d steps, and no reason: %q", steps, got.Assumed)
					}
				case strings.Contains(strings.Join(got.Assumed, "; "), "steps that a question may cost"): // some of it was not found out
				default:
					if diff := cmp.Diff(full.Plan, got.Plan); got.Verdict != full.Verdict || diff != "" {
						t.Errorf("within %d steps %s, within %d %s\n%s", steps, got, all, full, diff)
					}
				}
				if len(got.Changes) > len(full.Changes) || !cmp.Equal(got.Changes, full.Changes[:len(got.Changes)]) && len(got.Changes) > 0 {
					t.Errorf("within %d steps %q would fit, within %d %q", steps, got.Changes, all, full.Changes)
				}
			}
		})
	}
}

// TestAnAnswerStaysWhateverTheBudget is about all sorts of gangs and clusters: what is made never exceeds
// the budget, and what is answered within one is answered the same within a larger one.
func TestAnAnswerStaysWhateverTheBudget(t *testing.T) {
	check := func(name string, s *cluster.Snapshot, g gang.Gang, cuts int) {
		full, all := answerWithin(t.Context(), s, g, 1<<22)
		for cut := range cuts {
			steps := all * cut / cuts
			got, used := answerWithin(t.Context(), s, g, steps)
			why := strings.Join(got.Assumed, "; ")
			switch {
			case used > steps:
				t.Errorf("%s: %d steps were made of %d", name, used, steps)
			case got.Verdict == fit.Unknown && full.Verdict != fit.Unknown && !strings.Contains(why, "steps that a question may cost"):
				t.Errorf("%s: unknown within %d of %d steps, and no reason: %q", name, steps, all, why)
			case got.Verdict != fit.Unknown && (got.Verdict != full.Verdict || !cmp.Equal(got.Plan, full.Plan)):
				t.Errorf("%s: within %d steps %s\nwithin %d %s", name, steps, got, all, full)
			case len(got.Changes) > len(full.Changes) || !cmp.Equal(append([]string{}, got.Changes...), append([]string{}, full.Changes[:len(got.Changes)]...)):
				t.Errorf("%s: within %d steps %q would fit, within %d %q", name, steps, got.Changes, all, full.Changes)
			case got.Preempts != nil && !cmp.Equal(got.Preempts, full.Preempts):
				t.Errorf("%s: within %d steps %v, within %d %v", name, steps, got.Preempts, all, full.Preempts)
			}
		}
	}
	worlds(t, 300, func(_ *testing.T, seed uint64, _ *rand.Rand, w world) {
		check(fmt.Sprint("world ", seed), w.snapshot(), w.gang, 12)
	})
	for i, h := range constrained(12) {
		check(fmt.Sprint("constrained ", i), h.on, h.gang, 7)
	}
	for name, ask := range sortsOfQuestions() {
		s, g := ask()
		check(name, s, g, 30)
	}
}

func TestWithoutABudgetNothingIsClaimed(t *testing.T) {
	over := ruled(t, quotaOf("pods: 1", "pods: 0", ""), nil, build.Nodes(2, "n", build.GPUs(8)))
	for name, ask := range map[string]func(context.Context, *fit.Budget) fit.Result{
		"the fit": func(ctx context.Context, b *fit.Budget) fit.Result {
			return fit.Fit(ctx, over, in("ml", gpus(2, "8")), b)
		},
		"all of it": func(ctx context.Context, b *fit.Budget) fit.Result {
			return whatif.Within(ctx, over, in("ml", gpus(2, "8")), b)
		},
		"for nothing": func(ctx context.Context, b *fit.Budget) fit.Result { return whatif.Within(ctx, over, gang.Gang{}, b) },
	} {
		for _, steps := range []int{0, -1} {
			b := fit.NewBudget(steps)
			got := ask(t.Context(), b)
			if got.Verdict != fit.Unknown || len(got.Plan)+len(got.Changes)+len(got.Violations)+got.Placed > 0 || got.Preempts != nil || b.Used() > 0 {
				t.Errorf("%s: within %d steps %s, limits %v", name, steps, got, got.Violations)
			}
			if want := "the answer takes more than the 0 steps that a question may cost"; !cmp.Equal(got.Assumed, []string{want}) {
				t.Errorf("%s: assumed %q, want %q", name, got.Assumed, want)
			}
		}
	}
}

func TestTwoQuestionsShareABudget(t *testing.T) {
	b := fit.NewBudget(fit.Steps)
	first := fit.Fit(t.Context(), threeZones(), gpus(2, "8"), b)
	used := b.Used()
	second := whatif.Within(t.Context(), threeZones(), gpus(2, "9"), b)
	if first.Verdict != fit.Fits || second.Verdict != fit.TooBig || used == 0 || b.Used() <= used {
		t.Errorf("%s after %d steps, %s after %d", first, used, second, b.Used())
	}
}

// ending is a context that ends when it is looked at for the nth time, and remembers what was spent then.
type ending struct {
	context.Context
	budget  *fit.Budget
	looks   int
	left    int
	longest int // steps between two looks
	last    int
}

func (c *ending) Err() error {
	c.looks++
	c.longest, c.last = max(c.longest, c.budget.Used()-c.last), c.budget.Used()
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestNoStepIsMadeAfterTheContextHasEnded ends the hardest questions in their midst: no step is made once
// that was seen, and it is looked for often enough.
func TestNoStepIsMadeAfterTheContextHasEnded(t *testing.T) {
	all := hostiles()
	all["20000_claims"] = func(t testing.TB) []hostile { return manyClaims(t, 200, 800) } // the others take seconds to read
	for _, name := range sortedNames(all) {
		t.Run(name, func(t *testing.T) {
			asked := all[name](t)
			for i := range min(12, len(asked)) {
				h := asked[i]
				mostBetween := 16<<10 + 8*len(h.on.Nodes()) // steps, of some ten nanoseconds each
				b := fit.NewBudget(fit.Steps)
				whole := &ending{Context: t.Context(), budget: b, left: 1 << 30}
				whatif.Within(whole, h.on, h.gang, b)
				if whole.longest > mostBetween {
					t.Errorf("question %d: %d steps between two looks at the context, want at most %d", i, whole.longest, mostBetween)
				}
				for part := range 4 {
					b := fit.NewBudget(fit.Steps)
					c := &ending{Context: t.Context(), budget: b, left: whole.looks * part / 4}
					got := whatif.Within(c, h.on, h.gang, b)
					if b.Used() > c.last {
						t.Errorf("question %d: %d steps after the context has ended", i, b.Used()-c.last)
					}
					if why := strings.Join(got.Assumed, "; "); c.left < 0 && (got.Verdict != fit.Unknown && part == 0 || !strings.Contains(why, "withdrawn")) {
						t.Errorf("question %d, ended at look %d of %d: %.200s, %q", i, c.looks, whole.looks, got, why)
					}
				}
			}
		})
	}
}
