package policies

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// TestSizesOfLists: lists so long take a policy too long to make on a slow machine.
func TestSizesOfLists(t *testing.T) {
	half := make([]*ast.Term, mostAnswer/perElement/2)
	for i := range half {
		half[i] = ast.InternedTerm(0)
	}
	list := ast.NewTerm(ast.NewArray(half...))
	size := answers[ast.ArrayConcat.Name]
	if got := size([]*ast.Term{list, list}); got != mostAnswer {
		t.Errorf("%d; want %d", got, mostAnswer)
	}
	if got := size([]*ast.Term{list, ast.NewTerm(ast.NewArray(append(half, half[0])...))}); got <= mostAnswer {
		t.Errorf("one more has %d", got)
	}
	for name := range answers {
		if topdown.GetBuiltin(name) == nil {
			t.Errorf("OPA has no built-in function %s", name)
		}
	}
}
