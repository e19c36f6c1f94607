package plan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/test/cases"
	"github.com/open-policy-agent/opa/v1/test/cases/testdata"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/policies/plan"
)

// world is a set of modules, and what their rules are asked about.
type world struct {
	compiler *ast.Compiler
	store    storage.Store
	data     *ast.Term
	input    ast.Value
}

func worldOf(modules []string, data map[string]any, input any) (world, error) {
	w := world{compiler: ast.NewCompiler().WithCapabilities(deterministic())}
	parsed := map[string]*ast.Module{}
	for i, text := range modules {
		name := fmt.Sprintf("%d.rego", i)
		m, err := ast.ParseModuleWithOpts(name, text, ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil || m == nil {
			return w, fmt.Errorf("parse: %w", err)
		}
		parsed[name] = m
	}
	if w.compiler.Compile(parsed); w.compiler.Failed() {
		return w, w.compiler.Errors
	}
	if data == nil {
		data = map[string]any{}
	}
	w.store = inmem.NewFromObject(data)
	base, err := ast.InterfaceToValue(data)
	if err != nil {
		return w, err
	}
	w.data = ast.NewTerm(base)
	w.input, err = ast.InterfaceToValue(input)
	return w, err
}

func deterministic() *ast.Capabilities {
	c := ast.CapabilitiesForThisVersion()
	c.Builtins = slices.DeleteFunc(slices.Clone(c.Builtins), func(b *ast.Builtin) bool { return b.IsNondeterministic() })
	return c
}

// asked is what OPA says of a rule, without its index of rules; nil: undefined.
func (w world) asked(ctx context.Context, at ast.Ref) (ast.Value, error) {
	query, err := rego.New(
		rego.ParsedQuery(ast.NewBody(ast.Equality.Expr(ast.VarTerm("answer"), ast.NewTerm(at)))),
		rego.Compiler(w.compiler), rego.Store(w.store), rego.StrictBuiltinErrors(true),
		rego.GenerateJSON(func(t *ast.Term, _ *rego.EvalContext) (any, error) { return t.Value, nil }),
	).PrepareForEval(ctx)
	if err != nil {
		return nil, err
	}
	found, err := query.Eval(ctx, rego.EvalParsedInput(w.input), rego.EvalRuleIndexing(false))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	value, ok := found[0].Bindings["answer"].(ast.Value)
	if !ok {
		return nil, fmt.Errorf("%v has no answer", found[0].Bindings)
	}
	return value, nil
}

// rules are the names of what has no parameters.
func (w world) rules() (out []ast.Ref) {
	for _, m := range w.compiler.Modules {
		for _, r := range m.Rules {
			at := r.Ref().GroundPrefix()
			if len(r.Head.Args) == 0 && !slices.ContainsFunc(out, func(o ast.Ref) bool { return o.Equal(at) }) {
				out = append(out, at)
			}
		}
	}
	return out
}

// TestPlansSayWhatOPASays asks every rule of OPA's own suite of cases in both ways: what a plan
// answers, OPA answers.
func TestPlansSayWhatOPASays(t *testing.T) {
	var planned, left int
	err := fs.WalkDir(testdata.V1, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(name) != ".yaml" {
			return err
		}
		text, err := fs.ReadFile(testdata.V1, name)
		if err != nil {
			return err
		}
		var set cases.Set
		if err := yaml.Unmarshal(text, &set); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, c := range set.Cases {
			ran, not := compare(t, c)
			planned, left = planned+ran, left+not
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d answers of plans are OPA's; %d were left to OPA", planned, left)
	if planned < 3*left {
		t.Errorf("plans answered %d times, and %d times they did not", planned, left)
	}
}

func compare(t *testing.T, c cases.TestCase) (planned, left int) {
	t.Helper()
	var data map[string]any
	if c.Data != nil {
		data = *c.Data
	}
	var input any
	if c.Input != nil {
		input = *c.Input
	}
	w, err := worldOf(c.Modules, data, input)
	if err != nil {
		return 0, 0 // a case about what does not compile
	}
	if c.InputTerm != nil {
		w.input = ast.MustParseTerm(*c.InputTerm).Value
	}
	for _, at := range w.rules() {
		p, err := plan.Of(t.Context(), at, w.compiler, w.store, w.data)
		if err != nil {
			left++
			continue
		}
		got, err := p.Ask(t.Context(), &plan.Machine{}, plan.Term(ast.NewTerm(w.input)), plan.Limits{})
		if errors.Is(err, plan.ErrUnplanned) {
			left++
			continue
		}
		want, wantErr := w.asked(t.Context(), at)
		switch {
		case err != nil:
			t.Errorf("%s: %v: %v", c.Note, at, err)
		case wantErr != nil:
			t.Errorf("%s: %v is %v; OPA says %v", c.Note, at, got, wantErr)
		case (got == nil) != (want == nil) || got != nil && got.Compare(want) != 0:
			t.Errorf("%s: %v is %v; OPA says %v", c.Note, at, got, want)
		}
		planned++
	}
	return planned, left
}

// TestARunEnds by its time, and by its flag: in loops that never leave the plan.
func TestARunEnds(t *testing.T) {
	w, err := worldOf([]string{"package a\n\np contains x if {\n\tsome x in numbers.range(1, 3000)\n\tsome y in numbers.range(1, 3000)\n\tx == y + 5000\n}\n"}, nil, map[string]any{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.Of(t.Context(), ast.MustParseRef("data.a.p"), w.compiler, w.store, w.data)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Ask(t.Context(), &plan.Machine{}, plan.Term(ast.NewTerm(w.input)), plan.Limits{Until: time.Now().Add(5 * time.Millisecond)}); !errors.Is(err, plan.ErrStopped) {
		t.Errorf("after its time: %v; want %v", err, plan.ErrStopped)
	}
	var over atomic.Bool
	time.AfterFunc(5*time.Millisecond, func() { over.Store(true) })
	if _, err := p.Ask(t.Context(), &plan.Machine{}, plan.Term(ast.NewTerm(w.input)), plan.Limits{Stop: &over}); !errors.Is(err, plan.ErrStopped) {
		t.Errorf("after its flag: %v; want %v", err, plan.ErrStopped)
	}
}

// TestWhatIsLeftToOPA: errors, conflicts, and what plans say otherwise.
func TestWhatIsLeftToOPA(t *testing.T) {
	for name, rule := range map[string]string{
		"an error of a built-in": `p := 1 / input.zero`,
		"two values":             "p := 1 if input.zero == 0\n\np := 2 if input.zero < 1",
		"with":                   "q if input.zero == 1\n\np if q with input as {\"zero\": 1}",
		"walk":                   `p contains v if walk(input, [_, v])`,
		"objects in objects":     `p[k][v] := 1 if some k, v in input`,
	} {
		t.Run(name, func(t *testing.T) {
			w, err := worldOf([]string{"package a\n\n" + rule + "\n"}, nil, map[string]any{"zero": 0})
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Of(t.Context(), ast.MustParseRef("data.a.p"), w.compiler, w.store, w.data)
			if err == nil {
				_, err = p.Ask(t.Context(), &plan.Machine{}, plan.Term(ast.NewTerm(w.input)), plan.Limits{})
			}
			if !errors.Is(err, plan.ErrUnplanned) {
				t.Errorf("%v; want %v", err, plan.ErrUnplanned)
			}
			if said := fmt.Sprint(err); strings.TrimSpace(said) == "" {
				t.Error("it does not say why")
			}
		})
	}
}

// FuzzPlansSayWhatOPASays: any rules that compile, about any input.
func FuzzPlansSayWhatOPASays(f *testing.F) {
	for _, rules := range []string{
		"p contains x if some x in input.a",
		"p := [x | some x in input.a; x > 1]",
		"p if every x in input.a { x > 0 }",
		"default p := false\n\np if not input.b",
		"p[k] := v if some k, v in input.c",
		"f(x) := y if y := x + 1\n\np contains f(x) if some x in input.a",
		"p := {k: v | some k, v in input.c; startswith(k, \"x\")}",
		"p := 1 if input.a[0] == 1 else := 2 if input.b",
	} {
		f.Add(rules, `{"a": [1, 2, 3], "b": false, "c": {"x": 1, "y": [2]}}`)
	}
	f.Fuzz(func(t *testing.T, rules, input string) {
		var asked any
		if json.Unmarshal([]byte(input), &asked) != nil {
			return
		}
		w, err := worldOf([]string{"package a\n\n" + rules}, nil, asked)
		if err != nil {
			return
		}
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		for _, at := range w.rules() {
			p, err := plan.Of(ctx, at, w.compiler, w.store, w.data)
			if err != nil {
				continue
			}
			got, err := p.Ask(ctx, &plan.Machine{}, plan.Term(ast.NewTerm(w.input)), plan.Limits{Until: time.Now().Add(time.Second)})
			if err != nil {
				continue
			}
			want, err := w.asked(ctx, at)
			if ctx.Err() != nil {
				return
			}
			if err != nil || (got == nil) != (want == nil) || got != nil && got.Compare(want) != 0 {
				t.Errorf("%v is %v; OPA says %v, %v\n%s\n%s", at, got, want, err, rules, input)
			}
		}
	})
}
