package plan_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/signalbox-dev/signalbox/policies/plan"
)

// asked is an input that is read from Go, with all that one may be made of.
type asked struct {
	Roles   []role            `json:"roles"`
	Labels  map[string]string `json:"labels"`
	Amounts map[string]int64  `json:"amounts"`
	Numbers []int64           `json:"numbers"`
	Nested  map[string][]int  `json:"nested"`
	Runtime *role             `json:"runtime,omitempty"`
	Name    string            `json:"name"`
	Known   bool              `json:"known"`
	Any     any               `json:"any"`
}

type role struct {
	Name   string            `json:"name"`
	GPUs   int64             `json:"gpus"`
	Net    bool              `json:"net"`
	Images []string          `json:"images"`
	Labels map[string]string `json:"labels,omitempty"`
	Inner  []*role           `json:"inner"`
	hidden int               //nolint:unused // JSON leaves it out
}

// composer makes rules and inputs of bytes: each is one choice.
type composer struct {
	choices []byte
	vars    []string
	made    int
}

func (c *composer) pick(n int) int {
	if len(c.choices) == 0 {
		return 0
	}
	b := c.choices[0]
	c.choices = c.choices[1:]
	return int(b) % n
}

func (c *composer) one(of ...string) string { return of[c.pick(len(of))] }

func (c *composer) variable() string {
	c.made++
	name := fmt.Sprintf("v%d", c.made)
	c.vars = append(c.vars, name)
	return name
}

func (c *composer) composite() string {
	places := []string{
		"input.roles", "input.labels", "input.amounts", "input.numbers", "input.nested", "input.roles[0]", "input.roles[_].images", "input.runtime",
		"input", "data.config", "input.any", "input.nested.x", "q", "input.roles[_].inner", "[1, input.name]", "{input.name, 1}", "input.missing",
	}
	for _, v := range c.vars {
		places = append(places, v, v+".labels", v+".images", v+".inner", v+"[_]", v+"[0]")
	}
	return c.one(places...)
}

func (c *composer) term(deep int) string {
	switch c.pick(12) {
	case 0:
		return c.one("1", "0", "2", `"a"`, `"b"`, "true", "false", "null", "1.0", "1e0", "-1", `""`, `"\u00e9"`, "1234567890123456789", "[]", "{}", "set()")
	case 1:
		return "input." + c.one("name", "known", "numbers[0]", "labels.a", `labels["b"]`, "amounts.a", "roles[1].gpus", "runtime.name", "roles[0].net", "any", "missing", "numbers[input.numbers[0]]")
	case 2, 3, 4:
		if len(c.vars) > 0 {
			return c.vars[c.pick(len(c.vars))] + c.one("", ".name", ".gpus", ".net", ".labels.a", `["gpus"]`, "[0]")
		}
		return "data.config." + c.one("limit", "names", "deep.a")
	case 5:
		return "count(" + c.composite() + ")"
	case 6:
		if deep > 0 {
			return "f(" + c.term(deep-1) + ")"
		}
		return "d"
	case 7, 8:
		if deep > 0 {
			return c.comprehension(deep - 1)
		}
		return "q"
	case 9:
		return c.one("sum", "max", "sort", "lower", "to_number", "type_name", "is_null") + "(" + c.composite() + ")"
	case 10:
		if deep > 0 {
			return c.one("[%[1]s, %[2]s]", "{%[1]s, %[2]s}", `{"k": %[1]s, "l": %[2]s}`, "concat(\",\", {%[1]s})", "%[1]s | %[2]s", "%[1]s + 1")
		}
		return "d"
	default:
		return c.composite()
	}
}

func (c *composer) comprehension(deep int) string {
	had := len(c.vars)
	body := c.body(1+c.pick(2), deep)
	head := c.filled(deep)
	out := c.one("["+head+" | "+body+"]", "{"+head+" | "+body+"}", "{"+head+": 1 | "+body+"}")
	c.vars = c.vars[:had]
	return out
}

// filled is a term whose holes are filled.
func (c *composer) filled(deep int) string {
	t := c.term(deep)
	if strings.Contains(t, "%[") {
		t = fmt.Sprintf(t+"%.0[1]s%.0[2]s", c.filled(max(deep-1, 0)), c.filled(max(deep-1, 0)))
		t, _, _ = strings.Cut(t, "%!")
	}
	return t
}

func (c *composer) expression(deep int) string {
	switch c.pick(9) {
	case 0:
		from := c.composite()
		return "some " + c.variable() + " in " + from
	case 1:
		from := c.composite()
		k, v := c.variable(), c.variable()
		return "some " + k + ", " + v + " in " + from
	case 2:
		value := c.filled(deep)
		return c.variable() + " := " + value
	case 3:
		return "not " + c.expressionOf(deep)
	case 4:
		from, had := c.composite(), len(c.vars)
		v := c.variable()
		out := "every " + v + " in " + from + " { " + c.expressionOf(deep) + " }"
		c.vars = c.vars[:had]
		return out
	default:
		return c.expressionOf(deep)
	}
}

func (c *composer) expressionOf(deep int) string {
	a, b := c.filled(deep), c.filled(deep)
	return c.one(a+" == "+b, a+" != "+b, a+" > "+b, a+" <= "+b, a, "startswith("+a+", "+b+")", a+" in "+b, a+" = "+b, "endswith("+a+", "+b+")")
}

func (c *composer) body(n, deep int) string {
	var all []string
	for range n {
		all = append(all, c.expression(deep))
	}
	return strings.Join(all, "; ")
}

func (c *composer) rule() string {
	c.vars = nil
	body := c.body(1+c.pick(4), 2)
	return c.one(
		"p contains "+c.filled(1)+" if { "+body+" }",
		"p contains {\"msg\": "+c.filled(1)+", \"path\": "+c.filled(0)+"} if { "+body+" }",
		"p := "+c.filled(1)+" if { "+body+" } else := "+c.filled(0),
		"p[k] := "+c.filled(1)+" if { some k, _ in "+c.composite()+"; "+body+" }",
		"default p := 0\n\np := "+c.filled(1)+" if { "+body+" }",
	)
}

func (c *composer) input(deep int) (out asked) {
	texts := []string{"a", "b", "", "\u00e9", "a\xff", "image/a"}
	roles := func() (all []role) {
		for range c.pick(12) {
			r := role{Name: texts[c.pick(len(texts))], GPUs: []int64{0, 1, 2, -1, 1 << 60, 999_999_999_999_999, 1_000_000_000_000_000}[c.pick(7)], Net: c.pick(2) == 1}
			for range c.pick(3) {
				r.Images = append(r.Images, texts[c.pick(len(texts))])
			}
			if c.pick(2) == 1 {
				r.Labels = map[string]string{texts[c.pick(len(texts))]: "a"}
			}
			all = append(all, r)
		}
		return all
	}
	out = asked{Roles: roles(), Name: texts[c.pick(len(texts))], Known: c.pick(2) == 1, Numbers: []int64{int64(c.pick(4)), 1, int64(c.pick(3))}}
	out.Labels = []map[string]string{nil, {}, {"a": "b"}, {"a": "a", "b": ""}, {"a\xff": "x"}}[c.pick(5)]
	out.Amounts = []map[string]int64{nil, {"a": 1}, {"a": 1 << 60, "b": 0}}[c.pick(3)]
	out.Nested = []map[string][]int{nil, {"x": {1, 2}}, {"x": nil, "y": {}}}[c.pick(3)]
	out.Any = []any{nil, 1.5, "a", []any{1, "a"}, map[string]any{"a": 1}}[c.pick(5)]
	if len(out.Roles) > 0 && deep > 0 {
		out.Runtime = &role{Name: "r", Inner: []*role{nil, {Name: "i"}}}
		out.Roles[0].Inner = []*role{out.Runtime}
	}
	return out
}

// FuzzComposedRules: rules that compile more often than not, about inputs that are read from Go as
// rules look at them, with one machine for all.
func FuzzComposedRules(f *testing.F) {
	for i := range 64 {
		seed := make([]byte, 160)
		for j := range seed {
			seed[j] = byte((i*131 + j*j*37 + j*(i+7)) >> 2)
		}
		f.Add(seed)
	}
	read, m := plan.InputOf[asked](), &plan.Machine{}
	f.Fuzz(func(t *testing.T, choices []byte) { answered(t, m, read, choices) })
}

// TestComposedRules is the same with choices by chance, always the same ones: most of the rules
// compile, and of those plans answer most.
func TestComposedRules(t *testing.T) {
	const rules = 600
	read, m, chance := plan.InputOf[asked](), &plan.Machine{}, rand.NewChaCha8([32]byte{})
	n := 0
	for range rules {
		choices := make([]byte, 400)
		_, _ = chance.Read(choices) // never fails
		if answered(t, m, read, choices) {
			n++
		}
	}
	t.Logf("%d of %d rules are answered by their plan", n, rules)
	if n < rules/4 {
		t.Errorf("%d of %d rules are answered by their plan", n, rules)
	}
}

// answered asks a rule in both ways; false: it has no plan, or the plan no answer.
func answered(t *testing.T, m *plan.Machine, read func(*plan.Machine, *asked) *plan.Value, choices []byte) bool {
	t.Helper()
	c := &composer{choices: choices}
	in := c.input(1)
	text := "package a\n\nf(x) := x if x != 1\n\nd := [1, input.name]\n\nq contains input.roles[_].name\n\n" + c.rule() + "\n"
	w, err := worldOf([]string{text}, map[string]any{"config": map[string]any{"limit": 2, "names": []any{"a", "b"}, "deep": map[string]any{"a": "a"}}}, in)
	if err != nil {
		return false
	}
	ctx, end := context.WithTimeout(t.Context(), 2*time.Second)
	defer end()
	at := ast.MustParseRef("data.a.p")
	p, err := plan.Of(ctx, at, w.compiler, w.store, w.data)
	if err != nil {
		return false
	}
	defer m.Forget()
	for range 2 {
		got, err := p.Ask(ctx, m, read(m, &in), plan.Limits{Until: time.Now().Add(time.Second)})
		if err != nil {
			return false
		}
		want, err := w.asked(ctx, at)
		if ctx.Err() != nil || topdown.IsError(err) && strings.Contains(err.Error(), "eval_type_error") {
			return false // of a term that nothing needs: a plan never reaches it
		}
		if err != nil || (got == nil) != (want == nil) || got != nil && got.Compare(want) != 0 {
			t.Fatalf("it is %v; OPA says %v, %v\n%s\n%v", got, want, err, text, w.input)
		}
	}
	return true
}
