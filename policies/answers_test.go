package policies_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/policies"
)

// TestOneCallCannotFillTheMemory: a call of a built-in function cannot be stopped, so what its answer would
// take is asked before; just below the bound it answers.
func TestOneCallCannotFillTheMemory(t *testing.T) {
	const (
		kilo = `k := concat("", ["x" | some i in numbers.range(1, 1024)])` + "\n"
		mega = kilo + `m := concat("", [k | some i in numbers.range(1, 1024)])` + "\n"
	)
	cases := map[string]struct{ before, within, above string }{
		"concat, of its elements":      {mega, `concat("", [m | some i in numbers.range(1, 32)])`, `concat("", [[m, i][0] | some i in numbers.range(1, 33)])`},
		"concat, of its separator":     {mega, `concat(m, ["" | some i in numbers.range(1, 9)])`, `concat(m, [sprintf("%d", [i]) | some i in numbers.range(1, 33)])`},
		"replace":                      {mega, `replace("aaaa", "a", m)`, `replace(concat("", ["a" | some i in numbers.range(1, 33)]), "a", m)`},
		"replace, of nothing":          {mega, `replace("aaa", "", m)`, `replace(concat("", ["a" | some i in numbers.range(1, 33)]), "", m)`},
		"strings.replace_n":            {mega, `strings.replace_n({"a": m}, "aaaa")`, `strings.replace_n({"a": m, "b": m}, concat("", ["ab" | some i in numbers.range(1, 17)]))`},
		"regex.replace":                {mega, `regex.replace("aaaa", "a", m)`, `regex.replace(concat("", ["a" | some i in numbers.range(1, 33)]), "a", m)`},
		"sprintf, one operand often":   {mega, `sprintf("%[1]s%[1]s", [m])`, `sprintf(concat("", ["%[1]s" | some i in numbers.range(1, 33)]), [m])`},
		"sprintf, a list often":        {mega, `sprintf("%[1]v%[1]v", [[m]])`, `sprintf(concat("", ["%[1]v" | some i in numbers.range(1, 33)]), [[m]])`},
		"sprintf, of widths":           {"", `sprintf("%100s%9.2f", ["a", 1.5])`, `sprintf(concat("", ["%999999d" | some i in numbers.range(1, 34)]), numbers.range(1, 34))`},
		"sprintf, of widths as values": {"", `sprintf("%*d", [5, 1])`, `sprintf(concat("", ["%*d" | some i in numbers.range(1, 34)]), numbers.range(1, 68))`},
		"numbers.range":                {"", `numbers.range(1, 100000)`, `numbers.range(1, 1048578)`},
		"numbers.range, downwards":     {"", `numbers.range(100000, 1)`, `numbers.range(1048578, 1)`},
		"numbers.range, far":           {"", `numbers.range(1, 1e3)`, `numbers.range(-9e18, 9e18)`},
		"numbers.range_step":           {"", `numbers.range_step(1, 1048578, 100)`, `numbers.range_step(1, 10485780, 2)`},
		"split":                        {mega, `split(k, "")`, `split(concat("", [m, m]), "")`},
		"json.patch, copies of all":    {"", `json.patch([1], [{"op": "copy", "from": "", "path": "/-"} | some i in numbers.range(1, 12)])`, `json.patch([1], [{"op": "copy", "from": "", "path": "/-"} | some i in numbers.range(1, 24)])`},
		"a product":                    {"n := json.unmarshal(concat(\"\", [\"1\" | some i in numbers.range(1, 32768)]))\n", `n * n`, `n * json.unmarshal(sprintf("%d1", [n]))`},
		"a product of many":            {"", `product(numbers.range(1, 10000))`, `product(numbers.range(1, 20000))`},
		"json.marshal of a text":       {mega, `json.marshal(m)`, `json.marshal(concat("", [m, m, m, m, m, m]))`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			policies.Patiently(t)
			for rule, refused := range map[string]bool{c.within: false, c.above: true} {
				o := load(t, files("a.rego", policy("a", c.before+"\ndeny contains \"no\" if { x := "+rule+"; x != \"\" }")))
				got := decide(t, o, input("enforce"))
				why := "the answer would have more than 32 MiB"
				if strings.HasPrefix(name, "a product") {
					why = "a number, or those that are multiplied together, would have more than 65536 digits"
				}
				if refused && !strings.Contains(strings.Join(got.Undecided, "; "), why) || !refused && len(got.Rulings) != 1 {
					t.Errorf("%s: rulings %v, undecided %v", rule, got.Rulings, got.Undecided)
				}
			}
		})
	}
}

// TestWhatHasNoEndIsUnknown: such a policy is refused when it is loaded.
func TestWhatHasNoEndIsUnknown(t *testing.T) {
	for _, call := range []string{
		`graph.reachable_paths({}, [])`, `regex.globs_match("a", "b")`, `strings.render_template("{{.a}}", {"a": 1})`, `graphql.is_valid("", "")`,
	} {
		o := &policies.OPA{}
		err := o.Swap(files("a.rego", policy("a", "deny contains \"no\" if "+call)))
		name, _, _ := strings.Cut(call, "(")
		if err == nil || !strings.Contains(err.Error(), "undefined function "+name) {
			t.Errorf("%s: %v", call, err)
		}
	}
}
