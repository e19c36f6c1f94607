package checks_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestAFreshCheckCompilesAndProvesNothing: the scaffold builds, and its fixtures do not
// pass for a proof.
func TestAFreshCheckCompilesAndProvesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	run(t, "run", "new.go", "-dir", dir, "names/a-fresh-check")
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(here, "names", "a_fresh_check.go"): filepath.Join(dir, "names", "a_fresh_check.go"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "build", "-overlay", file, "./names")
	archive, err := txtar.ParseFile(filepath.Join(dir, "names", "testdata", "a-fresh-check", "fires-on-EDIT.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if strings.Contains(string(f.Data), "# want") {
			t.Errorf("%s wants something before anybody wrote it", f.Name)
		}
	}
}

// TestNoScaffoldTextShips: what new.go writes for others to replace is found nowhere.
func TestNoScaffoldTextShips(t *testing.T) {
	scaffold := []string{
		"what is wrong, in at most 72 characters", "Say in one sentence what to do.", "Why this matters: what its author meant",
		"Show the mistake, and say on the guilty line", "Show what looks like the mistake and is none.", "what the system asks of a job",
	}
	from, err := os.ReadFile("new.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range scaffold {
		if !strings.Contains(string(from), text) {
			t.Errorf("new.go does not write %q any more", text)
		}
	}
	seen := 0
	for _, pattern := range []string{"*.go", "*/*.go", "testdata/rules.tsv", "*/testdata/*/README.md", "*/testdata/*/*.txtar"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if file == "new.go" || file == "new_test.go" {
				continue
			}
			seen++
			if strings.Contains(file, "EDIT") {
				t.Errorf("%s still has the name that the scaffold gave it", file)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range scaffold {
				if strings.Contains(string(text), s) {
					t.Errorf("%s still holds the scaffold's %q", file, s)
				}
			}
		}
	}
	if seen < 500 {
		t.Errorf("%d files were looked at; want 500 at least", seen)
	}
}

// TestTheListIsGenerated: every zz_all.go is what generate.go writes now.
func TestTheListIsGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	before := lists(t)
	run(t, "run", "generate.go")
	for name, after := range lists(t) {
		if before[name] != after {
			t.Errorf("%s was out of date and is rewritten now: commit it", name)
		}
	}
}

func lists(t *testing.T) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("*", "zz_all.go"))
	if err != nil || len(found) < 12 {
		t.Fatalf("%d families (%v); want 12 at least", len(found), err)
	}
	out := map[string]string{}
	for _, name := range append(found, "zz_all.go") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(text)
	}
	return out
}

func run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}
