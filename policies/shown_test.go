package policies_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox-dev/signalbox/policies"
)

// TestErrorsShowLineAndCaret: of the parser and of the compiler; in one line for annotations, with the place for terminals.
func TestErrorsShowLineAndCaret(t *testing.T) {
	cases := map[string]struct{ rules, want string }{
		"no Rego": {"deny contains msg if {\n\tmsg := \"no\" +\n}", `load policy a.rego:10:1: unexpected } token, in: }
  a.rego:10 | }
              ^`},
		"a misspelt field": {"deny contains \"no\" if {\n\tinput.job.gpuz > 8\n}", `compile policies: a.rego:9: undefined ref: input.job.gpuz; did you mean "gpus"?
  a.rego:9 | 	input.job.gpuz > 8
             	^`},
		"a field of another part": {"deny contains \"no\" if input.request.namespace == \"ml\"", `compile policies: a.rego:8: undefined ref: input.request.namespace; did you mean "input.job.namespace"?
  a.rego:8 | deny contains "no" if input.request.namespace == "ml"
                                   ^`},
		"a field of no part": {"deny contains \"no\" if input.request.nowhere == \"ml\"", `compile policies: a.rego:8: undefined ref: input.request.nowhere
  a.rego:8 | deny contains "no" if input.request.nowhere == "ml"
                                   ^`},
		"an unknown function": {"deny contains \"no\" if count_all(input.job.roles) > 8", `compile policies: a.rego:8: undefined function count_all
  a.rego:8 | deny contains "no" if count_all(input.job.roles) > 8
                                   ^`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := policies.Load(files("a.rego", policy("a", tc.rules)))
			if err == nil {
				t.Fatal("it loads")
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a line", err)
			}
			got := strings.Join(append([]string{err.Error()}, policies.Places(err)...), "\n")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error("-want +got\n" + diff)
			}
		})
	}
	long := policy("a", "deny contains \""+strings.Repeat("x", 401)+"\" if input.job.gpuz > 8")
	if _, err := policies.Load(files("a.rego", long)); err == nil || len(policies.Places(err)) > 0 {
		t.Error("a line above the bound is shown")
	}
}

// TestCoverageNamesWhatNothingEvaluates: examples and tests in Rego count alike.
func TestCoverageNamesWhatNothingEvaluates(t *testing.T) {
	rules := policy("a", `deny contains {"path": "spec", "msg": "many"} if {
	input.job.kind == "MPIJob"
	input.job.gpus > 8
}

deny contains {"path": "spec", "msg": "huge"} if {
	input.job.kind == "RayJob"
	input.job.gpus > 900
}
`)
	test := "package signalbox.a_test\n\nimport data.signalbox.a\n\ntest_it if count(a.deny) == 1 with input as {\"job\": {\"kind\": \"MPIJob\", \"gpus\": 9}}\n"
	tested, covered, err := policies.Test(t.Context(), files("a.rego", rules, "a_test.rego", test), nil)
	if err != nil || len(tested) != 1 || tested[0].Problem != "" {
		t.Fatalf("%+v, %v", tested, err)
	}
	want := []policies.Covered{{File: "a.rego", Percent: 50, Not: []string{"13", "14", "15"}}}
	if diff := cmp.Diff(want, covered); diff != "" {
		t.Error("-want +got\n" + diff)
	}
	_, covered, err = policies.Test(t.Context(), files("a.rego", strings.Replace(rules, "MPIJob", "PyTorchJob", 1), "testdata/a/allow-a.yaml", contractJob[:strings.Index(contractJob, "---")]), nil)
	if err != nil || len(covered) != 1 || covered[0].Percent == 0 || covered[0].Percent == 100 {
		t.Errorf("%+v, %v: want that an example covers something", covered, err)
	}
}
