package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Versions that the page about compatibility says are tested are those that the tests build.
func TestVersionsThatAreSaidToBeTestedAre(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "compatibility.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| (v[0-9.]+) \| (test/[a-z/-]+) \|$`).FindAllStringSubmatch(string(page), -1)
	said := map[string]bool{}
	for _, row := range rows {
		said[row[3]] = true
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(row[3]), "go.mod"))
		if err != nil {
			t.Error(err)
			continue
		}
		if !strings.Contains(string(text), " "+row[2]+" ") && !strings.Contains(string(text), " "+row[2]+"\n") {
			t.Errorf("%s is said to be tested in %s; %s/go.mod does not ask for it", row[1], row[2], row[3])
		}
	}
	operators, err := filepath.Glob(filepath.Join("..", "operators", "*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range operators {
		if name := "test/operators/" + filepath.Base(filepath.Dir(file)); !said[name] {
			t.Errorf("docs/compatibility.md does not name %s", name)
		}
	}
}

// The API servers of older minor versions that the page says are tested are those that are built, in that version, and all of them.
func TestOlderKubernetesThatIsSaidToBeTestedIs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "compatibility.md"))
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (1\.[0-9]+) \| the API server (v[0-9.]+) is`).FindAllStringSubmatch(string(page), -1) {
		said["kubernetes-"+row[1]] = row[2]
	}
	files, err := filepath.Glob(filepath.Join("..", "controlplane", "kubernetes-*", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 || len(files) != len(said) {
		t.Errorf("docs/compatibility.md names %d older API servers, and %d are built", len(said), len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		if version, ok := said[name]; !ok || !strings.Contains(string(text), "k8s.io/kubernetes "+version+" ") {
			t.Errorf("docs/compatibility.md says %q of %s, whose go.mod asks for another version", version, name)
		}
	}
}
