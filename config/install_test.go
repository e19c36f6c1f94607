package config

import (
	"io/fs"
	"os"
	"os/exec"
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

// TestAppliedAsItIsADeploymentIsRefused: kubectl apply -k after make install would put another image in place of the one that
// runs, and nobody has one to name. The API server takes no container without an image, and leaves the Deployment as it is
// (kubernetes/kubernetes, pkg/apis/core/validation, validateContainerCommon).
func TestAppliedAsItIsADeploymentIsRefused(t *testing.T) {
	folders, err := filepath.Glob("*/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range folders {
		made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Dir(file))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, r := range made.Resources() {
			if r.GetKind() != "Deployment" {
				continue
			}
			seen++
			text, err := r.AsYAML()
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), "image:"); n != strings.Count(string(text), `image: ""`) || n == 0 {
				t.Errorf("%s: Deployment %s names an image; want image: \"\"\n%s", file, r.GetName(), text)
			}
		}
	}
	if seen < 5 {
		t.Errorf("%d Deployments; the test looks in the wrong place", seen)
	}
}

// TestTheOverlayOfTheInstallPageNamesTheImage: with the folder of this commit in place of the address.
func TestTheOverlayOfTheInstallPageNamesTheImage(t *testing.T) {
	page, err := os.ReadFile("../docs/how-to/install.md")
	if err != nil {
		t.Fatal(err)
	}
	_, behind, found := strings.Cut(string(page), "```yaml\nresources:\n")
	overlay, _, closed := strings.Cut(behind, "```")
	dir := t.TempDir()
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	there, err := filepath.Rel(dir, here) // kustomize takes no folder by its whole path
	if err != nil {
		t.Fatal(err)
	}
	overlay = regexp.MustCompile(`github\.com/signalbox-dev/signalbox/config/(\w+)\?ref=\S+`).ReplaceAllString("resources:\n"+overlay, filepath.ToSlash(there)+"/$1")
	if !found || !closed || !strings.Contains(overlay, there) {
		t.Fatalf("the page has no overlay over config/default:\n%s", overlay)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(overlay), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := made.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "image: registry.example/signalbox:0.1.0\n"); n != 1 || strings.Contains(string(text), `image: ""`) {
		t.Errorf("the image stands %d times; want it in the Deployment:\n%s", n, text)
	}
}

// TestWhoNamesNoImageIsToldWhatToDo runs make itself: nothing is asked of a cluster before an image is named.
func TestWhoNamesNoImageIsToldWhatToDo(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make here")
	}
	for _, target := range []string{"install", "push"} {
		run := exec.CommandContext(t.Context(), "make", "-C", "..", target, "IMAGE=", "VERSION=1.2.3")
		run.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull, "MAKEFLAGS=")
		said, err := run.CombinedOutput()
		if err == nil {
			t.Errorf("make %s without IMAGE succeeds", target)
		}
		for _, want := range []string{"make " + target + " needs IMAGE", "make push IMAGE=registry.example/signalbox:1.2.3", "make install IMAGE=registry.example/signalbox:1.2.3"} {
			if !strings.Contains(string(said), want) {
				t.Errorf("make %s does not say %q:\n%s", target, want, said)
			}
		}
		if strings.Contains(string(said), "kubectl kustomize") {
			t.Errorf("make %s asked a cluster:\n%s", target, said)
		}
	}
}

// fakeKubectl is a kubectl that notes what it is asked for, and knows no CRD. The cluster is no part of what make decides.
func fakeKubectl(t *testing.T) (path string, asked func() string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"$@\" >>" + dir + "/asked\n" +
		"[ \"$1\" != kustomize ] || echo '          image: \"\"'\n[ \"$1\" != apply ] || cat >>" + dir + "/asked\n[ \"$1 $2\" != 'get crd' ] || { echo 'Error from server (NotFound)' >&2; exit 1; }\n"
	if err := os.WriteFile(dir+"/kubectl", []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator) + os.Getenv("PATH"), func() string {
		text, _ := os.ReadFile(dir + "/asked") // none is there where nothing was asked
		return string(text)
	}
}

// TestWithoutCertManagerNothingIsApplied: half an installation is worse than none. And what is taken out again leaves the
// namespace, where the policies of its users are.
func TestWithoutCertManagerNothingIsApplied(t *testing.T) {
	for target, want := range map[string]struct {
		fails            bool
		asks, given, not string // given: to kubectl apply
	}{
		"install CERTS=cert-manager":        {fails: true, asks: "get crd certificates.cert-manager.io", not: "apply"},
		"install CERTS=closed-cert-manager": {fails: true, asks: "get crd certificates.cert-manager.io", not: "apply"},
		"install":                           {asks: "apply -f -\n", given: "\n          image: registry.example/signalbox:1\n", not: "get crd"},
		"uninstall":                         {asks: "delete --ignore-not-found -k config/default -l !pod-security.kubernetes.io/enforce", not: "get crd"},
	} {
		path, asked := fakeKubectl(t)
		run := exec.CommandContext(t.Context(), "make", append(strings.Fields(target), "-C", "..", "IMAGE=registry.example/signalbox:1")...)
		run.Env = append(os.Environ(), "PATH="+path, "KUBECONFIG="+os.DevNull, "MAKEFLAGS=")
		said, err := run.CombinedOutput()
		if got := asked(); (err != nil) != want.fails || !strings.Contains(got, want.asks) || !strings.Contains(got, want.given) || strings.Contains(got, want.not) {
			t.Errorf("make %s: %v\n%sasked:\n%s", target, err, said, got)
		}
	}
}
