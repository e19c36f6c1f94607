package policies_test

import (
	"io/fs"
	"strings"
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

// TestLoadNamesWhatTheCompilerFindsBesideWhatAPolicyLacks holds a first policy, which has neither METADATA nor a field
// that exists, to one answer with both.
func TestLoadNamesWhatTheCompilerFindsBesideWhatAPolicyLacks(t *testing.T) {
	_, err := policies.Load(files("a.rego", "package signalbox.a\n\ndeny contains \"no\" if input.job.gpuss > 8\n"))
	if err == nil {
		t.Fatal("Load: no error")
	}
	for _, want := range []string{"load policy a.rego: line 1: no # METADATA", `a.rego:3: undefined ref: input.job.gpuss`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Load: have %v\nwant %s", err, want)
		}
	}
}
