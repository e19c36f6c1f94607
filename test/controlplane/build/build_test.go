package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// inRepository is a repository with one part that has been built.
func inRepository(t *testing.T) (builder, part) {
	t.Helper()
	root := t.TempDir()
	b := builder{root: root, out: filepath.Join(root, "bin", "controlplane")}
	p := part{Name: "tool", Dir: "tools/tool", Package: "."}
	write(t, filepath.Join(root, "test", p.Dir, "go.mod"), "module tool\n")
	write(t, filepath.Join(root, "test", p.Dir, "main.go"), "package main\n")
	write(t, filepath.Join(b.out, p.Name), "a program")
	stamp, err := b.stamp(p)
	if err != nil {
		t.Fatal(err)
	}
	write(t, b.stampFile(p), stamp)
	return b, p
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestWhatMakesAPartStale(t *testing.T) {
	cases := map[string]struct {
		change func(t *testing.T, b builder, p *part)
		want   bool
	}{
		"nothing": {func(*testing.T, builder, *part) {}, false},
		"another version in go.mod": {func(t *testing.T, b builder, p *part) {
			write(t, filepath.Join(b.root, "test", p.Dir, "go.mod"), "module tool\n\nrequire example.org/x v1.0.1\n")
		}, true},
		"a change in main.go": {func(t *testing.T, b builder, p *part) {
			write(t, filepath.Join(b.root, "test", p.Dir, "main.go"), "package main // changed\n")
		}, true},
		"other flags": {func(_ *testing.T, _ builder, p *part) { p.LDFlags = "-X main.version=2" }, true},
		"more files":  {func(_ *testing.T, _ builder, p *part) { p.Copies = []files{{"crds/*.yaml", "crds/tool"}} }, true},
		"a README": {func(t *testing.T, b builder, p *part) {
			write(t, filepath.Join(b.root, "test", p.Dir, "README.md"), "x")
		}, false},
		"the program gone": {func(_ *testing.T, b builder, p *part) { _ = os.Remove(filepath.Join(b.out, p.Name)) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b, p := inRepository(t)
			tc.change(t, b, &p)
			stale, err := b.stale([]part{p})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(stale) == 1; got != tc.want {
				t.Errorf("stale after %s: %t, want %t", name, got, tc.want)
			}
		})
	}
}

func TestAnUnknownPartIsAnErrorThatNamesTheKnownOnes(t *testing.T) {
	_, err := choose([]string{"etcd", "kubelet"})
	if err == nil || !strings.Contains(err.Error(), `no part is called "kubelet"; there are etcd, kube-apiserver`) {
		t.Errorf("choose: %v", err)
	}
}

func TestEveryPartHasItsModule(t *testing.T) {
	for _, p := range parts {
		if _, err := os.Stat(filepath.Join("..", "..", p.Dir, "go.mod")); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}
