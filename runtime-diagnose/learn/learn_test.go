package learn

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What several people confirmed of one form is one draft, which loads and whose fixtures hold.
func TestDrafts(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	drafts, skipped := Drafts([]Confirmed{
		{Job: "ml/a", Text: "2026-03-04T10:00:08Z no seat is left for solver-x after 30s on train-a-worker-2; giving up", Category: "permission-denied", Kind: signature.Log, Names: []string{"train-a"}},
		{Job: "ml/b", Text: "no seat is left for solver-x after 31s on train-a-worker-0; giving up", Category: "permission-denied", Kind: signature.Log, Names: []string{"train-a"}},
		{Job: "ml/c", Text: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", Category: "gpu-oom", Kind: signature.Log},
		{Job: "ml/d", Text: "anything", Category: "gremlins", Kind: signature.Log},
		{Job: "ml/e", Text: "17 4 99", Category: "gpu-oom", Kind: signature.Log},
	}, catalog, "0.1")
	if len(drafts) != 1 {
		t.Fatalf("%d drafts, want 1: %+v", len(drafts), drafts)
	}
	d := drafts[0]
	s, err := signature.Decode(d.YAML)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"seat-left-for-solver-after", "no seat is left for solver-x after … on … giving up", `no\s+seat\s+is\s+left\s+for\s+solver-x\s+after\s+(?P<what1>\S+)\s+on\s+(?P<what2>\S+)\s+giving\s+up`, "permission-denied"}
	if diff := cmp.Diff(want, []string{s.ID, s.Title, s.Pattern, s.Category}); diff != "" {
		t.Errorf("draft (-want +got):\n%s", diff)
	}
	const fixtures = "-- match --\nno seat is left for solver-x after 30s on train-a-worker-2; giving up\n" +
		"-- match --\nno seat is left for solver-x after 31s on train-a-worker-0; giving up\n" +
		"-- other --\nno seat is left for solver-x\n-- other --\nafter 30s on train-a-worker-2; giving up\n"
	if diff := cmp.Diff(fixtures, string(d.Fixtures)); diff != "" {
		t.Errorf("fixtures (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ml/a", "ml/b"}, d.Jobs); diff != "" {
		t.Errorf("jobs (-want +got):\n%s", diff)
	}
	var why []string
	for _, s := range skipped {
		why = append(why, s.Job)
	}
	if diff := cmp.Diff([]string{"ml/c", "ml/d", "ml/e"}, why); diff != "" {
		t.Errorf("skipped (-want +got):\n%s %+v", diff, skipped)
	}
}

// Eight lines of a form stand in its fixtures, and those beyond are counted; five words make its name, and the sixth none.
func TestADraftOfManyLines(t *testing.T) {
	for n, above := range map[int]string{8: "", 9: "1 more line of this form was confirmed, too.\n", 2000: "1992 more lines of this form were confirmed, too.\n"} {
		var all []Confirmed
		for i := range n {
			all = append(all, Confirmed{Job: fmt.Sprintf("ml/j%d", i), Text: fmt.Sprintf("granite quarry elevator cable snapped twice at level %d", i), Category: "permission-denied", Kind: signature.Log})
		}
		drafts, skipped := Drafts(all, nil, "0.1")
		if len(drafts) != 1 || len(skipped) > 0 {
			t.Fatalf("%d drafts, %d skipped; want one draft", len(drafts), len(skipped))
		}
		d := drafts[0]
		archive := txtar.Parse(d.Fixtures)
		matches := 0
		for _, f := range archive.Files {
			if f.Name == "match" {
				matches++
			}
		}
		if string(archive.Comment) != above || matches != 8 || len(d.Jobs) != n || d.ID != "granite-quarry-elevator-cable-snapped" {
			t.Errorf("of %d lines %d are fixtures below %q, of %d jobs, called %s", n, matches, archive.Comment, len(d.Jobs), d.ID)
		}
	}
}
