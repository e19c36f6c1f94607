package promises

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func rows(t *testing.T) []Row {
	t.Helper()
	all, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestThePageIsCurrent(t *testing.T) {
	have, err := os.ReadFile("../../docs/reference/promises.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != Page(rows(t)) {
		t.Error("docs/reference/promises.md is not what the rows say: go generate ./test/promises")
	}
}

// testsOf are the names of all tests of a tree, as "package.Test".
func testsOf(t *testing.T, root string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "bin" || d.Name() == ".demo"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				out[strings.TrimSuffix(file.Name.Name, "_test")+"."+f.Name.Name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryTestThatIsNamedExists(t *testing.T) {
	have := testsOf(t, "../..")
	for _, r := range rows(t) {
		for _, name := range r.Tests {
			if !have[name] {
				t.Errorf("row %d names %s, and there is no such test", r.Number, name)
			}
		}
	}
}

// A command that reads what is not there shows nothing.
func TestFilesThatARowNamesAreThere(t *testing.T) {
	for _, r := range rows(t) {
		for word := range strings.FieldsSeq(r.See) {
			if strings.HasPrefix(word, "test/") || strings.HasPrefix(word, "runtime-diagnose/") {
				if _, err := os.Stat(filepath.Join("../..", word)); err != nil {
					t.Errorf("row %d: %v", r.Number, err)
				}
			}
		}
	}
}

// A command that is not Signalbox's is one that a reader can type: what stands in capitals is theirs to
// fill in, and what it names of this repository is there.
func TestCommandsOfOthersAreOnes(t *testing.T) {
	kubectl := map[string][]string{ // what each takes here, after its words
		"describe": {"KIND/NAME"}, "get": {"-o", "-n", "-w", "NAMESPACE"}, "apply": {"-f", "-k", "job.yaml"},
		"create": {"configmap", "-n", "--from-file"}, "edit": {"-n"}, "patch": {"--type", "-p", "SPEC"},
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows(t) {
		words := strings.Fields(r.See)
		if len(words) == 0 || words[0] == "signalbox" || words[0] == "ls" && len(words) == 1 {
			continue
		}
		switch {
		case words[0] == "less" && len(words) == 2:
			if _, err := os.Stat(filepath.Join("../..", words[1])); err != nil {
				t.Errorf("row %d: %v", r.Number, err)
			}
		case words[0] == "make" && len(words) == 2:
			if !strings.Contains(string(makefile), "\n"+words[1]+":") {
				t.Errorf("row %d: %q is no target of the Makefile", r.Number, words[1])
			}
		case words[0] == "kubectl" && len(words) > 2 && kubectl[words[1]] != nil:
			for i, word := range words[2:] {
				flag, _, _ := strings.Cut(word, "=")
				if strings.HasPrefix(word, "-") && !slices.Contains(kubectl[words[1]], flag) {
					t.Errorf("row %d: kubectl %s takes no %s here", r.Number, words[1], flag)
				}
				if strings.HasPrefix(word, "config/") && words[2+i-1] == "-k" {
					if _, err := os.Stat(filepath.Join("../..", word, "kustomization.yaml")); err != nil {
						t.Errorf("row %d: %v", r.Number, err)
					}
				}
			}
		default:
			t.Errorf("row %d: %q is no command that is known", r.Number, r.See)
		}
	}
}

// Nothing lies here that no row looks at: it would hold nothing.
func TestEveryFileHasItsRow(t *testing.T) {
	named := map[string]bool{}
	for _, r := range rows(t) {
		for word := range strings.FieldsSeq(r.See) {
			named[word] = true
		}
	}
	for _, pattern := range []string{"bundles/*", "jobs/*", "policies", "cluster", "clusters/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, f := range files {
			if !named["test/promises/"+filepath.ToSlash(f)] {
				t.Errorf("no row names %s", f)
			}
		}
	}
}

func TestRowsThatAreWrongAreRefused(t *testing.T) {
	const head = "row\tdocument\tabout\tpromise\tstate\tsee\tshows\ttest\twhy\n"
	for name, line := range map[string]string{
		"a promise that nothing shows":    "1\tAegis\t\tx\tyes\tls\t\t\t",
		"a refusal without a reason":      "1\tAegis\t\tx\tno\t\t\t\t",
		"a state that is none":            "1\tAegis\t\tx\tpartly\tls\ta\t\t",
		"a number that is out of order":   "2\tAegis\t\tx\tn/a\t\t\t\twhy",
		"a cell too few":                  "1\tAegis\t\tx\tyes\tls\ta\t",
		"a promise that nobody asked for": "1\t\t\tx\tn/a\t\t\t\twhy",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(head + line + "\n"); err == nil {
				t.Error("the row was taken")
			}
		})
	}
	if _, err := read(head + "1\tAegis\t\tx\tyes\tls\ta\t\t\n"); err != nil {
		t.Errorf("a good row: %v", err)
	}
}
