package promises

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What the design card names is there, and is what the program is made of.
func TestTheDesignCard(t *testing.T) {
	const root = "../.."
	for _, name := range []string{"cmd", "webhook", "preflight", "runtime-diagnose", "policies", "config", "certs", "test", "go.mod", "Makefile"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	for _, use := range []struct{ folder, of string }{
		{"webhook", "sigs.k8s.io/controller-runtime/pkg/webhook"},
		{"runtime-diagnose/controller", "sigs.k8s.io/controller-runtime/pkg/controller"},
		{"runtime-diagnose/collect", "k8s.io/client-go/kubernetes"},
		{"policies", "github.com/open-policy-agent/opa/v1/rego"},
		{"runtime-diagnose/llm", "github.com/sashabaranov/go-openai"},
		{"test/e2e", "github.com/onsi/ginkgo/v2"},
	} {
		if !imports(t, filepath.Join(root, use.folder), use.of) {
			t.Errorf("%s does not import %s", use.folder, use.of)
		}
	}
}

// imports says whether a file of a folder imports a package, or one below it.
func imports(t *testing.T, folder, of string) bool {
	t.Helper()
	files, err := fs.Glob(os.DirFS(folder), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if path, err := strconv.Unquote(i.Path.Value); err == nil && (path == of || strings.HasPrefix(path, of+"/")) {
				return true
			}
		}
	}
	return false
}
