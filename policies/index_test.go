package policies_test

import "testing"

// TestARuleIsAskedWhereAnInputStandsAmongOthers: by its plan, where it has none, and where its data
// is looked at before anything is asked. OPA's index of rules leaves out all three.
func TestARuleIsAskedWhereAnInputStandsAmongOthers(t *testing.T) {
	for name, when := range map[string]string{
		"by its plan":          `input.job.namespace in ["x", input.job.namespace]`,
		"by OPA":               `input.job.namespace in ["x", input.job.namespace]; walk(input.job.labels, [[], _])`,
		"of data and an input": `data.config.namespace in ["x", input.job.namespace]; walk(input.job.labels, [[], _])`,
	} {
		t.Run(name, func(t *testing.T) {
			o := load(t, files("a.rego", policy("a", `deny contains {"path": "spec", "msg": "no"} if { `+when+` }`), "x.yaml", "config: {namespace: ml}"))
			if got := decide(t, o, input("enforce")); len(got.Rulings) != 1 {
				t.Errorf("%+v; want one denial", got)
			}
		})
	}
}
