package diagnose_test

import (
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// That no node takes a pod is certain; of what sort the reason is where no rule knows it, is a guess.
func TestAReasonOfTheSchedulerThatNoRuleKnowsIsAHypothesis(t *testing.T) {
	const event = "Events:\n  Type     Reason            Age   From               Message\n  ----     ------            ----  ----               -------\n" +
		"  Warning  FailedScheduling  2m    default-scheduler  0/4 nodes are available: 4 "
	for reason, want := range map[string]diagnose.Standing{
		"node(s) had an odd reason":   diagnose.Hypothesis,
		"Insufficient nvidia.com/gpu": diagnose.Supported,
	} {
		t.Run(reason, func(t *testing.T) {
			r := read(t, "", strings.NewReader(event+reason+".\n"))
			if r.Root == nil || r.Root.Standing != want {
				t.Errorf("category %q, root %+v; want %s", r.Category, r.Root, want)
			}
		})
	}
}

// A log that ends with a result is one of a run that ended well; one that ends with what training measures is on its
// way, or was cut.
func TestALogThatEndsWithAResultEndedWell(t *testing.T) {
	const begin = "loading\nreading\n"
	for name, tc := range map[string]struct {
		end  string
		want string
	}{
		"a state":                        {"job: result: OK\n", "Yes"},
		"a state that is none":           {"job: result: not OK\n", "Unknown"},
		"measured on data kept apart":    {"wandb: val_map 0.87\n", "Yes"},
		"measured on data trained on":    {"wandb: train_map 0.87\n", "Unknown"},
		"a count of what was kept apart": {"val_files 12\n", "Unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(begin+tc.end))
			if got := diagnose.HealthyWord(r.Verdict); got != tc.want {
				t.Errorf("healthy %s: %s; want %s", got, r.Analysis, tc.want)
			}
		})
	}
}
