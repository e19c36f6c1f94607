package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/redact"
)

// regoTests runs the rules test_* of files *_test.rego with OPA's own runner
// (https://www.openpolicyagent.org/docs/policy-testing). The tracer sees what is evaluated; nil: there is none.
func regoTests(ctx context.Context, fsys fs.FS, rules, documents []source, tracer topdown.QueryTracer) ([]Tested, error) {
	modules, all := map[string]*ast.Module{}, slices.Clone(rules)
	tests := 0
	add := func(s source) error {
		parsed, err := parseModule(s)
		if err != nil {
			return s.broken(err)
		}
		if parsed != nil {
			modules[s.name] = parsed
		}
		return nil
	}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, "_test.rego") {
			return err
		}
		tests++
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		test := sourceIn(fsys, name, text)
		all = append(all, test)
		return add(test)
	})
	if err != nil || tests == 0 {
		return nil, err
	}
	for _, s := range rules {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	data, err := merge(documents)
	if err != nil {
		return nil, err
	}
	store := inmem.NewFromObject(data)
	txn, err := store.NewTransaction(ctx, storage.WriteParams)
	if err != nil {
		return nil, fmt.Errorf("run tests of policies: %w", err)
	}
	defer store.Abort(ctx, txn)
	compiler := ast.NewCompiler().WithCapabilities(capabilities()).WithEnablePrintStatements(true)
	runner := tester.NewRunner().SetCompiler(compiler).SetStore(store).SetModules(modules).CapturePrintOutput(true).SetParallel(1)
	if tracer != nil {
		runner = runner.SetCoverageQueryTracer(tracer)
	}
	results, err := runner.RunTests(ctx, txn)
	if err != nil {
		if errs, ok := errors.AsType[ast.Errors](err); ok {
			err = short(errs, all)
		}
		return nil, fmt.Errorf("compile tests of policies: %w", err)
	}
	var out []Tested
	for r := range results {
		if r.Skip {
			continue
		}
		t := Tested{Policy: strings.TrimPrefix(r.Package, "data."), Fixture: r.Name, Printed: redact.Text(string(r.Output))}
		if r.Location != nil {
			t.Fixture = fmt.Sprintf("%s:%d %s", r.Location.File, r.Location.Row, r.Name)
		}
		switch {
		case r.Error != nil:
			t.Problem = reason(r.Error)
		case r.Fail:
			t.Problem = "it is not true"
			if r.FailedAt != nil && r.FailedAt.Location != nil {
				t.Problem = fmt.Sprintf("line %d is not true: %s", r.FailedAt.Location.Row, r.FailedAt.Location.Text)
			}
		}
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Tested) int {
		return cmp.Or(cmp.Compare(a.Policy, b.Policy), cmp.Compare(a.Fixture, b.Fixture))
	})
	return out, nil
}
