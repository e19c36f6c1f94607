package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The recipes of CONTRIBUTING.md are followed to the letter by who comes first: what they make must not be there, and make help names the same.
func TestRecipesMakeWhatIsNotThere(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	recipes := regexp.MustCompile("`make (new-[a-z]+) (NAME=(\\S+)[^`]*)` \\| `([^`]+)`").FindAllStringSubmatch(string(page), -1)
	if len(recipes) != 4 {
		t.Fatalf("%d recipes, want 4", len(recipes))
	}
	for _, r := range recipes {
		target, arguments, name, file := r[1], r[2], r[3], r[4]
		if at := strings.Index(string(makefile), target+": ## "); at < 0 || !strings.Contains(strings.SplitN(string(makefile)[at:], "\n", 2)[0], arguments) {
			t.Errorf("make help says other arguments than %q of %s", arguments, target)
		}
		if strings.HasSuffix(file, ".rego") { // the name of a package
			name = strings.ReplaceAll(name, "-", "_")
		}
		file = strings.ReplaceAll(file, "<name>", name)
		if _, err := os.Stat(filepath.Join("..", "..", file)); err == nil {
			t.Errorf("%s is there: make %s %s refuses to write over it", file, target, arguments)
		}
	}
}
