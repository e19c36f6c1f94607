package diagnose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// owners are the files in which a stage sets what later ones only read: what became of a sighting is
// decided while its log is read, when the attempts are compared and where a node is heard of that its pods train on, the cause in attribution.
var owners = map[string][]string{
	"Over":     {"logscan/settle.go", "logscan/line.go", "logscan/launches.go", "logscan/raised.go", "logscan/course.go", "logscan/trained_on.go", "outlived.go"},
	"Mild":     {"logscan/settle.go"},
	"First":    {"logscan/course.go", "logscan/trained_on.go"},
	"Follower": {},
	"root":     {"attribute.go"},
	"answer":   {"attribute.go"},
}

// A stage only adds: nothing that an earlier stage owns is set by a later one.
func TestNoStageSetsWhatAnotherOwns(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	reading, err := filepath.Glob("logscan/*.go")
	if err != nil || len(reading) == 0 {
		t.Fatalf("list the files of logscan: %v", err)
	}
	for _, name := range append(files, reading...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			set, ok := n.(*ast.AssignStmt)
			if !ok || set.Tok == token.DEFINE {
				return true
			}
			for _, to := range set.Lhs {
				field, ok := to.(*ast.SelectorExpr)
				if !ok {
					continue
				}
				if own, ok := owners[field.Sel.Name]; ok && !slices.Contains(own, name) && !other(name, field.Sel.Name) {
					t.Errorf("%s sets %s, which %v own", fset.Position(set.Pos()), field.Sel.Name, own)
				}
			}
			return true
		})
	}
}

// other says that a field of that name in a file is another one: a member's, or of a list of followers.
func other(file, field string) bool {
	return field == "First" && slices.Contains([]string{"order.go", "json.go", "timeline.go", "alike.go", "logscan/summary.go"}, file)
}
