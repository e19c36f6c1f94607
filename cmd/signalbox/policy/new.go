package policy

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
)

func newPolicyNew(sh *shell.Shell) *cobra.Command {
	dir := "."
	c := &cobra.Command{
		Use:        "new NAME [--dir DIR]",
		SuggestFor: []string{"init", "create", "generate", "scaffold"},
		Short:      "begin a policy: the rule, examples and a test",
		Long: `Policy new writes NAME.rego, NAME_test.rego, and in testdata/NAME one example of each kind, in
the current folder unless --dir names another. The examples and the test fail until they show something. A file that is there already stays, and is an error.

Exit codes: 0 written · 2 bad usage, or a file is there already.`,
		Example: fmt.Sprintf("  %s policy new whole-node-needs-queue --dir policies/", sh.Name),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return shell.Usagef("%s takes the name of one policy; have %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return shell.Own(policyNew(sh, args[0], dir)) },
	}
	c.Flags().StringVar(&dir, "dir", dir, "`folder` to write into")
	return c
}

func policyNew(sh *shell.Shell, name, dir string) error {
	files, err := policies.Scaffold(name)
	if err != nil && filepath.Base(name) != name {
		err = fmt.Errorf("%w; the folder stands behind --dir: %s --dir %s", err, filepath.Base(name), filepath.Dir(name))
	}
	if err != nil {
		return &shell.Exit{Code: shell.ExitUsage, Cause: err}
	}
	names := slices.Sorted(maps.Keys(files))
	for _, n := range names {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(n))); err == nil {
			return shell.Usagef("%s is there already", filepath.Join(dir, n))
		}
	}
	others := dataIn(dir)
	for _, n := range names {
		to := filepath.Join(dir, filepath.FromSlash(n))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
		if err := os.WriteFile(to, []byte(files[n]), 0o644); err != nil {
			return &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
		sh.Tell("wrote %s", to)
	}
	if dir == "." {
		if here, err := os.Getwd(); err == nil {
			sh.Tell("note: they are in the current folder, %s; --dir FOLDER writes elsewhere", here)
		}
	}
	sh.Tell("next: write the rule, its examples and its test, then %s policy test %s", sh.Name, dir)
	if len(others) > 0 {
		sh.Tell("note: %s: YAML and JSON in a folder of policies is their data, unless it is a manifest; --dir policies/ gives them a folder of their own", terminal.Few(others))
	}
	return nil
}

// dataIn are the files of a folder that policies in it would take for their data, unless they are manifests.
func dataIn(dir string) (names []string) {
	entries, _ := os.ReadDir(dir) // what cannot be read cannot be written into either
	for _, e := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names
}
