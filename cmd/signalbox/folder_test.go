package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A folder of policies may come from a repository of somebody else: a link to what never ends is no file of it.
func TestAFolderOfPoliciesHoldsFiles(t *testing.T) {
	sparse := func(size int64) func(*testing.T, string) {
		return func(t *testing.T, name string) {
			if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(name, size); err != nil {
				t.Fatal(err)
			}
		}
	}
	link := func(to string) func(*testing.T, string) {
		return func(t *testing.T, name string) {
			if err := os.Symlink(to, name); err != nil {
				t.Skip("there are no links here: ", err)
			}
		}
	}
	good := filepath.Join(t.TempDir(), "shared.json")
	if err := os.WriteFile(good, []byte(`{"limits":{"gpus":4}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		put  func(*testing.T, string)
		want string // of the error
	}{
		"a device":          {link(os.DevNull), "it is no regular file"},
		"a link to nowhere": {link("nowhere"), "no such file"},
		"a large file":      {sparse(mostOfFolder + 1), "at most 33554432 are read"},
		"a link to a file":  {link(good), ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			tc.put(t, filepath.Join(dir, "data.json"))
			var out, errs bytes.Buffer
			run(t.Context(), &shell{name: "signalbox", out: &out, err: &errs, now: time.Now}, []string{"check", "-f", filepath.Join("..", "..", "config", "samples", "pytorchjob.yaml"), "--policy", dir})
			said := out.String() + errs.String()
			if tc.want != "" && !strings.Contains(said, tc.want) || tc.want == "" && strings.Contains(said, "data.json") {
				t.Errorf("it says %q; want %q", said, tc.want)
			}
		})
	}
	dir := t.TempDir()
	sparse(mostOfFolder)(t, filepath.Join(dir, "data.json"))
	if text, err := fs.ReadFile(folderOf(dir), "data.json"); err != nil || len(text) != mostOfFolder {
		t.Errorf("a file as large as may be: %d bytes, %v", len(text), err)
	}
}
