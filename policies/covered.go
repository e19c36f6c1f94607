package policies

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/rego"
)

// Covered is how much of one file of policies examples and tests have evaluated.
type Covered struct {
	File    string `json:"file"`
	Percent int    `json:"percent"` // of the lines that can be evaluated, rounded down
	// Not are the lines that nothing has evaluated: "12", "14-16".
	Not []string `json:"not,omitempty"`
}

// trace lets a tracer see how a policy is evaluated.
func (s *set) trace(policy string, by *cover.Cover) {
	for _, r := range s.rules {
		if r.doc.Name != policy {
			continue
		}
		r.options = append(r.options, rego.EvalQueryTracer(by))
		if r.exempt != nil && !r.exempt.traced {
			r.exempt.traced = true
			r.exempt.options = append(r.exempt.options, rego.EvalQueryTracer(by))
		}
	}
}

// coveredBy is the report by file, sorted.
func coveredBy(by *cover.Cover, rules []source) ([]Covered, error) {
	modules := map[string]*ast.Module{}
	for _, s := range rules {
		parsed, err := parseModule(s)
		if err != nil {
			return nil, s.broken(err)
		}
		modules[s.name] = parsed
	}
	report := by.Report(modules)
	var out []Covered
	for name, f := range report.Files {
		lines := f.CoveredLines + f.NotCoveredLines
		if modules[name] == nil || lines == 0 { // a test, or nothing but words
			continue
		}
		c := Covered{File: name, Percent: 100 * f.CoveredLines / lines}
		for _, r := range f.NotCovered {
			text := fmt.Sprint(r.Start.Row)
			if r.End.Row > r.Start.Row {
				text += fmt.Sprintf("-%d", r.End.Row)
			}
			if !slices.Contains(c.Not, text) { // several expressions of one line
				c.Not = append(c.Not, text)
			}
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Covered) int { return strings.Compare(a.File, b.File) })
	return out, nil
}
