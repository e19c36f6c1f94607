package policies_test

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"

	"github.com/signalbox-dev/signalbox/policies"
)

// TestLibraryIsFormatted: as opa fmt prints it.
func TestLibraryIsFormatted(t *testing.T) {
	err := fs.WalkDir(policies.Library(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(policies.Library(), name)
		if err != nil {
			return err
		}
		want, err := format.SourceWithOpts(name, text, format.Opts{RegoVersion: ast.RegoV1})
		if err != nil {
			return err
		}
		if diff := cmp.Diff(string(want), string(text)); diff != "" {
			t.Errorf("%s (-opa fmt +as it is):\n%s", name, diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
