package diagnose_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

func TestWithoutACatalogThePlatformsWordStillCounts(t *testing.T) {
	r := diagnose.Diagnose(t.Context(), stories["master-killed-for-memory"], nil, diagnose.Options{})
	if r.Category != "host-oom-killed" {
		t.Errorf("category %q, want host-oom-killed", r.Category)
	}
}

func TestACancelledReadIsSaidInTheCoverage(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	story := stories["module-is-missing"]
	r := diagnose.Diagnose(ctx, story, catalog(t), diagnose.Options{})
	if len(r.Coverage.Missing) != 1 || !strings.Contains(r.Coverage.Missing[0], "2 of 2 logs were not read") {
		t.Errorf("missing %q, want that 2 of 2 logs were not read", r.Coverage.Missing)
	}
}

func TestALogThatCannotBeOpenedIsMissingNotFatal(t *testing.T) {
	story := diagnose.Case{Now: noon, State: kinds.State{Phase: kinds.Failed}, Logs: []diagnose.Log{{
		Source: evidence.Source{Pod: "a", Container: "c", Rank: -1},
		Open:   func() (io.ReadCloser, error) { return nil, errors.New("gone") },
	}}}
	r := diagnose.Diagnose(t.Context(), story, catalog(t), diagnose.Options{})
	if r.Verdict != diagnose.Inconclusive || len(r.Coverage.Missing) != 1 {
		t.Errorf("verdict %s, missing %q; want inconclusive and the log of a/c", r.Verdict, r.Coverage.Missing)
	}
}

func TestTheFingerprintForgetsAttemptsAndTimes(t *testing.T) {
	base := stories["killed-without-a-report-of-memory"]
	later := base
	later.Now = noon.AddDate(0, 0, 1)
	later.Pods = []corev1.Pod{ended("train-master-0", "gpu-1", 137, "Error", noon.AddDate(0, 0, 1)), running("train-worker-0", "gpu-2")}
	other := base
	other.Pods = []corev1.Pod{ended("train-master-0", "gpu-9", 137, "Error", noon), running("train-worker-0", "gpu-2")}
	print := func(c diagnose.Case) string {
		return diagnose.Fingerprint(diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}))
	}
	if print(base) != print(later) {
		t.Error("the same failure a day later has another fingerprint")
	}
	if print(base) == print(other) {
		t.Error("a failure on another node has the same fingerprint")
	}
}

func TestSecretsLeaveNoTraceInAResult(t *testing.T) {
	story := diagnose.Case{Now: noon}
	story.AddLog("train.log", []byte("token=abcdefghijklmnopqrstuvwxyz0123\nRuntimeError: cannot open https://bob:hunter2hunter2@host/x: No such file or directory\n"))
	r := diagnose.Diagnose(t.Context(), story, catalog(t), diagnose.Options{})
	data, err := diagnose.JSON(r)
	if err != nil {
		t.Fatal(err)
	}
	all := string(data) + diagnose.Text(r)
	for _, e := range r.Excerpts {
		for _, l := range e.Lines {
			all += l.Text
		}
	}
	for _, secret := range []string{"hunter2", "abcdefghijkl"} {
		if strings.Contains(all, secret) {
			t.Errorf("the result shows %q", secret)
		}
	}
}

func FuzzDiagnose(f *testing.F) {
	c := catalog(f)
	for _, k := range known[:20] {
		f.Add(k.log, "")
	}
	for _, k := range pasted {
		f.Add("", k.text)
	}
	f.Fuzz(func(t *testing.T, log, text string) {
		story := diagnose.Case{Now: noon}
		story.AddLog("train.log", []byte(log))
		bare.Add(&story, "events.txt", []byte(text))
		r := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{})
		if _, err := diagnose.JSON(r); err != nil {
			t.Fatal(err)
		}
		if diagnose.Text(r) == "" {
			t.Fatal("no text")
		}
		checkCites(t, r)
	})
}

// A scheduler's message that is wrapped again and again is taken back and judged anew each
// time; what was remembered of it must not outlive it.
func TestWrappedMessagesTakenBackManyTimes(t *testing.T) {
	var b strings.Builder
	for range 40 {
		b.WriteString("0/5 nodes are available: 1 node(s) were unschedulable,\n4 Insufficient nvidia.com/gpu.\nretrying in 5 s\nstep 1 loss: 2.0\nstep 2 loss: 1.9\n")
	}
	c := diagnose.Case{Now: noon}
	c.AddLog("train.log", []byte(b.String()))
	if r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}); r.Verdict == diagnose.Unknown {
		t.Errorf("verdict %s; want one", r.Verdict)
	}
}

// A node that came back did not bring the pods along that it had: only where none was lost is its
// trouble over.
func TestANodeThatCameBack(t *testing.T) {
	const back = `  Normal   NodeNotReady  12m  kubelet  Node gpu-02 status is now: NodeNotReady
  Warning  Rebooted      11m  kubelet  Node gpu-02 has been rebooted, boot id: 1c
`
	cases := map[string]struct {
		text string
		want diagnose.Verdict
	}{
		"and nothing was lost":     {back + "  Normal   NodeReady     10m  kubelet  Node gpu-02 status is now: NodeReady\n", diagnose.Unknown},
		"and a pod was lost":       {"Name: train-0\nStatus: Failed\n" + back + "  Normal   NodeReady     10m  kubelet  Node gpu-02 status is now: NodeReady\n", diagnose.Diagnosed},
		"it has not come back yet": {back, diagnose.Diagnosed},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := diagnose.Case{Now: noon}
			bare.Add(&c, "describe.txt", []byte(tc.text))
			if r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}); r.Verdict != tc.want {
				t.Errorf("verdict %s (%s); want %s", r.Verdict, r.Category, tc.want)
			}
		})
	}
}

// A claim that found its volume late held up no pod that has a node.
func TestAClaimThatWasBoundHoldsUpNobody(t *testing.T) {
	const unbound = "Events:\n  Type    Reason         Age   From                         Message\n  ----    ------         ----  ----                         -------\n" +
		"  Normal  FailedBinding  9m    persistentvolume-controller  no persistent volumes available for this claim and no storage class is set\n"
	for name, tc := range map[string]struct {
		text string
		want diagnose.Verdict
	}{
		"a claim that waits":       {"Name: data\nStatus: Pending\n" + unbound, diagnose.Diagnosed},
		"a pod runs":               {"Name: train-0\nStatus: Running\n" + unbound, diagnose.Healthy},
		"the claim was filled too": {"Name: data\nStatus: Pending\n" + unbound + "  Normal  ProvisioningSucceeded  8m  csi  Successfully provisioned volume pvc-1\n", diagnose.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			c := diagnose.Case{Now: noon}
			bare.Add(&c, "describe.txt", []byte(tc.text))
			if r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}); r.Verdict != tc.want {
				t.Errorf("verdict %s (%s); want %s", r.Verdict, r.Category, tc.want)
			}
		})
	}
}
