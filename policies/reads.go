package policies

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// parts are places of the input that a rule reads: "job.roles", "cluster.fit"; the empty place is
// the whole input.
type parts []string

// any says whether the rule reads something of a part, or something that holds it.
func (p parts) any(part string) bool {
	return slices.ContainsFunc(p, func(read string) bool {
		return read == "" || read == part || strings.HasPrefix(part, read+".") || strings.HasPrefix(read, part+".")
	})
}

// readsOf is what a rule and all that it calls read of the input, from the text of the compiled
// rules. What cannot be told from the text (input[x], input as a value) counts as the whole.
func readsOf(compiler *ast.Compiler, at ast.Ref) parts {
	var found parts
	reached(compiler, at, func(r *ast.Rule) { found = append(found, readsIn(r)...) })
	slices.Sort(found)
	return slices.Compact(found)
}

// reached visits the rules of a name and all that they call, each once.
func reached(compiler *ast.Compiler, at ast.Ref, call func(*ast.Rule)) {
	seen := map[*ast.Rule]bool{}
	var visit func(*ast.Rule)
	visit = func(r *ast.Rule) {
		if seen[r] {
			return
		}
		seen[r] = true
		call(r)
		for dependency := range compiler.Graph.Dependencies(r) {
			if called, ok := dependency.(*ast.Rule); ok {
				visit(called)
			}
		}
	}
	for _, r := range compiler.GetRulesExact(at) {
		for ; r != nil; r = r.Else {
			visit(r)
		}
	}
}

func readsIn(r *ast.Rule) (found parts) {
	var visitor *ast.GenericVisitor
	visitor = ast.NewGenericVisitor(func(node any) bool {
		switch v := node.(type) {
		case ast.Ref:
			if len(v) == 0 {
				return false
			}
			if slices.ContainsFunc(v[1:], countsGPUs) {
				found = append(found, "job.gpus")
			}
			if !v[0].Equal(ast.InputRootDocument) {
				return false
			}
			found = append(found, placeOf(v[1:]))
			for _, term := range v[1:] { // input.job[input.request.user]
				visitor.Walk(term)
			}
			return true
		case ast.Var:
			if v.Equal(ast.InputRootDocument.Value) {
				found = append(found, "")
			}
		}
		return false
	})
	visitor.Walk(r)
	return found
}

// countsGPUs says whether a step of a reference leads to the number of GPUs of a role, which is the job's in parts:
// the role itself stands in a variable.
func countsGPUs(step *ast.Term) bool {
	name, _ := step.Value.(ast.String)
	return name == "gpus_per_pod" || name == "gpu_resource"
}

// placeOf is the constant beginning of a reference below the input.
func placeOf(ref ast.Ref) string {
	var names []string
	for _, term := range ref {
		name, constant := term.Value.(ast.String)
		if !constant {
			break
		}
		names = append(names, string(name))
	}
	return strings.Join(names, ".")
}
