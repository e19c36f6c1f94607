package score_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
	"github.com/signalbox-dev/signalbox/test/quality/score"
)

// folder writes cases as they lie on a disk: name → file → text.
func folder(t *testing.T, cases map[string]map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, files := range cases {
		for file, text := range files {
			at := filepath.Join(dir, name, file)
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

func scored(t *testing.T, cases map[string]map[string]string) []score.Case {
	t.Helper()
	catalog, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	out, err := score.Folder(t.Context(), catalog, folder(t, cases), score.All, diagnose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const outOfMemory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.00 GiB is free."

func TestAScoreCountsWhatIsRightAndWhatIsNot(t *testing.T) {
	log := func(label, text string) map[string]string {
		return map[string]string{"label.yaml": label, "log.txt": text}
	}
	cases := scored(t, map[string]map[string]string{
		"right":     log("category: gpu-oom\nkey_line: '"+outOfMemory+"'\n", "step 1 loss: 2\n"+outOfMemory+"\n"),
		"pattern":   log("category: gpu-oom\nkey_line: what the label quotes is elsewhere\nkey_patterns: ['CUDA out of memory']\n", outOfMemory+"\n"),
		"wrong":     log("category: disk-full\nkey_line: 'OSError: [Errno 28] No space left on device'\nsymptom_lines: ['"+outOfMemory+"']\n", outOfMemory+"\n"),
		"well":      log("category: healthy\n", "step 1 loss: 2\nstep 2 loss: 1\nTraining completed.\n"),
		"alarm":     log("category: healthy\n", outOfMemory+"\n"),
		"forbidden": log("category: gpu-oom\nnever: [out of memory]\n", outOfMemory+"\n"),
		"doubtful":  log("category: gpu-oom\nconfidence: low\n", "nothing\n"),
		"no label":  {"log.txt": outOfMemory},
		"scenario":  {"expect.yaml": "healthy: No\ncategory: gpu-oom\nline: CUDA out of memory\nnever: [disk space]\n", "rank0.log": outOfMemory + "\n"},
	})
	n := score.CountOf(cases)
	got := fmt.Sprintf("cases %d, cause %s, line %s, mistaken %s, healthy %s, alarms %s, never %s, supported %s",
		n.Cases, n.Cause, n.Line, n.Mistaken, n.Well, n.Alarm, n.Never, n.Standing["supported"])
	want := "cases 7, cause 4/5 80.0 %, line 3/4 75.0 %, mistaken 1/5 20.0 %, healthy 1/2 50.0 %, alarms 1/2 50.0 %, never 1/2 50.0 %, supported 3/6 50.0 %"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("score (-want +got):\n%s", diff)
	}
	below := score.Floors{Cause: 92, Line: 92, Mistaken: 2, Well: 90}.Below(n)
	if len(below) != 5 {
		t.Errorf("floors missed: %q; want cause, line, mistaken, healthy and alarms", below)
	}
	if board := score.Board([]score.Row{{Name: "here", Cases: cases}}); !strings.Contains(board, "| here | 7 | 4/5 80.0 % | 3/4 75.0 % | – | 0 | 0 | 1 | 1/2 50.0 % | 1 |") {
		t.Errorf("the board does not say the totals:\n%s", board)
	}
	if misses := score.Misses(cases); strings.Contains(misses, "right") || !strings.Contains(misses, "CL. wrong ") || !strings.Contains(misses, "forbidden") {
		t.Errorf("what is listed as missed:\n%s", misses)
	}
}

// A recorded gang is handed over in five ways, and the pod counts in each of them.
func TestAGangIsScoredInEveryWayOfHandingItOver(t *testing.T) {
	pod := func(index, phase, exit string) string {
		return `
- metadata:
    name: lm-worker-` + index + `
    namespace: ml
    labels: {training.kubeflow.org/job-name: lm, training.kubeflow.org/replica-type: worker, training.kubeflow.org/replica-index: "` + index + `"}
    creationTimestamp: "2026-03-01T10:00:00Z"
    ownerReferences: [{apiVersion: kubeflow.org/v1, kind: PyTorchJob, name: lm, uid: a}]
  spec: {nodeName: n` + index + `, containers: [{name: pytorch, image: i}]}
  status:
    phase: ` + phase + `
    containerStatuses: [{name: pytorch, state: {terminated: {exitCode: ` + exit + `, finishedAt: "2026-03-01T10:01:00Z"}}}]`
	}
	cases := scored(t, map[string]map[string]string{"one runs out": {
		"label.yaml":             "category: gpu-oom\nfirst_pod: lm-worker-1\nkey_patterns: ['^torch.OutOfMemoryError']\n",
		"pods.yaml":              "items:" + pod("0", "Succeeded", "0") + pod("1", "Failed", "1"),
		"ts/log-lm-worker-0.txt": "2026-03-01T10:00:50.1Z step 1 loss: 2\n",
		"ts/log-lm-worker-1.txt": "2026-03-01T10:00:59.1Z " + outOfMemory + "\n",
	}})
	var got []string
	for _, c := range cases {
		got = append(got, fmt.Sprintf("%s cause=%t line=%t pod=%t", c.ID(), c.Cause, c.Line, c.Pod))
	}
	var want []string
	for _, mode := range []string{"bundle", "files-ts", "files", "logs-ts", "logs"} {
		want = append(want, "one runs out/"+mode+" cause=true line=true pod=true")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ways (-want +got):\n%s", diff)
	}
}

// A case is held out by its name alone, and every case is either held out or open.
func TestAThirdIsHeldOut(t *testing.T) {
	cases := map[string]map[string]string{}
	for i := range 60 {
		cases[fmt.Sprintf("case-%02d", i)] = map[string]string{"label.yaml": "category: healthy\n", "log.txt": "step 1 loss: 2\n"}
	}
	dir := folder(t, cases)
	number := func(part score.Part) int {
		found, err := score.Folder(t.Context(), nil, dir, part, diagnose.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	open, held, all := number(score.Open), number(score.Held), number(score.All)
	if all != 60 || open+held != all || held < 10 || held > 30 {
		t.Errorf("%d open, %d held out of %d; want about a third held out", open, held, all)
	}
}
