package explain

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/ground"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

func TestFreshAnswers(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	only := os.Getenv("FRESH")
	files, _ := filepath.Glob("testdata/fresh/*.txtar")
	sum := map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if only != "" && !slices.Contains(strings.Split(only, ","), name) {
			continue
		}
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		answers := ""
		for _, f := range a.Files {
			if f.Name == "answers.txt" {
				answers = string(f.Data)
				continue
			}
			p := filepath.Join(dir, f.Name)
			_ = os.MkdirAll(filepath.Dir(p), 0o755)
			if err := os.WriteFile(p, f.Data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c, err := collect.Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		r := diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{Nominees: true})
		q := Explainer{}.Ask(t.Context(), c, r)
		shown := against(q, r)
		for line := range strings.Lines(answers) {
			kind, s, _ := strings.Cut(strings.TrimSpace(line), ": ")
			k := ground.Keep(ground.Answer{Analysis: s}, shown)
			what := "dropped"
			switch {
			case k.Analysis != "":
				what = "published"
			case k.Sentences > k.Dropped:
				what = "apart"
			}
			class := "wrong"
			if kind == "faithful" {
				class = kind
			}
			sum[class+" "+what]++
			t.Logf("%-3s %-10s %-10s %s | %s", name, kind, what, k.LeftOut(), s)
		}
	}
	t.Log(sum)
}
