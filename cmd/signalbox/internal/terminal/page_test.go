package terminal

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestLinesAreFoldedBetweenWords(t *testing.T) {
	cases := map[string]struct {
		line string
		at   int
		want string
	}{
		"short":                   {"fits", 40, "fits"},
		"no terminal":             {strings.Repeat("word ", 40), 0, strings.Repeat("word ", 40)},
		"a paragraph":             {"    container pytorch of Master requests 8 cpu", 30, "    container pytorch of\n    Master requests 8 cpu"},
		"a numbered step":         {"  1. Raise the limit to the request, or lower it.", 30, "  1. Raise the limit to the\n     request, or lower it."},
		"a counted effect":        {"     3 × a collective did not finish before the watchdog", 40, "     3 × a collective did not finish\n         before the watchdog"},
		"a row with a heading":    {"    short    nvidia.com/gpu: 48 asked, 8 free in all of it", 40, "    short    nvidia.com/gpu: 48 asked, 8\n             free in all of it"},
		"a row with two headings": {"  ok       bounds of the account  two policies hold it to its own annotations", 60, "  ok       bounds of the account  two policies hold it to\n                                  its own annotations"},
		"a piece of evidence":     {"  [2] logs/worker-5.log:29  E1130 failed (exitcode: 1) local_rank: 3", 40, "  [2] logs/worker-5.log:29  E1130 failed\n      (exitcode: 1) local_rank: 3"},
		"a word that is too long": {"spec.pytorchReplicaSpecs.Master.template.spec.containers is long", 20, "spec.pytorchReplicaSpecs.Master.template.spec.containers\nis long"},
		"a quoted log line":       {"  > torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", 30, "  > torch.OutOfMemoryError: CUDA out of memory. Tried to allocate"},
		"a line of a manifest":    {"    14 │               requests: {cpu: 8, memory: 1Gi}", 30, "    14 │               requests: {cpu: 8, memory: 1Gi}"},
		"wide characters":         {"显存不足 显存不足 显存不足", 20, "显存不足 显存不足\n显存不足"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Fold(tc.line, tc.at)); diff != "" {
				t.Errorf("fold (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzFold: no word is lost, and only words that are too long stand beyond the edge.
func FuzzFold(f *testing.F) {
	f.Add("    short    nvidia.com/gpu: 48 asked", 40)
	f.Add("\x1b[1mbold words\x1b[0m and more", 24)
	f.Fuzz(func(t *testing.T, line string, width int) {
		line = strings.ReplaceAll(line, "\n", " ")
		if width = width % 200; width < 0 {
			width = -width
		}
		got := Fold(line, width)
		if a, b := strings.Fields(line), strings.Fields(got); len(a) != len(b) {
			t.Fatalf("%d words become %d:\n%q\n%q", len(a), len(b), line, got)
		}
		if width == 0 || quoted.MatchString(ansi.Strip(line)) {
			return
		}
		for l := range strings.SplitSeq(got, "\n") {
			if ansi.StringWidth(l) > max(width, 0) && len(strings.Fields(l)) > 1 && got != line && width > 2*narrowest {
				words := strings.Fields(l)
				if ansi.StringWidth(words[0]) < width-44-narrowest && ansi.StringWidth(words[len(words)-1]) < narrowest {
					t.Fatalf("%d columns: %q", width, l)
				}
			}
		}
	})
}

func TestATableLeavesOutColumnsAndWrapsTheLast(t *testing.T) {
	rows := [][]string{{"NAME", "KINDS", "WHAT IT SAYS"}, {"shm-missing", strings.Repeat("x", 40), "the pods share memory through a file system that is far too small"}}
	want := "NAME         WHAT IT SAYS\nshm-missing  the pods share memory through a file\n             system that is far too small\n"
	if diff := cmp.Diff(want, Page{Width: 52}.Table(rows, 1)); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	narrow := [][]string{{"JOB", "CATEGORY", "WAITS FOR"}, {"llama", "unschedulable-gpu", "two pods wait for eight devices each, and no node has more than five"}, {"nan", "nan-loss", "-"}}
	want = "JOB    CATEGORY           WAITS FOR\nllama  unschedulable-gpu\n    two pods wait for eight devices each,\n    and no node has more than five\nnan    nan-loss           -\n"
	if diff := cmp.Diff(want, Page{Width: 42}.Table(narrow)); diff != "" {
		t.Errorf("a last column without room (-want +got):\n%s", diff)
	}
	numbers := [][]string{{"CATEGORY", "JOBS", "GPU HOURS"}, {"unschedulable-gpu", "2", "0.4"}}
	want = "CATEGORY           JOBS  GPU HOURS\nunschedulable-gpu  2     0.4\n"
	if diff := cmp.Diff(want, Page{Width: 30}.Table(numbers)); diff != "" {
		t.Errorf("a last column of numbers stays below its heading (-want +got):\n%s", diff)
	}
	if got := (Page{}).Table(rows, 1); !strings.Contains(got, "xxxx") || strings.Count(got, "\n") != 2 {
		t.Errorf("what is no terminal gets every column, in one line each:\n%s", got)
	}
}
