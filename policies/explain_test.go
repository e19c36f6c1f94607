package policies_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
)

func explain(t *testing.T, rules string, in preflight.Input) policies.Explanation {
	t.Helper()
	got, err := policies.Explain(t.Context(), load(t, files("a.rego", policy("a", rules))).InForce(), in)
	if err != nil || len(got) == 0 {
		t.Fatalf("%v, %v", got, err)
	}
	return got[0]
}

// TestExplainSaysWhatDidNotHold: the expression, its line, and the values in it.
func TestExplainSaysWhatDidNotHold(t *testing.T) {
	in := input("enforce")
	in.Job.GPUs, in.Job.Kind = 8, "PyTorchJob"
	got := explain(t, "most := 64\n\ndeny contains \"no\" if {\n\tinput.job.kind == \"PyTorchJob\"\n\tinput.job.gpus > most\n}\n\ndeny contains \"other\" if input.job.kind == \"MPIJob\"", in)
	want := policies.Explanation{
		Policy: "a", Rule: "deny", File: "a.rego",
		Read: []policies.Fact{{Place: "input.job.gpus", Value: []byte("8")}, {Place: "input.job.kind", Value: []byte(`"PyTorchJob"`)}},
		Failed: []policies.FailedExpression{
			{File: "a.rego", Line: 12, Text: "input.job.gpus > most", With: []policies.Operand{{Value: "8"}, {Value: "64"}}},
			{File: "a.rego", Line: 15, Text: `input.job.kind == "MPIJob"`},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("-want +got\n" + diff)
	}
}

// TestExplainSaysWhatWasSaid: and nothing else changes by being explained.
func TestExplainSaysWhatWasSaid(t *testing.T) {
	in := input("enforce")
	in.Job.GPUs = 8
	rules := "deny contains {\"path\": \"spec\", \"msg\": \"no\"} if input.job.gpus > 4\n\nexempt contains {\"msg\": \"ana may\"} if input.request.user == \"ana\""
	o := load(t, files("a.rego", policy("a", rules)))
	got, err := policies.Explain(t.Context(), o.InForce(), in)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v; want deny and exempt", got, err)
	}
	if diff := cmp.Diff(decide(t, o, in).Rulings, got[0].Says); diff != "" || got[1].Rule != "exempt" || len(got[1].Failed) != 1 {
		t.Errorf("%s\n%+v", diff, got[1])
	}
}

// TestExplanationsAreBounded: one above each bound.
func TestExplanationsAreBounded(t *testing.T) {
	var rules strings.Builder
	for i := range 13 {
		fmt.Fprintf(&rules, "deny contains \"no\" if input.job.gpus > %d\n", 100+i)
	}
	if got := explain(t, rules.String(), input("enforce")); len(got.Failed) != 12 || got.More != 1 {
		t.Errorf("%d expressions and %d more; want 12 and 1", len(got.Failed), got.More)
	}
	in := input("enforce")
	in.Job.Name = strings.Repeat("n", 121)
	got := explain(t, `deny contains "no" if startswith(input.job.name, "other")`, in)
	if value := got.Failed[0].With[0].Value; len([]rune(value)) != 120 || !strings.HasSuffix(value, "…") {
		t.Errorf("a value of %d characters", len([]rune(value)))
	}
	if value := string(got.Read[0].Value); !strings.HasSuffix(value, `…"`) {
		t.Errorf("a fact %s", value)
	}
	loop := `deny contains "no" if { some i in numbers.range(1, 1000000); some j in numbers.range(1, 1000000); i * j == input.job.gpus - 7 }`
	if got := explain(t, loop, input("enforce")); got.Failure == "" {
		t.Errorf("%+v; want the reason why it gave no answer", got)
	}
}

// TestExplainSaysWhatIsNotConfigured: such a rule is not evaluated.
func TestExplainSaysWhatIsNotConfigured(t *testing.T) {
	if got := explain(t, `deny contains "no" if input.job.gpus > data.config.limit`, input("enforce")); !got.Silent || len(got.Failed) > 0 {
		t.Errorf("%+v; want silent", got)
	}
}

// TestExplainSaysAnExceptionOnce: though deny and warn of a policy share it.
func TestExplainSaysAnExceptionOnce(t *testing.T) {
	both := "deny contains \"no\" if input.job.gpus > 4\n\nwarn contains \"hm\" if input.job.gpus > 2\n\nexempt contains \"ana may\" if input.request.user == \"ana\""
	got, err := policies.Explain(t.Context(), load(t, files("a.rego", policy("a", both), "b.rego", policy("b", both))).InForce(), input("enforce"))
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, e := range got {
		rules = append(rules, e.Policy+" "+e.Rule)
	}
	if diff := cmp.Diff([]string{"a deny", "a exempt", "a warn", "b deny", "b exempt", "b warn"}, rules); diff != "" {
		t.Error("-want +got\n" + diff)
	}
}
