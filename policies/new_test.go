package policies_test

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/signalbox-dev/signalbox/policies"
)

// TestAFreshPolicyLoadsAndProvesNothing: the scaffold compiles, and its fixtures fail until
// somebody has written them.
func TestAFreshPolicyLoadsAndProvesNothing(t *testing.T) {
	texts, err := policies.Scaffold("a-fresh-policy")
	if err != nil {
		t.Fatal(err)
	}
	fsys := fstest.MapFS{}
	for name, text := range texts {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	results, _, err := policies.Test(t.Context(), fsys, nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := false
	for _, r := range results {
		failed = failed || r.Problem != ""
	}
	if !failed || len(results) != 3 {
		t.Errorf("the fixtures and the test of a scaffold pass: %+v", results)
	}
	if _, err := policies.Scaffold("A_Policy"); err == nil {
		t.Error("a name that is none was taken")
	}
}

// TestNoScaffoldTextShips: what a scaffold holds for others to replace is found in no policy.
func TestNoScaffoldTextShips(t *testing.T) {
	from, err := os.ReadFile("scaffold.go")
	if err != nil {
		t.Fatal(err)
	}
	scaffold := []string{
		"what holds where this policy is at work", "Why, and which data configures it.", "Say in one sentence what to do.",
		"The data that configures the policy in the fixtures.", "what the policy says",
	}
	for _, text := range scaffold {
		if !bytes.Contains(from, []byte(text)) {
			t.Errorf("scaffold.go does not write %q any more", text)
		}
	}
	seen := 0
	err = fs.WalkDir(os.DirFS("library"), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		seen++
		if strings.Contains(name, "EDIT") {
			t.Errorf("%s still has the name that the scaffold gave it", name)
		}
		content, err := fs.ReadFile(os.DirFS("library"), name)
		if err != nil {
			return err
		}
		for _, text := range scaffold {
			if bytes.Contains(content, []byte(text)) {
				t.Errorf("%s still holds the scaffold's %q", name, text)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Errorf("%d files were looked at; want 50 at least", seen)
	}
}
