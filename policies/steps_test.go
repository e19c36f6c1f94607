package policies_test

import (
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/policies"
)

// A call that takes minutes is not stopped by anybody: the review that it is part of ends without it, and it goes on.
func TestOneCallCannotTakeForEver(t *testing.T) {
	const (
		steps  = "the call would take more than 268435456 steps"
		digits = "a number, or those that are multiplied together, would have more than 65536 digits"
		size   = "the answer would have more than 32 MiB"

		kilo  = `k := concat("", ["x" | some i in numbers.range(1, 1024)])` + "\n"
		mega  = kilo + `m := concat("", [k | some i in numbers.range(1, 1024)])` + "\n"
		long  = kilo + `d := concat("", [replace(k, "x", "7") | some i in numbers.range(1, 64)])` + "\n"
		texts = mega + `c := concat("", ["y" | some i in numbers.range(1, 256)])` + "\n"
	)
	for name, c := range map[string]struct{ before, within, above, why string }{
		"trim":                  {texts, `trim(m, c)`, `trim(m, concat("", [c, "z"]))`, steps},
		"trim_left":             {texts, `trim_left(m, c)`, `trim_left(m, concat("", [c, "z"]))`, steps},
		"trim_right":            {texts, `trim_right(m, c)`, `trim_right(m, concat("", [c, "z"]))`, steps},
		"indexof":               {texts, `indexof(m, concat("", [m, "z"])) < 0`, `indexof(replace(m, "x", "é"), concat("", [c, "z"]))`, steps},
		"indexof_n":             {texts, `indexof_n(m, concat("", [m, "z"])) == []`, `indexof_n(replace(m, "x", "é"), concat("", [c, "z"]))`, steps},
		"indexof_n, of many":    {mega, `indexof_n(k, "x") != []`, `indexof_n(concat("", [m, m]), "x") != []`, size},
		"json.patch":            {"l := numbers.range(1, 4096)\n", `json.patch(l, [{"op": "add", "path": "/0", "value": i} | some i in numbers.range(1, 2000)])`, `json.patch(l, [{"op": "add", "path": "/0", "value": i} | some i in numbers.range(1, 9000)])`, steps},
		"regex.match":           {mega, `regex.match("x{1,100}y", concat("", [k, "y"]))`, `regex.match("x{1,300}y", m)`, steps},
		"regex.replace":         {mega, `regex.replace(k, "x{1,100}y", "")`, `regex.replace(m, "(x|xx|xxx){300}y", "")`, steps},
		"regex.split":           {kilo, `regex.split("x{1,300}y", k)`, `regex.split("` + strings.Repeat("x{1000}", 200) + `", concat("", [k, k]))`, steps},
		"regex.find_n":          {kilo, `count(regex.find_n("x{1,300}y", k, -1))`, `regex.find_n("` + strings.Repeat("x{1000}", 200) + `", concat("", [k, k]), -1)`, steps},
		"find_all":              {kilo, `regex.find_all_string_submatch_n("(x)", k, -1)`, `regex.find_all_string_submatch_n("(x)(x)(x)(x)", replace(concat("", [k | some i in numbers.range(1, 256)]), "x", "xy"), -1)`, size},
		"find_all, of a count":  {kilo, `regex.find_all_string_submatch_n("(x{300})", k, -1)`, `regex.find_all_string_submatch_n("` + strings.Repeat("x{1000}", 200) + `", concat("", [k, k]), -1)`, steps},
		"json.unmarshal":        {mega, `json.unmarshal(concat("", ["[", replace(k, "x", "{},"), "1]"]))`, `json.unmarshal(concat("", ["[", replace(m, "x", "{},"), "1]"]))`, size},
		"json.is_valid":         {mega, `json.is_valid(concat("", ["[", replace(k, "x", "{},"), "1]"]))`, `json.is_valid(concat("", ["[", replace(m, "x", "{},"), "1]"]))`, size},
		"yaml.unmarshal":        {mega, `yaml.unmarshal(replace(k, "x", "- 1\n"))`, `yaml.unmarshal(replace(m, "x", "- 1\n"))`, size},
		"yaml.is_valid":         {mega, `yaml.is_valid(replace(k, "x", "- 1\n"))`, `yaml.is_valid(replace(m, "x", "- 1\n"))`, size},
		"a number of JSON":      {long, `json.unmarshal(d) > 1`, `json.unmarshal(concat("", [d, "7"])) > 1`, digits},
		"a number of YAML":      {long, `yaml.unmarshal(d) != 1`, `yaml.unmarshal(concat("", [d, "7"])) != 1`, digits},
		"a number of a text":    {long, `to_number(concat("", ["0.", substring(d, 1, -1)])) < 1`, `to_number(concat("", ["0.", d])) < 1`, digits},
		"a number that is told": {long, `to_number("12.5") < 13`, `json.is_valid(concat("", ["[1, ", d, "7]"]))`, digits},
	} {
		t.Run(name, func(t *testing.T) {
			policies.Patiently(t)
			for rule, why := range map[string]string{c.within: "", c.above: c.why} {
				o := load(t, files("a.rego", policy("a", c.before+"\ndeny contains \"no\" if { x := "+rule+"; x != \"\" }")))
				got := decide(t, o, input("enforce"))
				if undecided := strings.Join(got.Undecided, "; "); !strings.HasSuffix(undecided, why) || (why == "") != (undecided == "") {
					t.Errorf("%s: undecided %v, want %q", rule, got.Undecided, why)
				}
			}
		})
	}
}
