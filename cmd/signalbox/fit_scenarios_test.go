package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// TestFitScenarios asks of clusters and jobs that were written by hand, with the answer, before anything was
// run on them. A folder holds one: cluster.yaml, job.yaml, and want.txt, which begins with the verdict (fits,
// now, never, unknown; several where the question is open), goes on with the reason, and may end with
// "mention: WORD" for what the answer has to name, "silent: WORD" for what it may not.
func TestFitScenarios(t *testing.T) {
	t.Setenv("KUBECONFIG", os.DevNull)
	if testing.Short() {
		t.Skip("a table of hundreds of clusters")
	}
	folders, err := filepath.Glob("testdata/fit/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	words := map[int]string{shell.ExitFine: "fits", shell.ExitBusy: "now", shell.ExitFindings: "never", shell.ExitUnknown: "unknown"}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(dir, "want.txt"))
			if err != nil {
				t.Fatal(err)
			}
			verdict, reason, _ := strings.Cut(string(text), "\n")
			var out, errs bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }}
			code := run(t.Context(), sh, []string{"fit", filepath.Join(dir, "job.yaml"), "--snapshot", filepath.Join(dir, "cluster.yaml")})
			said := fmt.Sprintf("%s%s", out.String(), errs.String())
			if !slices.Contains(strings.Split(verdict, "|"), words[code]) {
				t.Errorf("exit code %d (%s), want %s: %s\n%s", code, words[code], verdict, reason, said)
			}
			for line := range strings.Lines(reason) {
				if word, is := strings.CutPrefix(line, "mention: "); is && !strings.Contains(said, strings.TrimSpace(word)) {
					t.Errorf("the answer does not name %q\n%s", strings.TrimSpace(word), said)
				}
				if word, is := strings.CutPrefix(line, "silent: "); is && strings.Contains(said, strings.TrimSpace(word)) {
					t.Errorf("the answer names %q\n%s", strings.TrimSpace(word), said)
				}
			}
		})
	}
}

// TestFitOfOtherSizesAsksWhetherTheJobIsTaken: what the API server refuses it refuses at every size.
func TestFitOfOtherSizesAsksWhetherTheJobIsTaken(t *testing.T) {
	t.Setenv("KUBECONFIG", os.DevNull)
	for dir, want := range map[string]int{"job-per-index-backoff-not-indexed": shell.ExitUnknown, "job-indexed-per-index-backoff": shell.ExitFine} {
		var out, errs bytes.Buffer
		sh := &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: func() time.Time { return time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC) }}
		at := filepath.Join("testdata/fit", dir)
		code := run(t.Context(), sh, []string{"fit", filepath.Join(at, "job.yaml"), "--snapshot", filepath.Join(at, "cluster.yaml"), "--set", "cpu=1,2"})
		if code != want {
			t.Errorf("%s: exit code %d, want %d\n%s%s", dir, code, want, out.String(), errs.String())
		}
	}
}
