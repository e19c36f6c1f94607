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

// unpacked is the bundle of an archive, and the sentences that models write about it, each with its kind before a colon.
func unpacked(t *testing.T, file string) (c diagnose.Case, sentences []string) {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		if f.Name == "answers.txt" {
			sentences = strings.Split(strings.TrimSpace(string(f.Data)), "\n")
			continue
		}
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err = collect.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, sentences
}

// What models write about bundles, labelled before it was first judged, goes the whole way: from the bundle to what is
// shown. Nothing wrong is shown as supported, and no order or command at all; what is right and cannot be shown from the
// evidence is shown apart.
func TestAnswersAboutBundles(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/answers/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, error %v", len(files), err)
	}
	const published, apart, dropped = 0, 1, 2
	var faithful, wrong [3]int
	for _, file := range files {
		c, sentences := unpacked(t, file)
		r := diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{Nominees: true})
		shown := against(Explainer{}.Ask(t.Context(), c, r), r)
		for _, line := range sentences {
			kind, sentence, _ := strings.Cut(line, ": ")
			k := ground.Keep(ground.Answer{Analysis: sentence}, shown)
			outcome := dropped
			switch {
			case k.Analysis != "":
				outcome = published
			case kind != "faithful" && !slices.ContainsFunc(k.Unsupported, func(s string) bool { return !slices.Contains(shown.Remedies, s) }):
				// nothing of it is shown: what the rules offer is told in their words
			case len(k.Unsupported) > 0:
				outcome = apart
			}
			if outcome != published || kind != "faithful" {
				t.Logf("%s, %s, %v: %s (%s)", filepath.Base(file), kind, [3]string{"published", "apart", "dropped"}[outcome], sentence, k.LeftOut())
			}
			switch {
			case kind == "faithful":
				faithful[outcome]++
				continue
			case outcome == published, outcome == apart && slices.Contains([]string{"order", "command", "laundering"}, kind):
				t.Errorf("%s: what is wrong (%s) is shown: %s", filepath.Base(file), kind, sentence)
			}
			wrong[outcome]++
		}
	}
	all := faithful[published] + faithful[apart] + faithful[dropped]
	t.Logf("of %d faithful: %d published, %d shown as unsupported, %d dropped; wrong: %d published, %d shown as unsupported, %d dropped",
		all, faithful[published], faithful[apart], faithful[dropped], wrong[published], wrong[apart], wrong[dropped])
	if faithful[dropped]*5 > all {
		t.Errorf("%d of %d faithful sentences are dropped: more than one in five", faithful[dropped], all)
	}
}

// The name of a category says more than the finding: a run that SIGINT ended is filed with those that SIGTERM ends.
func TestTheNameOfACategoryIsNoEvidence(t *testing.T) {
	s := against(Question{}, diagnose.Result{Error: "log.txt: SIGINT: somebody interrupted the run", Category: "sigterm-preempted"})
	if strings.Contains(s.Says, "sigterm") {
		t.Errorf("the category is among what the rules say: %s", s.Says)
	}
}
