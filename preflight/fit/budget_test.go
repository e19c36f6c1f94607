package fit_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
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
	b := assign.NewBudget(ctx, steps)
	r := whatif.Within(s, g, b)
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
