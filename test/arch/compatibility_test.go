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
