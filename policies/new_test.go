package policies_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/signalbox-dev/signalbox/policies"
)

// TestAFreshPolicyLoadsAndProvesNothing: the scaffold compiles, and its fixtures fail until
// somebody has written them.
func TestAFreshPolicyLoadsAndProvesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "run", "new.go", "-dir", dir, "a-fresh-policy").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	results, err := policies.Test(t.Context(), os.DirFS(dir), nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := false
	for _, r := range results {
		failed = failed || r.Problem != ""
	}
	if !failed {
		t.Errorf("the fixtures of a scaffold pass: %+v", results)
	}
}
