package policies_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/policies"
)

// TestWhatMutesNamesAChecks: exempt alone is about findings, and beside deny or warn about rulings.
func TestWhatMutesNamesACheck(t *testing.T) {
	const deny = "deny contains {\"path\": \"spec\", \"msg\": \"no\"}\n\n"
	for name, tc := range map[string]struct{ rules, want string }{
		"exempt alone, without a check":      {`exempt contains {"msg": "why"} if input.job.gpus > 0`, "it has neither deny nor warn"},
		"a check beside deny":                {deny + `exempt contains {"check": "shm-missing", "msg": "why"} if input.job.name != ""`, "holds an element whose check is shm-missing"},
		"a check that is no text":            {`exempt contains {"check": input.job.pods, "msg": "why"} if input.job.name != ""`, "holds an element whose check is"},
		"a check in one rule, none in other": {"exempt contains {\"check\": \"x\", \"msg\": \"why\"} if input.job.name == \"\"\n\nexempt contains {\"msg\": \"why\"} if input.job.name != \"\"", "holds an element whose check is <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := policies.Load(files("a.rego", policy("a", tc.rules)))
			said := ""
			if err != nil {
				said = err.Error()
			} else {
				said = strings.Join(decide(t, o, input("enforce")).Undecided, "; ")
			}
			if !strings.Contains(said, tc.want) {
				t.Errorf("%q; want %q", said, tc.want)
			}
		})
	}
}
