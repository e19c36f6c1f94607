package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// A job that waits for another one is told when that one ends at the latest, where its own time is bounded.
func TestWhenThoseWhoHoldTheNodesEndAtTheLatest(t *testing.T) {
	t.Chdir("../..")
	t.Setenv("KUBECONFIG", os.DevNull)
	const head = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nmetadata: {name: bert, namespace: other}\n"
	for name, tc := range map[string]struct{ holder, want string }{
		"nobody knows the holder": {"apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n", "fits once the job other/bert ends ("},
		"it may run for ever":     {head + "status: {startTime: \"2026-03-04T08:00:00Z\"}\n", "fits once the job other/bert ends ("},
		"it has not started":      {head + "spec: {runPolicy: {activeDeadlineSeconds: 7200}}\n", "fits once the job other/bert ends ("},
		"its time is bounded": {
			head + "spec: {runPolicy: {activeDeadlineSeconds: 16800}}\nstatus: {startTime: \"2026-03-04T08:00:00Z\"}\n",
			"fits once the job other/bert ends, at the latest in 2.2 h, when activeDeadlineSeconds is over (",
		},
		"its time is over": {
			head + "spec: {runPolicy: {activeDeadlineSeconds: 60}}\nstatus: {startTime: \"2026-03-04T08:00:00Z\"}\n",
			"fits once the job other/bert ends, whose activeDeadlineSeconds is over (",
		},
		"a Job of that name": {
			"apiVersion: batch/v1\nkind: Job\nmetadata: {name: bert, namespace: other}\nspec: {activeDeadlineSeconds: 12000}\nstatus: {startTime: \"2026-03-04T08:00:00Z\"}\n",
			"at the latest in 50 min, when activeDeadlineSeconds is over (",
		},
		"Kueue bounds it": {
			strings.Replace(head, "namespace: other", "namespace: other, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/max-exec-time-seconds: \"12000\"}", 1) + "status: {startTime: \"2026-03-04T08:00:00Z\"}\n",
			"fits once the job other/bert ends, at the latest in 50 min, when kueue.x-k8s.io/max-exec-time-seconds is over (",
		},
		"Kueue bounds it, and the job itself does sooner": {
			strings.Replace(head, "namespace: other", "namespace: other, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/max-exec-time-seconds: \"16800\"}", 1) +
				"spec: {runPolicy: {activeDeadlineSeconds: 12000}}\nstatus: {startTime: \"2026-03-04T08:00:00Z\"}\n",
			"at the latest in 50 min, when activeDeadlineSeconds is over (",
		},
		"no queue of Kueue's": {
			strings.Replace(head, "namespace: other", "namespace: other, labels: {kueue.x-k8s.io/max-exec-time-seconds: \"12000\"}", 1) + "status: {startTime: \"2026-03-04T08:00:00Z\"}\n",
			"fits once the job other/bert ends (",
		},
		"what Kueue refuses": {
			strings.Replace(head, "namespace: other", "namespace: other, labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/max-exec-time-seconds: 2h}", 1) + "status: {startTime: \"2026-03-04T08:00:00Z\"}\n",
			"fits once the job other/bert ends (",
		},
		"of another namespace": {
			strings.Replace(head, "other", "ml", 1) + "spec: {runPolicy: {activeDeadlineSeconds: 16800}}\nstatus: {startTime: \"2026-03-04T08:00:00Z\"}\n",
			"fits once the job other/bert ends (",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "holder.yaml")
			if err := os.WriteFile(file, []byte(tc.holder), 0o600); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			sh := &shell.Shell{Name: "signalbox", In: strings.NewReader(""), Out: &out, Err: &out, Now: func() time.Time { return time.Date(2026, 3, 4, 10, 30, 0, 0, time.UTC) }}
			run(t.Context(), sh, []string{
				"fit", "test/promises/jobs/pt-00-base.yaml", "--snapshot", "test/promises/bundles/p1b-fragmented/nodes.yaml",
				"--snapshot", "test/promises/clusters/p1b-others.yaml", "--snapshot", file,
			})
			if !strings.Contains(out.String(), tc.want) {
				t.Errorf("want %q in:\n%s", tc.want, out.String())
			}
		})
	}
}
