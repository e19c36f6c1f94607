package plan

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
)

// Fields that one statement reads are no steps of their own; those that two statements read are. What comes out is
// compared with OPA in TestPlansSayWhatOPASays.
func TestFieldsAreLookedUpWhereTheyAreRead(t *testing.T) {
	for body, want := range map[string]int{
		"input.a > 1":                       1,
		"input.a.b > input.c":               1,
		"x := input.a; x > 1":               1,
		"x := input.a; x > 1; x < 5":        3, // it is read twice
		"x := input.a; not x > 1":           2, // undefined before the negation is not undefined within it
		"x := input.a; y := input.b; x > y": 1,
		"startswith(input.a, input[\"b\"])": 1,
	} {
		m := ast.MustParseModuleWithOpts("package p\n\np if { "+body+" }", ast.ParserOptions{RegoVersion: ast.RegoV1})
		compiler := ast.NewCompiler()
		if compiler.Compile(map[string]*ast.Module{"p": m}); compiler.Failed() {
			t.Fatal(compiler.Errors)
		}
		p, err := Of(t.Context(), ast.MustParseRef("data.p.p"), compiler, inmem.New(), ast.ObjectTerm())
		if err != nil {
			t.Fatal(err)
		}
		const around = 2 // the answer is emptied before and filled after
		if steps := len(p.funcs[p.entry].blocks[0]) - around; steps != want {
			t.Errorf("%s: %d steps, not %d", body, steps, want)
		}
	}
}
