package policies

import (
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Unset is a policy that says nothing, whatever the job, because no data sets what it reads.
type Unset struct {
	Doc
	Settings []string // data.config.labels
}

// Unset are the policies that say nothing with the data that there is.
func (o *OPA) Unset() (out []Unset) {
	s := o.set()
	for _, doc := range s.docs {
		settings, speaks, rules := []string{}, false, 0
		for _, r := range s.rules {
			if r.doc.Package == doc.Package {
				speaks, rules = speaks || !r.silent, rules+1
				settings = append(settings, r.settings...)
			}
		}
		if rules > 0 && !speaks && len(settings) > 0 {
			slices.Sort(settings)
			out = append(out, Unset{doc, slices.Compact(settings)})
		}
	}
	return out
}

// settingsOf are the settings below data.config that a rule and all that it calls read, by their first step.
func settingsOf(compiler *ast.Compiler, at ast.Ref) (out []string) {
	reached(compiler, at, func(r *ast.Rule) {
		ast.WalkRefs(r, func(ref ast.Ref) bool {
			if len(ref) > 2 && ref[0].Equal(ast.DefaultRootDocument) && ref[1].Equal(ast.StringTerm("config")) {
				if name, ok := ref[2].Value.(ast.String); ok {
					out = append(out, "data.config."+string(name))
				}
			}
			return false
		})
	})
	slices.Sort(out)
	return slices.Compact(out)
}
