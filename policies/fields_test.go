package policies_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/policies"
)

// TestAMisspeltFieldIsSeenWhereverItStands: also in what OPA's checker of types takes for anything.
func TestAMisspeltFieldIsSeenWhereverItStands(t *testing.T) {
	roles := "{ some r in input.job.roles; "
	cases := map[string]string{
		"a reference":               `deny contains "x" if input.job.gpuz > 1`,
		"a comprehension":           `deny contains "x" if count([g | g := input.job.roles[_].gpuz]) > 1`,
		"not":                       `deny contains "x" if not input.job.gpuz`,
		"else":                      "limit := 1 if input.job.gpuz > 1 else := 2\n\ndeny contains \"x\" if limit == 1",
		"every":                     `deny contains "x" if { every r in input.job.roles { r.gpuz > 1 } }`,
		"every with its key":        `deny contains "x" if { every i, r in input.job.roles { r.gpuz > i } }`,
		"every within every":        `deny contains "x" if { every r in input.job.roles { every v in r.volumes { v.gpuz == "a" } } }`,
		"a function":                "big(r) if r.gpuz > 1\n\ndeny contains \"x\" if " + roles + "big(r) }",
		"a function that is denied": "big(r) if r.gpuz > 1\n\ndeny contains \"x\" if " + roles + "not big(r) }",
		"a function of a function":  "of(r) := r.gpuz\n\nbig(r) if of(r) > 1\n\ndeny contains \"x\" if " + roles + "big(r) }",
		"a call in a comprehension": "big(r) if r.gpuz > 1\n\ndeny contains \"x\" if count([r | some r in input.job.roles; big(r)]) > 1",
		"a call in what is said":    "of(r) := r.gpuz\n\ndeny contains sprintf(\"%d\", [of(r)]) if some r in input.job.roles",
		"else of a function":        "of(r) := r.gpus_per_pod if r.max > 1 else := r.gpuz\n\ndeny contains \"x\" if " + roles + "of(r) > 1 }",
		"object.get":                `deny contains "x" if object.get(input.job, "gpuz", 0) > 8`,
		"object.get of a path":      `deny contains "x" if object.get(input.job, ["runtime", "gpuz"], "") == "a"`,
		"object.get in a function":  "of(r) := object.get(r, \"gpuz\", 0)\n\ndeny contains \"x\" if " + roles + "of(r) > 1 }",
		"with":                      "big if input.job.gpus > 1\n\ndeny contains \"x\" if big with input.job.gpuz as 3",
		"an exception":              "big(r) if r.gpuz > 1\n\ndeny contains {\"msg\": \"x\", \"path\": \"\"} if input.job.gpus > 1\n\nexempt contains \"y\" if " + roles + "big(r) }",
	}
	for name, rules := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := policies.Load(files("a.rego", policy("a", rules)))
			if err == nil || !strings.Contains(err.Error(), "undefined ") || !strings.Contains(err.Error(), "gpuz") {
				t.Errorf("%v; want gpuz undefined", err)
			}
			if len(policies.Places(err)) == 0 {
				t.Error("the place is not shown")
			}
			right := strings.NewReplacer("r.gpuz", "r.gpus_per_pod", "v.gpuz", "v.kind", `r, "gpuz"`, `r, "max"`, "roles[_].gpuz", "roles[_].max", `"runtime", "gpuz"`, `"runtime", "name"`, "gpuz", "gpus").Replace(rules)
			if _, err := policies.Load(files("a.rego", policy("a", right))); err != nil {
				t.Errorf("spelt right: %v", err)
			}
		})
	}
	_, err := policies.Load(files("a.rego", policy("a", `deny contains "x" if object.get(input.job, "gpuz", 0) > 8`)))
	if want := `compile policies: a.rego:8: undefined field: gpuz; did you mean "gpus"?`; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// TestAFunctionOfSeveralKindsOfThings may name what only one of them has, and labels have any name.
func TestAFunctionOfSeveralKindsOfThings(t *testing.T) {
	for name, rules := range map[string]string{
		"jobs and roles":     "gpus(x) := x.gpus\n\ndeny contains \"x\" if { gpus(input.job) > 1; some r in input.job.roles; not gpus(r) }",
		"an object or none":  "named(x) := x.name if is_object(x)\n\nnamed(x) := x if is_string(x)\n\ndeny contains \"x\" if { some r in input.job.roles; named(r) == named(r.name) }",
		"labels":             "of(m) := m.team\n\ndeny contains \"x\" if of(input.job.labels) == object.get(input.job.annotations, \"team\", \"\")",
		"the object":         "of(o) := o.spec.n\n\ndeny contains \"x\" if of(input.object) == object.get(input.object, [\"spec\", \"m\"], 1)",
		"a library of these": "import data.signalbox.lib.x\n\ndeny contains \"x\" if x.big(input.job)",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := policies.Load(files("a.rego", policy("a", rules), "x.rego", "package signalbox.lib.x\n\nbig(j) if j.gpus > 1")); err != nil {
				t.Error(err)
			}
		})
	}
	_, err := policies.Load(files("a.rego", policy("a", "import data.signalbox.lib.x\n\ndeny contains \"x\" if x.big(input.job)"), "x.rego", "package signalbox.lib.x\n\nbig(j) if j.gpuz > 1"))
	if err == nil || !strings.Contains(err.Error(), "x.rego:3: undefined field: gpuz") {
		t.Errorf("%v; want the line of the library", err)
	}
}

// TestPlacesOfARuleAreBounded: the 64th call is looked at, the 65th is not.
func TestPlacesOfARuleAreBounded(t *testing.T) {
	for calls, want := range map[int]bool{64: true, 65: false} {
		var b strings.Builder
		b.WriteString("deny contains \"x\" if {\n")
		for i := range calls - 1 {
			fmt.Fprintf(&b, "\tobject.get(input.job, \"gpus\", %d) > 1\n", i)
		}
		b.WriteString("\tobject.get(input.job, \"gpuz\", 0) > 1\n}")
		if _, err := policies.Load(files("a.rego", policy("a", b.String()))); (err != nil) != want {
			t.Errorf("%d calls: %v", calls, err)
		}
	}
}

// TestDataThatLiesNowhereIsAnError: settings lie at data.config, and other documents where they say.
func TestDataThatLiesNowhereIsAnError(t *testing.T) {
	for rule, want := range map[string]string{
		"data.config.limit":                    "",
		"data.signalbox.limit":                 "",
		"data.teams.limit":                     "",
		"data.signalbox.cluster.gpus_per_node": `compile policies: a.rego:8: undefined data: data.signalbox.cluster; did you mean "input.cluster"?`,
		"data.confg.limit":                     `compile policies: a.rego:8: undefined data: data.confg; did you mean "config"?`,
	} {
		_, err := policies.Load(files("a.rego", policy("a", `deny contains "x" if input.job.gpus > `+rule), "x.yaml", "teams: {limit: 1}"))
		if want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%s: %v\nwant %s", rule, err, want)
		}
	}
}

// TestThePagesLoad: every rule on the pages about writing policies, as it stands there.
func TestThePagesLoad(t *testing.T) {
	var blocks []string
	for _, name := range []string{"how-to/write-a-policy.md", "reference/writing-policies.md"} {
		page, err := os.ReadFile("../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, strings.Split(string(page), "```rego\n")[1:]...)
	}
	for _, block := range blocks {
		rules, _, _ := strings.Cut(block, "```")
		if !strings.Contains(rules, "package ") {
			if strings.HasPrefix(rules, "exempt") {
				rules = "deny contains \"no\" if input.job.gpus > 8\n\n" + rules
			}
			rules = policy("a", rules)
		}
		if _, err := policies.Load(files("a.rego", rules)); err != nil {
			t.Errorf("%v\n%s", err, rules)
		}
	}
	if len(blocks) < 5 {
		t.Errorf("%d rules were found; want 5 at least", len(blocks))
	}
}
