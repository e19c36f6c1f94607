package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	concurrent   = regexp.MustCompile(`(?ms)^CONCURRENT\s*:= (.*?[^\\])$`)
	atTheSame    = regexp.MustCompile(`(?m)^\s*go (?:func|[a-z])|\.Go\(|\bsync\.|\batomic\.`)
	productRoots = []string{"cmd", "webhook", "preflight", "policies", "runtime-diagnose", "config", "certs"}
)

// The race detector looks at the packages that the Makefile lists: at each that starts goroutines, or shares what they
// write.
func TestTheRaceDetectorSeesWhatRunsAtTheSameTime(t *testing.T) {
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := concurrent.FindSubmatch(text)
	if m == nil {
		t.Fatal("the Makefile has no list CONCURRENT")
	}
	listed := strings.Fields(strings.ReplaceAll(string(m[1]), `\`, " "))
	covers := func(dir string) bool {
		return slices.ContainsFunc(listed, func(pattern string) bool {
			root, below := strings.CutSuffix(strings.TrimPrefix(pattern, "./"), "/...")
			return dir == root || below && strings.HasPrefix(dir, root+"/")
		})
	}
	seen := 0
	for _, root := range productRoots {
		err := filepath.WalkDir("../../"+root, func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			code, err := os.ReadFile(file)
			if err != nil || !atTheSame.Match(code) {
				return err
			}
			seen++
			if dir := strings.TrimPrefix(filepath.Dir(file), "../../"); !covers(dir) {
				t.Errorf("%s does things at the same time; expected %s in CONCURRENT of the Makefile", file, dir)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 20 {
		t.Errorf("%d files do things at the same time; that is too few to be true", seen)
	}
}
