package collect

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	kubefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// worker is a pod of rank 0 that ended with a code, or runs.
func worker(uid types.UID, code int32, hour int) *corev1.Pod {
	p := pod("train-worker-0", by("kubeflow.org/v1", "PyTorchJob", "train", "now"), map[string]string{
		"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller",
		"training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "0",
	})
	p.UID = uid
	p.Status.Phase = corev1.PodRunning
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	if code != 0 {
		p.Status.Phase = corev1.PodFailed
		state = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(now.Add(time.Duration(hour) * time.Hour))}}
	}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "pytorch", Ready: code == 0, State: state}}
	return p
}

// keptOf is what was kept of pods that ended.
func keptOf(t *testing.T, pods ...*corev1.Pod) *keep.Set {
	t.Helper()
	s := keep.NewSet()
	for _, p := range pods {
		s.AddPod(p)
		e, err := keep.Take(strings.NewReader("hello of "+string(p.UID)+"\n"), nil, keep.Budget)
		if err != nil {
			t.Fatal(err)
		}
		c := p.Status.ContainerStatuses[0]
		r := keep.Record{Key: keep.Key{Pod: p.UID, Container: c.Name, Restart: c.RestartCount}, Source: SourceOf(kind(t, "PyTorchJob").Place, p, c.Name)}
		if c.State.Terminated != nil {
			r.Ended, r.Code = c.State.Terminated.FinishedAt.Time, c.State.Terminated.ExitCode
		}
		s.Add(r, e)
	}
	return s
}

// beside is the ConfigMap that holds a set.
func beside(s *keep.Set) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: keep.Name("now")},
		BinaryData: map[string][]byte{keep.DataKey: s.Encode(512 << 10)},
	}
}

func trainJob(phase string) *unstructured.Unstructured {
	u := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	u.Object["spec"] = map[string]any{"pytorchReplicaSpecs": map[string]any{"Worker": map[string]any{"replicas": int64(1), "template": map[string]any{
		"spec": map[string]any{"containers": []any{map[string]any{"name": "pytorch", "image": "train:1"}}},
	}}}}
	u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": phase, "status": "True"}}}
	return u
}

func TestWhatWasKeptTakesTheirPlace(t *testing.T) {
	cases := map[string]struct {
		phase string
		now   []runtime.Object // pods of the API server
		kept  []*corev1.Pod
		pods  []string
		logs  []string // pod UID, attempt, past
	}{
		"of a failed job whose pods are gone": {
			"Failed", nil,
			[]*corev1.Pod{worker("a", 1, -2), worker("b", 1, -1)},
			[]string{"b"},
			[]string{"b attempt 0 past false", "a attempt 1 past false"},
		},
		"of a running job they are history": {
			"Running",
			[]runtime.Object{worker("c", 0, 0)},
			[]*corev1.Pod{worker("a", 1, -2)},
			[]string{"c"},
			[]string{"a attempt 1 past true"},
		},
		"of a job that goes round they are not": {
			"Running",
			[]runtime.Object{worker("d", 0, 0)},
			[]*corev1.Pod{worker("a", 1, -4), worker("b", 1, -3), worker("c", 1, -2)},
			[]string{"d"},
			[]string{"c attempt 1 past true", "b attempt 2 past true", "a attempt 3 past false"},
		},
		"of a job that succeeded they are over": {
			"Succeeded", nil,
			[]*corev1.Pod{worker("a", 1, -2)},
			nil,
			[]string{"a attempt 0 past true"},
		},
		"between two attempts the last one counts": {
			"Restarting", nil,
			[]*corev1.Pod{worker("a", 1, -2)},
			[]string{"a"},
			[]string{"a attempt 0 past false"},
		},
		"of a pod that is still there its own log is read": {
			"Failed",
			[]runtime.Object{worker("a", 1, -1)},
			[]*corev1.Pod{worker("a", 1, -1)},
			[]string{"a"},
			[]string{"api attempt 0 past false"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := serving(append(tc.now, trainJob(tc.phase), beside(keptOf(t, tc.kept...)))...)
			c.Kube = logsFrom{c.Kube, kubelet(t, map[string]string{"train-worker-0/pytorch": "hello of api\n"})}
			got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), trainJob(tc.phase))
			if err != nil {
				t.Fatal(err)
			}
			var pods, logs []string
			for i := range got.Pods {
				pods = append(pods, string(got.Pods[i].UID))
			}
			for _, log := range got.Logs {
				in, _ := log.Open()
				text, _ := io.ReadAll(in)
				who := strings.TrimSpace(strings.TrimPrefix(string(text), "hello of "))
				if who == "api" && tc.phase == "Running" {
					continue // what runs now
				}
				logs = append(logs, fmt.Sprintf("%s attempt %d past %t", who, log.Source.Attempt, log.Past))
			}
			if diff := cmp.Diff(tc.pods, pods); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.logs, logs); diff != "" {
				t.Errorf("logs (-want +got):\n%s", diff)
			}
			if len(got.Missing) > 0 {
				t.Errorf("missing: %v", got.Missing)
			}
		})
	}
}

// A log that the node cannot give any more is read from what was kept when it ended.
func TestAnUnreadableLogIsReadFromWhatWasKept(t *testing.T) {
	p := worker("a", 1, -1)
	c := serving(p, trainJob("Failed"), beside(keptOf(t, p)))
	c.Kube = logsFrom{c.Kube, kubelet(t, nil)}
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), trainJob("Failed"))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Logs) != 1 || got.Logs[0].Source.Attempt != 0 || len(got.Missing) != 0 {
		t.Errorf("%d logs, missing %v; want what was kept", len(got.Logs), got.Missing)
	}
}

func TestKeptEvidenceThatNobodyCanReadIsMissing(t *testing.T) {
	c := serving(trainJob("Failed"), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: keep.Name("now")},
		BinaryData: map[string][]byte{keep.DataKey: []byte("not what it was")},
	})
	got, _ := c.Case(t.Context(), kind(t, "PyTorchJob"), trainJob("Failed"))
	if !slices.ContainsFunc(got.Missing, func(m string) bool {
		return strings.HasPrefix(m, "what was kept of ended containers: its form is not known to this version")
	}) {
		t.Errorf("missing is %v", got.Missing)
	}
	c.Kube.(*kubefake.Clientset).PrependReactor("get", "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "", nil)
	})
	got, _ = c.Case(t.Context(), kind(t, "PyTorchJob"), trainJob("Failed"))
	if !slices.ContainsFunc(got.Missing, func(m string) bool {
		return strings.HasPrefix(m, "what was kept of ended containers: this account may not read this")
	}) {
		t.Errorf("missing is %v", got.Missing)
	}
	c.Kept = func(context.Context, job.Ref, map[types.UID]bool) (*keep.Set, error) { return nil, nil }
	if got, _ = c.Case(t.Context(), kind(t, "PyTorchJob"), trainJob("Failed")); len(got.Missing) > 0 {
		t.Errorf("missing is %v, where nothing is kept", got.Missing)
	}
}

// The stored form is a bundle: copied out of the ConfigMap, it can be opened.
func TestTheStoredFormIsABundle(t *testing.T) {
	file := filepath.Join(t.TempDir(), "evidence.tgz")
	if err := os.WriteFile(file, keptOf(t, worker("a", 1, -2), worker("b", 137, -1)).Encode(512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Pods) != 2 || len(got.Logs) != 2 || got.Logs[0].Source.Attempt != 0 || got.Logs[1].Source.Attempt != 1 {
		t.Errorf("%d pods, logs %+v", len(got.Pods), got.Logs)
	}
}

// A bundle of a job whose logs were kept in part has their numbers.
func TestABundleKeepsTheNumbersOfLines(t *testing.T) {
	text := strings.Repeat("x\n", 40000) + "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    f()\nValueError: no\n"
	p, set := worker("a", 1, -1), keep.NewSet()
	e, err := keep.Take(strings.NewReader(text), nil, keep.Budget)
	if err != nil {
		t.Fatal(err)
	}
	set.AddPod(p)
	set.Add(keep.Record{Key: keep.Key{Pod: "a", Container: "pytorch"}, Source: SourceOf(kind(t, "PyTorchJob").Place, p, "pytorch")}, e)
	c := serving(trainJob("Failed"), beside(set))
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), trainJob("Failed"))
	if err != nil {
		t.Fatal(err)
	}
	var saved bytes.Buffer
	if err := Save(got, &saved); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "b.tgz")
	if err := os.WriteFile(file, saved.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if n := again.Logs[0].Numbers; len(n) == 0 || n[len(n)-1] != 40004 || again.Logs[0].Skipped != got.Logs[0].Skipped || again.Logs[0].Skipped == 0 {
		t.Errorf("numbers %.40v …, skipped %d; want up to 40004 and %d", fmt.Sprint(n), again.Logs[0].Skipped, got.Logs[0].Skipped)
	}
}
