package score_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/corpus/score"
)

// folder writes cases as they lie on a disk: name → label, log.
func folder(t *testing.T, cases map[string][2]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, files := range cases {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		for i, file := range []string{"label.yaml", "log.txt"} {
			if err := os.WriteFile(filepath.Join(at, file), []byte(files[i]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

const outOfMemory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free."

func TestAScoreCountsWhatIsRightAndWhatIsNot(t *testing.T) {
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := score.All(t.Context(), catalog, folder(t, map[string][2]string{
		"right":    {"category: gpu-oom\nkey_line: '" + outOfMemory + "'\n", "step 1 loss: 2\n" + outOfMemory + "\n"},
		"wrong":    {"category: disk-full\nkey_line: 'OSError: [Errno 28] No space left on device'\nsymptom_lines: ['" + outOfMemory + "']\n", outOfMemory + "\n"},
		"well":     {"category: healthy\n", "step 1 loss: 2\nstep 2 loss: 1\n"},
		"alarm":    {"category: healthy\n", outOfMemory + "\n"},
		"doubtful": {"category: gpu-oom\nconfidence: low\n", "nothing\n"},
	}))
	if err != nil {
		t.Fatal(err)
	}
	by, all := score.Counts(cases)
	if all.Cases != 4 || all.Cause != 2 || all.Sick != 2 || all.Line != 1 || all.Mistaken != 1 || all.Healthy != 2 || all.Alarm != 1 {
		t.Errorf("counted %+v; want 4 cases, 2 causes right, 1 of 2 lines, 1 mistaken, 1 alarm of 2 healthy", all)
	}
	if len(by) != 3 {
		t.Errorf("%d categories; want 3", len(by))
	}
	if missed := (score.Goals{Cause: 92, Line: 92, Mistaken: 2}).Missed(all); len(missed) != 4 {
		t.Errorf("goals missed: %v; want all 4", missed)
	}
	if table := score.Table(cases); !strings.Contains(table, "cause right 50.0 % of 4") || !strings.Contains(table, "unhealthy 1 of 2") {
		t.Errorf("the table does not say the totals:\n%s", table)
	}
}
