package diagnose_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
)

// fieldCase is one story of testdata/field: its files are named category/case.log (a
// container's log), category/case.txt (pasted) or category/case/any of both. Where the text
// alone cannot tell, all categories that are right stand there, with commas between them.
type fieldCase struct {
	category, name string
	files          []txtar.File
}

func fieldCases(t *testing.T) []fieldCase {
	t.Helper()
	archives, err := filepath.Glob("testdata/field/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("find field cases: %d files, %v", len(archives), err)
	}
	cases := map[string]*fieldCase{}
	for _, name := range archives {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(data).Files {
			category, rest, _ := strings.Cut(f.Name, "/")
			story, _, found := strings.Cut(rest, "/")
			if !found {
				story = strings.TrimSuffix(rest, path.Ext(rest))
			}
			key := category + "/" + story
			if cases[key] == nil {
				cases[key] = &fieldCase{category: category, name: key}
			}
			f.Data = []byte(expanded(string(f.Data)))
			cases[key].files = append(cases[key].files, f)
		}
	}
	out := make([]fieldCase, 0, len(cases))
	for _, key := range slices.Sorted(maps.Keys(cases)) {
		out = append(out, *cases[key])
	}
	return out
}

// expanded writes out "@@progress 40" (lines of training) and "@@frames 2000" (lines of a
// native stack): causes lie far above the end in the field, and nobody reads that in a fixture.
func expanded(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		what, count, found := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(count)
		if !found || err != nil || !strings.HasPrefix(what, "@@") {
			b.WriteString(line)
			continue
		}
		for i := range n {
			if what == "@@frames" {
				fmt.Fprintf(&b, "frame #%d: c10d::ProcessGroupNCCL::watchdogHandler() + 0x%x (0x7eff524277a0 in libtorch_cuda.so)\n", i, i)
				continue
			}
			fmt.Fprintf(&b, "step %d | loss: 2.%04d | grad_norm: 0.7 | lr: 1.0e-05 | tokens/s: 31822\n", i, 9999-i)
		}
	}
	return b.String()
}

func (c fieldCase) diagnose(t *testing.T) diagnose.Result {
	t.Helper()
	story := diagnose.Case{Now: noon}
	for _, f := range c.files {
		if path.Ext(f.Name) == ".log" {
			story.AddLog(path.Base(f.Name), f.Data)
		} else {
			bare.Add(&story, path.Base(f.Name), f.Data)
		}
	}
	return diagnose.Diagnose(t.Context(), story, catalog(t), diagnose.Options{})
}

func TestFieldCases(t *testing.T) {
	for _, c := range fieldCases(t) {
		t.Run(c.name, func(t *testing.T) {
			r := c.diagnose(t)
			if got := cmp.Or(r.Category, "nothing"); !slices.Contains(strings.Split(c.category, ","), got) {
				by, line := "", ""
				if r.Root != nil {
					by, line = r.Root.Signature, r.Root.Line
				}
				t.Errorf("got %s by %s: %.160q; want %s", got, by, line, c.category)
			}
		})
	}
}
