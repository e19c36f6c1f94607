package checks_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// TestChecksKnowNoKind: what the operator of a kind does is data of the kind, and so is what its
// roles are called and do. A check names a kind only to declare that it is about that kind's own
// fields, and the word of a role only as what a number counts.
func TestChecksKnowNoKind(t *testing.T) {
	const aKind, aRole = "a kind: ask what its operator does (kinds.Operator), or declare it under Kinds", "a role of a kind: ask for its part in the launch (kinds.Part)"
	forbidden := map[string]string{}
	for _, k := range kinds.All() {
		for _, o := range k.Operators() {
			for role := range o.Parts {
				forbidden[role], forbidden[strings.ToLower(role)] = aRole, aRole
			}
		}
		forbidden[k.Name] = aKind
		for _, gvk := range k.GVKs {
			forbidden[gvk.GroupVersion().String()], forbidden[gvk.GroupKind().String()] = aKind, aKind
		}
	}
	fset, declared := token.NewFileSet(), 0
	err := filepath.WalkDir(".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || filepath.Base(name) == "new.go" {
			return err
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Kinds" {
					declared++
					return false
				}
			case *ast.CallExpr:
				return called(n) != "Count"
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && forbidden[text] != "" {
					t.Errorf("%s: %q is %s", fset.Position(n.Pos()), text, forbidden[text])
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if declared < 20 {
		t.Errorf("%d checks declare a kind; want 20 at least: is the field called otherwise?", declared)
	}
}

// TestWhatOperatorsRefuseIsChecked: a check that leaves its answer to an operator is one that there
// is, and one that looks at jobs of its kind.
func TestWhatOperatorsRefuseIsChecked(t *testing.T) {
	looksAt := map[string][]string{}
	for _, c := range checks.All() {
		looksAt[c.Name] = c.KindNames()
	}
	for _, k := range kinds.All() {
		for _, o := range k.Operators() {
			for _, name := range o.Validates.Refuses {
				if names, ok := looksAt[name]; !ok || names != nil && !slices.Contains(names, k.Name) {
					t.Errorf("%s: its operator answers for %q, which is no check of its jobs", k.Name, name)
				}
			}
		}
	}
}
