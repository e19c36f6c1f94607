package diagnose_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Where no end can be the cause, how the pods ended is told, and whose log to read.
func TestPodsThatWereOnlyToldToStop(t *testing.T) {
	again := ended("train-worker-1", "gpu-1", 143, "Error", noon.Add(-time.Minute))
	again.Status.ContainerStatuses[0].RestartCount = 2
	cases := map[string]struct {
		pods           []corev1.Pod
		analysis, step string
	}{
		"one": {
			[]corev1.Pod{ended("train-worker-0", "gpu-1", 143, "Error", noon)},
			"Somebody asked the process to stop. [pod/train-worker-0/pytorch/exit] Not shown: who: the operator after another pod failed, a drain, a preemption, a deadline or a user. No log was read; the log of the container that ended first would decide.",
			"Read the log of the pod that ended first: kubectl logs train-worker-0 -n ml -c pytorch.",
		},
		"several, and one that had been restarted first": {
			[]corev1.Pod{ended("train-worker-0", "gpu-1", 143, "Error", noon), again, ended("train-worker-2", "gpu-1", 143, "Error", time.Time{})},
			"Somebody asked the process to stop. [pod/train-worker-1/pytorch/exit] 2 others say the same. All of them ran on node gpu-1. Not shown: who: the operator after another pod failed, a drain, a preemption, a deadline or a user. No log was read; the log of the container that ended first would decide.",
			"Read the log of the pod that ended first: kubectl logs train-worker-1 -n ml -c pytorch --previous.",
		},
		"nobody": {
			nil,
			"What was seen names no cause. No log was read; the log of the container that ended first would decide.",
			"No pod of the job is left to read: look for its logs where the cluster keeps them, or run it again with its pods kept after the end.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := diagnose.Case{Job: train(2), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon, Pods: tc.pods}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			if r.Analysis != tc.analysis || len(r.Solution) == 0 || r.Solution[0] != tc.step {
				t.Errorf("got  %q %q\nwant %q %q", r.Analysis, r.Solution, tc.analysis, tc.step)
			}
		})
	}
}

// A log that is empty holds no failure, and says nothing about health either.
func TestAnEmptyLogIsNotALogThatWasRead(t *testing.T) {
	c := diagnose.Case{Job: train(0), Kind: replicas, State: kinds.State{Phase: kinds.Running}, Now: noon, Pods: []corev1.Pod{running("train-master-0", "gpu-1")}}
	c.Job.Roles = c.Job.Roles[:1]
	c.Logs = []diagnose.Log{{Source: evidence.Source{Pod: "train-master-0", Container: "pytorch", Rank: -1}, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }}}
	r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
	if want := "1 of 1 pod runs or has ended well; there is nothing in the logs."; r.Analysis != want {
		t.Errorf("it says %q, want %q", r.Analysis, want)
	}
}

func TestAGangWithoutAWordForHalfAnHourIsNotKnownToBeWell(t *testing.T) {
	empty := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("")), nil }
	for name, tc := range map[string]struct {
		pods  int
		since time.Duration
		says  string // by the last pod
		want  diagnose.Verdict
	}{
		"two pods for half an hour":     {2, 30 * time.Minute, "", diagnose.Unknown},
		"two pods for a minute less":    {2, 29 * time.Minute, "", diagnose.Healthy},
		"one of them has said a word":   {2, 30 * time.Minute, "waiting for data\n", diagnose.Healthy},
		"one pod, which may say little": {1, 30 * time.Minute, "", diagnose.Healthy},
	} {
		t.Run(name, func(t *testing.T) {
			c := diagnose.Case{Job: train(tc.pods - 1), Kind: replicas, State: kinds.State{Phase: kinds.Running}, Now: noon}
			if tc.pods == 1 {
				c.Job.Roles = c.Job.Roles[:1]
			}
			for i := range tc.pods {
				pod := running([]string{"train-master-0", "train-worker-0"}[i], "gpu-1")
				pod.Status.StartTime = &metav1.Time{Time: noon.Add(-tc.since)}
				c.Pods = append(c.Pods, pod)
				open := empty
				if i == tc.pods-1 {
					open = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(tc.says)), nil }
				}
				c.Logs = append(c.Logs, diagnose.Log{Source: evidence.Source{Pod: pod.Name, Container: "pytorch", Rank: -1}, Open: open})
			}
			if got := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{}); got.Verdict != tc.want {
				t.Errorf("it is %s (%s); want %s", got.Verdict, got.Analysis, tc.want)
			}
		})
	}
}

func TestLogsOfPodsThatAreGoneAreSaidToBe(t *testing.T) {
	r := diagnose.Result{Verdict: diagnose.Unknown, Coverage: diagnose.Coverage{PodsExpected: 1, PodsSeen: 1, PodsRead: 3, BytesRead: 1881}}
	if text, want := diagnose.Text(r), "1 of 1 pod seen, 3 read · 1881 bytes of logs, those kept of pods that are gone included\n"; !strings.HasSuffix(text, want) {
		t.Errorf("%q does not end with %q", text, want)
	}
}

// Two exceptions that no signature knows are copies of one only if they are of one type.
func TestExceptionsOfTwoTypesAreNotOne(t *testing.T) {
	at := func(seconds int) string {
		return noon.Add(-time.Minute + time.Duration(seconds)*time.Second).Format(time.RFC3339Nano)
	}
	raised := func(seconds int, exception string) string {
		return at(seconds) + " Traceback (most recent call last):\n" + at(seconds) + "   File \"train.py\", line 3, in main\n" + at(seconds) + " " + exception
	}
	cases := map[string]struct {
		lines    []string // one log each
		standing diagnose.Standing
		want     string // how it begins
	}{
		"the same on both": {
			[]string{raised(0, "KeyError: 'a'"), raised(1, "KeyError: 'b'")},
			diagnose.Supported,
			"The program raised KeyError and did not handle it. [pod/train-worker-0/pytorch#3] One other says the same.",
		},
		"two types within what clocks differ by": {
			[]string{raised(0, "KeyError: 'a'"), raised(1, "IndexError: b")},
			diagnose.Hypothesis,
			"The program raised KeyError and did not handle it. [pod/train-worker-0/pytorch#3] train-worker-1 came 1.0 s later, give or take 3.0 s: times do not show which was first. As likely: an exception of the program [pod/train-worker-1/pytorch#3]; nothing sets the two apart.",
		},
		"two types, one long before the other": {
			[]string{raised(0, "KeyError: 'a'"), raised(30, "IndexError: b")},
			diagnose.Supported,
			"The program raised KeyError and did not handle it. [pod/train-worker-0/pytorch#3] It was first, at least 27 s before train-worker-1.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := diagnose.Case{Job: train(2), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon}
			for i, line := range tc.lines {
				pod := fmt.Sprintf("train-worker-%d", i)
				c.Pods = append(c.Pods, ended(pod, fmt.Sprintf("gpu-%d", i), 1, "Error", noon))
				c.Logs = append(c.Logs, diagnose.Log{Source: evidence.Source{Pod: pod, Container: "pytorch", Rank: -1}, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(line + "\n")), nil }})
			}
			r := diagnose.Diagnose(t.Context(), c, catalog(t), diagnose.Options{})
			if r.Root == nil || r.Root.Standing != tc.standing || !strings.HasPrefix(r.Analysis, tc.want) {
				t.Errorf("root %+v\nsays %q\nwant %s, %q", r.Root, r.Analysis, tc.standing, tc.want)
			}
		})
	}
}
