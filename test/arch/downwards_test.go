package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// entries are, by package, the files in which one reads from the top, in that order: what is defined in one is
// called by none that comes later, nor by any other file of the package.
var entries = map[string][]string{
	"runtime-diagnose":           {"diagnose.go", "attribute.go", "quote.go"},
	"runtime-diagnose/attribute": {"attribute.go"},
	"runtime-diagnose/report":    {"write.go"},
}

func TestCallsRunDownwards(t *testing.T) {
	for name, order := range entries {
		files := sources(t, name)
		for i, above := range order {
			defined := functionsOf(files[above])
			for file, parsed := range files {
				if at := slices.Index(order, file); at >= 0 && at <= i {
					continue
				}
				for _, called := range callsIn(parsed) {
					if slices.Contains(defined, called) {
						t.Errorf("%s/%s calls %s, which is above it in %s", name, file, called, above)
					}
				}
			}
		}
	}
}

func sources(t *testing.T, name string) map[string]*ast.File {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("../..", name, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("list the files of %s: %v", name, err)
	}
	out := map[string]*ast.File{}
	for _, file := range names {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(file)] = parsed
	}
	return out
}

func functionsOf(f *ast.File) []string {
	var out []string
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			out = append(out, d.Name.Name)
		}
	}
	return out
}

func callsIn(f *ast.File) []string {
	var out []string
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		switch fun := call.Fun.(type) {
		case *ast.Ident:
			out = append(out, fun.Name)
		case *ast.SelectorExpr:
			out = append(out, fun.Sel.Name)
		}
		return true
	})
	return out
}
