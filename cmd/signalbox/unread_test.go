package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// Of several files those that can be read are: what the others are is said, and beside them nothing shows health.
func TestDiagnoseReadsWhatItCanOfSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	well := file("a.log", "step 1/3 loss 2.5\nstep 2/3 loss 2.4\nstep 3/3 loss 2.3\nTraining finished successfully\n")
	failed := file("c.log", "Traceback (most recent call last):\n  File \"t.py\", line 1, in <module>\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
	noise := file("b.bin", strings.Repeat("\x01\x02\x83\x84", 200))
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"beside a log that ends well": {[]string{well, noise}, shell.ExitUnknown, "missing: " + noise + " is not text"},
		"beside one that fails":       {[]string{noise, failed}, 1, "the GPU ran out of memory"},
		"as text for a ticket":        {[]string{well, noise, "-o", "md"}, shell.ExitUnknown, "## the files: unknown\n\nMissing: " + noise},
		"alone":                       {[]string{noise}, shell.ExitUsage, "is not text; expected a log as text"},
		"two that are none":           {[]string{noise, noise}, shell.ExitUsage, "is not text"},
		"one that is not there":       {[]string{"--log", well, "--log", filepath.Join(dir, "z.log")}, shell.ExitUsage, "z.log"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: time.Now}, append([]string{"diagnose", "--exit-code"}, tc.args...))
			if said := out.String() + errs.String(); code != tc.code || !strings.Contains(said, tc.want) {
				t.Errorf("exit code %d, want %d; it says\n%s\nwant %q in it", code, tc.code, said, tc.want)
			}
		})
	}
}

// Files tell of the time until they were written: a job that ran then is not said to stand still ever since.
func TestSavedFilesTellOfWhenTheyWereSaved(t *testing.T) {
	dir := t.TempDir()
	saved := time.Date(2026, 5, 4, 11, 0, 0, 0, time.UTC)
	file := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(name, []byte(text), 0o600), os.Chtimes(name, saved, saved)); err != nil {
			t.Fatal(err)
		}
		return name
	}
	var log strings.Builder
	for i := range 60 {
		fmt.Fprintf(&log, "2026-05-04T%02d:%02d:00Z step %d/5000 loss 2.%02d\n", 10, i, 10*i+1, 99-i)
	}
	pods := file("pods.yaml", `apiVersion: v1
kind: Pod
metadata: {name: train-0, namespace: ml, uid: u0, creationTimestamp: "2026-05-04T09:59:00Z", labels: {batch.kubernetes.io/job-name: train, batch.kubernetes.io/job-completion-index: "0"},
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: j, controller: true}]}
spec: {nodeName: node-a, containers: [{name: main, image: x}]}
status:
  phase: Running
  startTime: "2026-05-04T09:59:00Z"
  conditions: [{type: PodScheduled, status: "True"}, {type: Ready, status: "True", lastTransitionTime: "2026-05-04T09:59:30Z"}]
  containerStatuses: [{name: main, ready: true, restartCount: 0, image: x, imageID: x, state: {running: {startedAt: "2026-05-04T09:59:30Z"}}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, uid: j, creationTimestamp: "2026-05-04T09:59:00Z"}
spec: {completionMode: Indexed, parallelism: 1, completions: 1, template: {spec: {restartPolicy: Never, containers: [{name: main, image: x}]}}}
status: {startTime: "2026-05-04T09:59:00Z", active: 1, ready: 1}
`)
	for name, tc := range map[string]struct {
		log  string
		code int
	}{
		"the log goes on to the end":                {log.String(), shell.ExitFine},
		"it stood still for half an hour even then": {log.String()[:strings.Index(log.String(), "T10:30")-len("2026-05-04")], 1},
	} {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			months := func() time.Time { return saved.Add(200 * 24 * time.Hour) }
			code := run(t.Context(), &shell.Shell{Name: "signalbox", Out: &out, Err: &errs, Now: months}, []string{"diagnose", "--exit-code", "--pods", pods, "--log", file("train-0.log", tc.log)})
			if code != tc.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, tc.code, out.String(), errs.String())
			}
		})
	}
}
