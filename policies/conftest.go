package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/signalbox-dev/signalbox/preflight"
)

// conftestRule is what Conftest asks of a package: deny, violation and warn, alone or with a name
// behind (https://www.conftest.dev/#evaluating-policies).
var conftestRule = regexp.MustCompile(`^(deny|violation|warn)(_[a-zA-Z0-9_]+)?$`)

// inConftestForm says whether a file is package main, or a package lib.* that such files share.
func inConftestForm(m *ast.Module) bool {
	name := m.Package.Path.String()
	return name == "data.main" || name == "data.lib" || strings.HasPrefix(name, "data.lib.")
}

// parseModule reads a file as Rego v1, and one in Conftest's form as v0 where it is no v1:
// deny[msg] { … }.
func parseModule(s source) (*ast.Module, error) {
	options := ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1, Capabilities: capabilities()}
	parsed, err := ast.ParseModuleWithOpts(s.name, string(s.text), options)
	if err == nil {
		return parsed, shallow(parsed)
	}
	options.RegoVersion = ast.RegoV0
	if old, olderr := ast.ParseModuleWithOpts(s.name, string(s.text), options); olderr == nil && old != nil {
		if inConftestForm(old) {
			return old, shallow(old)
		}
		return nil, fmt.Errorf("it is in Rego v0, which is read in package main only, and the package is %s; rename the package, or write Rego v1 in signalbox.<name>",
			strings.TrimPrefix(old.Package.Path.String(), "data."))
	}
	if errs, ok := errors.AsType[ast.Errors](err); ok {
		err = short(errs, []source{s})
	}
	return nil, err
}

// mostNested is how deep expressions may stand in each other, and mostWithin how deep those of them that look at each of
// something (comprehensions, every). The compiler takes longer than anybody waits for a file of a kilobyte that is deep
// enough, and cannot be stopped.
const (
	mostNested = 250
	mostWithin = 10
)

// shallow holds a file to those bounds.
func shallow(m *ast.Module) (err error) {
	if m == nil {
		return nil
	}
	rule, nested, within := 0, 0, 0
	count := func(x any, by int) {
		switch x := x.(type) {
		case *ast.Rule:
			if nested == 0 && x.Location != nil {
				rule = x.Location.Row
			}
			nested += by
		case *ast.Expr, *ast.Term:
			nested += by
		case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension, *ast.Every:
			within += by
		}
	}
	ast.NewBeforeAfterVisitor(func(x any) bool {
		switch count(x, 1); {
		case err != nil:
		case nested > mostNested:
			err = fmt.Errorf("line %d: expressions stand more than %d deep in each other", rule, mostNested)
		case within > mostWithin:
			err = fmt.Errorf("line %d: comprehensions stand more than %d deep in each other", rule, mostWithin)
		}
		return err != nil
	}, func(x any) { count(x, -1) }).Walk(m)
	return err
}

// asConftest takes a file in Conftest's form. What it says about itself is optional, as there.
func (m module) asConftest() (module, error) {
	m.conftest, m.library = true, m.doc.Package != "main"
	if m.library {
		return m, nil
	}
	m.doc.Name, m.doc.Title = "main", "rules of package main"
	for _, r := range m.ast.Rules {
		name := r.Head.Ref()[0].Value.String()
		if name = strings.Trim(name, `"`); name == "exception" {
			return module{}, fmt.Errorf("line %d: exceptions of Conftest are not read; write a policy signalbox.<name> with exempt", r.Location.Row)
		}
		if !conftestRule.MatchString(name) {
			continue
		}
		if r.Head.RuleKind() != ast.MultiValue || r.Head.Key == nil {
			return module{}, fmt.Errorf("line %d: %s is not a set, so it would decide nothing; write: %s contains msg if { … }", r.Location.Row, name, name)
		}
		if at := gatekeepers(r); at != nil {
			return module{}, fmt.Errorf("line %d: %s is Gatekeeper's, and always undefined here; the input of package main is the object, and settings are data.config", at[0].Location.Row, at)
		}
		m.rules = append(m.rules, name)
		m.doc.Warns = m.doc.Warns || strings.HasPrefix(name, warns)
		m.doc.Denies = m.doc.Denies || !strings.HasPrefix(name, warns)
	}
	if len(m.rules) == 0 {
		return module{}, errors.New("package main has neither deny, violation nor warn, so it decides nothing")
	}
	_, err := m.annotated()
	return m, err
}

// gatekeepers is a reference of a rule that only Gatekeeper's input has
// (https://open-policy-agent.github.io/gatekeeper/website/docs/constrainttemplates); nil: there is none. Objects of
// Kubernetes have neither field at their top.
func gatekeepers(r *ast.Rule) (found ast.Ref) {
	ast.WalkRefs(r, func(ref ast.Ref) bool {
		if found == nil && len(ref) > 1 && ref[0].Equal(ast.InputRootDocument) && (ref[1].Equal(ast.StringTerm("review")) || ref[1].Equal(ast.StringTerm("parameters"))) {
			found = ref
		}
		return false
	})
	return found
}

// split sets the files in Conftest's form apart.
func split(modules []module) (own, conftest []module) {
	for _, m := range modules {
		if m.conftest {
			conftest = append(conftest, m)
		} else {
			own = append(own, m)
		}
	}
	return own, conftest
}

// addConftest adds the rules of package main as one policy. They are compiled by themselves: their
// input has no schema, because it is the object of any kind.
func (s *set) addConftest(ctx context.Context, modules []module, rules []source, with compiled) error {
	if len(modules) == 0 {
		return nil
	}
	compiler := ast.NewCompiler().WithCapabilities(capabilities()).WithEnablePrintStatements(false)
	if compiler.Compile(byFile(modules)); compiler.Failed() {
		return fmt.Errorf("compile policies: %w", short(compiler.Errors, rules))
	}
	with.compiler = compiler
	var doc *Doc
	var names []string
	for _, m := range modules {
		if m.library {
			continue
		}
		names = append(names, m.rules...)
		if doc == nil {
			doc = &m.doc
			continue
		}
		doc.Denies, doc.Warns = doc.Denies || m.doc.Denies, doc.Warns || m.doc.Warns
		doc.Failure, doc.Mode = cmp.Or(doc.Failure, m.doc.Failure), cmp.Or(doc.Mode, m.doc.Mode) // what one file says of them all
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := ast.MustParseRef("data.main").Append(ast.StringTerm(name))
		r, err := with.ready(ctx, at)
		if err != nil {
			return fmt.Errorf("prepare package main: %w", err)
		}
		effect := denies
		if strings.HasPrefix(name, warns) {
			effect = warns
		}
		r.doc, r.name, r.stage, r.plain = doc, effect, preflight.OnTheJob, true
		for _, place := range readsOf(compiler, at) {
			r.reads = append(r.reads, strings.TrimSuffix("object."+place, "."))
		}
		s.rules = append(s.rules, r)
	}
	if doc != nil {
		s.docs = append(s.docs, *doc)
	}
	return nil
}
