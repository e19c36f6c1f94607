package kinds

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var declaration = regexp.MustCompile(`(?m)^var \w+ = (?:&|[\w.]+\()Kind\{`)

func declaredKinds(t *testing.T) int {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") || f == "new.go" {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		n += len(declaration.FindAll(b, -1))
	}
	return n
}

func TestListIsGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	out := filepath.Join(t.TempDir(), "zz_all.go")
	if b, err := exec.CommandContext(t.Context(), "go", "run", "generate.go", "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	want, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("zz_all.go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("zz_all.go (-want +got):\n%s\ngo generate ./preflight/kinds", diff)
	}
}

// A fresh scaffold compiles, and its golden test fails until somebody has written what
// the reader should say.
func TestScaffold(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	if b, err := exec.CommandContext(t.Context(), "go", "run", "new.go", "-dir", dir, "FreshJob").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "freshjob.go")
	overlay := filepath.Join(dir, "overlay.json")
	text := `{"Replace": {"` + filepath.Join(here, "freshjob.go") + `": "` + file + `"}}`
	if err := os.WriteFile(overlay, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, ".").CombinedOutput(); err != nil {
		t.Errorf("the scaffold does not compile: %v\n%s", err, b)
	}
	fixture := filepath.Join(dir, "testdata", "freshjob", "minimal")
	if _, err := os.Stat(fixture + ".yaml"); err != nil {
		t.Errorf("no fixture: %v", err)
	}
	if _, err := os.Stat(fixture + ".job.json"); err == nil {
		t.Error("the scaffold claims to know what the reader should say")
	}
}

// TestNoScaffoldTextShips: what new.go writes for others to replace stands in no kind.
func TestNoScaffoldTextShips(t *testing.T) {
	for _, k := range All() {
		if strings.HasPrefix(k.Doc, "What it reads, which defaults it applies") {
			t.Errorf("%s: the doc is the scaffold's", k.Name)
		}
		if strings.HasPrefix(k.Runs.English, "Who starts whom") || strings.HasPrefix(k.Runs.Chinese, "谁启动谁") {
			t.Errorf("%s: how it runs is the scaffold's", k.Name)
		}
		for _, gvk := range k.GVKs {
			if gvk.Group == "example.com" {
				t.Errorf("%s: the group is the scaffold's", k.Name)
			}
		}
	}
}
