package config

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// applied is a folder that a text says to hand to kubectl as it is.
var applied = regexp.MustCompile(`apply\s+-k\s+(config/[a-z-]+)`)

// TestNobodyIsToldToInstallAnImageThatNobodyHas reads what the documentation and the manifests say: a folder with our
// Deployment names no image of anybody's, and applied as it is would take away the one that is installed.
func TestNobodyIsToldToInstallAnImageThatNobodyHas(t *testing.T) {
	told := 0
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		switch name := e.Name(); {
		case err != nil:
			return err
		case e.IsDir() && (name == ".git" || name == "bin" || name == "testdata"):
			return filepath.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, ".md") && name != "kustomization.yaml" && name != "Makefile":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range applied.FindAllStringSubmatch(string(text), -1) {
			told++
			made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join("..", m[1]))
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			for _, r := range made.Resources() {
				if r.GetKind() == "Deployment" {
					t.Errorf("%s says to apply %s, which holds Deployment %s; make install sets its image", path, m[1], r.GetName())
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if told == 0 {
		t.Error("nothing is told to be applied; the test looks in the wrong place")
	}
}
