package diagnose_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/quality/score"
)

// Floors of how often what is kept of the logs gives the same answer as the logs, in percent:
// whole excerpts, and excerpts that were folded once to 4 KiB.
const (
	floorKept   = 99.0
	floorFolded = 98.0
)

// The diagnosis from what is kept of ended containers is that from their logs.
func TestWhatIsKeptTellsTheSame(t *testing.T) {
	dir := score.Dir(os.Getenv("SIGNALBOX_CORPUS"), "../../shared/corpus/dev", "../test/quality/corpus")
	if dir == "" {
		t.Skip("no corpus here")
	}
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	labels, err := filepath.Glob(filepath.Join(dir, "*", "label.yaml"))
	if err != nil || len(labels) == 0 {
		t.Fatalf("no cases in %s: %v", dir, err)
	}
	var cases, same, folded, kept, all int
	for _, label := range labels {
		c, err := score.Read(filepath.Dir(label))
		if err != nil {
			t.Fatal(err)
		}
		before := diagnose.Diagnose(t.Context(), c, catalog, diagnose.Options{})
		whole, bytes, of := throughKeep(t, c, catalog, keep.Budget)
		after := diagnose.Diagnose(t.Context(), whole, catalog, diagnose.Options{})
		short, _, _ := throughKeep(t, c, catalog, 4<<10)
		shortened := diagnose.Diagnose(t.Context(), short, catalog, diagnose.Options{})
		cases++
		kept, all = kept+bytes, all+of
		if answer(before) == answer(after) {
			same++
		} else {
			t.Logf("%s:\n  logs %s\n  kept %s", filepath.Base(filepath.Dir(label)), answer(before), answer(after))
		}
		if answer(before) == answer(shortened) {
			folded++
		}
	}
	t.Logf("%d cases: the same answer from %d bytes of %d in %.1f %%, folded to 4 KiB in %.1f %%", cases, kept, all, score.Percent(same, cases), score.Percent(folded, cases))
	if p := score.Percent(same, cases); p < floorKept {
		t.Errorf("what is kept gives the same answer in %.1f %% of cases; the floor is %.1f", p, floorKept)
	}
	if p := score.Percent(folded, cases); p < floorFolded {
		t.Errorf("what is kept, folded, gives the same answer in %.1f %% of cases; the floor is %.1f", p, floorFolded)
	}
}

// answer is what must not change: the verdict, the cause, its line and where that stands.
func answer(r diagnose.Result) string {
	if r.Root == nil {
		return fmt.Sprintf("%s %s", r.Verdict, r.Category)
	}
	return fmt.Sprintf("%s %s %s %d %.120q", r.Verdict, r.Category, r.Root.Signature, r.Root.Source.Line, r.Root.Line)
}

// throughKeep stores the logs of a case and reads them back.
func throughKeep(t *testing.T, c diagnose.Case, catalog *signature.Catalog, budget int) (out diagnose.Case, kept, of int) {
	t.Helper()
	out = c
	out.Logs = nil
	for i, log := range c.Logs {
		if log.Pasted {
			out.Logs = append(out.Logs, log) // events and descriptions are no logs of containers
			continue
		}
		in, err := log.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		e, err := keep.Take(bytes.NewReader(text), catalog, keep.Budget)
		if err != nil {
			t.Fatal(err)
		}
		s := keep.NewSet()
		s.Add(keep.Record{Key: keep.Key{Pod: "p", Container: fmt.Sprint(i)}, Source: evidence.Source{Pod: "p", Container: fmt.Sprint(i), Rank: -1}}, e.Within(budget))
		again, err := keep.Decode(s.Encode(1 << 20))
		if err != nil {
			t.Fatal(err)
		}
		end := again.Ends()[0]
		log.Numbers, log.Skipped = end.Lines, end.Skipped
		log.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(end.Text())), nil }
		out.Logs = append(out.Logs, log)
		kept, of = kept+len(end.Text()), of+len(text)
	}
	return out, kept, of
}

func TestKeptLinesKeepTheirNumbers(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	c := diagnose.Case{Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	c.AddLog("train.log", []byte(strings.Repeat("step\n", 4711)+"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"+strings.Repeat("bye\n", 900)))
	kept, _, _ := throughKeep(t, c, catalog, keep.Budget)
	r := diagnose.Diagnose(t.Context(), kept, catalog, diagnose.Options{})
	if r.Root == nil || r.Root.Source.Line != 4712 {
		t.Errorf("root is %+v, want line 4712", r.Root)
	}
	if r.Coverage.BytesSkipped < 20_000 {
		t.Errorf("%d bytes skipped; want those that were not kept", r.Coverage.BytesSkipped)
	}
}
