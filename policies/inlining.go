package policies

import "github.com/open-policy-agent/opa/v1/ast"

// mostInlined bounds the terms that partial evaluation may make of one rule. It writes the calls
// that a variable stands for wherever the variable stands, without looking at its context, so
// that twenty lines that each use the one before twice are a million terms.
const mostInlined = 10_000

// inlines says whether a rule and what it calls may be evaluated partially in reasonable time: an
// upper bound of its terms, every variable counted as what it was made of.
func inlines(compiler *ast.Compiler, at ast.Ref) bool {
	functions := map[string]int{} // variables that the rules of a name hold
	var rules []*ast.Rule
	reached(compiler, at, func(r *ast.Rule) {
		rules = append(rules, r)
		functions[r.Ref().GroundPrefix().String()] += count(r)
	})
	for _, r := range rules {
		sizes, most := map[ast.Var]int{}, 0
		ast.WalkExprs(r, func(e *ast.Expr) bool {
			total, fresh := 1, []ast.Var(nil)
			vars(e, func(v ast.Var) {
				size, known := sizes[v]
				if !known {
					fresh = append(fresh, v)
				}
				total = min(total+max(size, 1), mostInlined+1)
			})
			if e.IsCall() {
				total = min(total*max(functions[e.Operator().GroundPrefix().String()], 1), mostInlined+1)
			}
			for _, v := range fresh {
				sizes[v] = total
			}
			most = max(most, total)
			return false
		})
		if most > mostInlined {
			return false
		}
	}
	return true
}

func count(node any) (n int) {
	vars(node, func(ast.Var) { n++ })
	return n
}

func vars(node any, visit func(ast.Var)) {
	ast.WalkVars(node, func(v ast.Var) bool {
		visit(v)
		return false
	})
}
