package collect

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// kubelet answers the log endpoint as the API server does: the last lines first, then so many
// bytes from there.
func kubelet(t *testing.T, logs map[string]string) kubernetes.Interface {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		name := strings.Split(r.URL.Path, "/")[6] + "/" + q.Get("container")
		if q.Get("previous") == "true" {
			name += "/previous"
		}
		text, ok := logs[name]
		if !ok || q.Get("follow") == "true" || q.Get("timestamps") != "true" {
			http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,"message":"container is gone"}`, http.StatusNotFound)
			return
		}
		if n, err := strconv.Atoi(q.Get("tailLines")); err == nil {
			lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
			text = strings.Join(lines[max(0, len(lines)-n):], "") + "\n"
		}
		if n, err := strconv.Atoi(q.Get("limitBytes")); err == nil {
			text = text[:min(n, len(text))]
		}
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// numbered are lines with a time of their own, as the kubelet stamps them.
func numbered(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "2026-11-20T08:00:00.%09dZ line %d\n", i, i)
	}
	return b.String()
}

func TestReadLog(t *testing.T) {
	long := "2026-11-20T08:00:00.000000001Z " + strings.Repeat("x", 20_000) + "\n"
	lines := func(s string) int { return strings.Count(s, "\n") }
	cases := map[string]struct {
		log   string
		check func(t *testing.T, got string)
	}{
		"a short log is read whole": {numbered(1, 5), func(t *testing.T, got string) {
			if diff := cmp.Diff(numbered(1, 5), got); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		}},
		"head and tail that overlap meet without a seam": {numbered(1, 60), func(t *testing.T, got string) {
			if diff := cmp.Diff(numbered(1, 60), got); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		}},
		"between head and tail a line says what is missing": {numbered(1, 9000), func(t *testing.T, got string) {
			if !strings.HasPrefix(got, numbered(1, 20)) || !strings.HasSuffix(got, numbered(8990, 9000)) || strings.Count(got, gap) != 1 {
				t.Errorf("log has %d lines, %d gaps, ends %q", lines(got), strings.Count(got, gap), got[len(got)-60:])
			}
			if len(got) > 2*2048+len(gap) {
				t.Errorf("log has %d bytes, want at most twice 2048 and the gap", len(got))
			}
		}},
		"a tail of long lines keeps its end": {strings.Repeat(long, 30) + numbered(1, 3), func(t *testing.T, got string) {
			if !strings.HasSuffix(got, numbered(1, 3)) {
				t.Errorf("log ends %q", got[max(0, len(got)-80):])
			}
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := kubelet(t, map[string]string{"p/c": tc.log})
			got, err := ReadLog(t.Context(), kube, LogRef{Namespace: "ml", Pod: "p", Container: "c"}, Limits{HeadBytes: 2048, TailBytes: 2048})
			if err != nil {
				t.Fatal(err)
			}
			tc.check(t, string(got))
		})
	}
}

func TestWhichLogsAreRead(t *testing.T) {
	ended := func(code int32, minute int) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(now.Add(time.Duration(minute) * time.Minute))}
	}
	status := func(state, last corev1.ContainerState) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "c", State: state, LastTerminationState: last}}}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	labels := map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller", "training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "3"}
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	mine := by("kubeflow.org/v1", "PyTorchJob", "train", "now")
	pods := map[string]corev1.PodStatus{
		"a-well":      status(running, corev1.ContainerState{}),
		"b-waits":     status(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}, corev1.ContainerState{}),
		"c-restarted": status(running, corev1.ContainerState{Terminated: ended(1, -9)}),
		"d-second":    status(corev1.ContainerState{Terminated: ended(1, -4)}, corev1.ContainerState{}),
		"e-first":     status(corev1.ContainerState{Terminated: ended(137, -5)}, corev1.ContainerState{}),
		"f-loops":     status(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}, corev1.ContainerState{Terminated: ended(2, -3)}),
	}
	logs := map[string]string{"e-first/c": "x\n", "d-second/c": "x\n", "c-restarted/c": "x\n", "c-restarted/c/previous": "x\n", "f-loops/c/previous": "x\n"}
	c := serving(job)
	for name, s := range pods {
		p := pod(name, mine, labels)
		p.Status = s
		if _, err := c.Kube.CoreV1().Pods("ml").Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.Kube = logsFrom{c.Kube, kubelet(t, logs)}
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, log := range got.Logs {
		order = append(order, fmt.Sprintf("%s %d", log.Source.Pod, log.Source.Attempt))
	}
	want := []string{"e-first 0", "d-second 0", "c-restarted 1", "c-restarted 0", "f-loops 1"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("logs in order (-want +got):\n%s", diff)
	}
	source := evidence.Source{Pod: "e-first", Container: "c", Role: "Worker", Rank: 3}
	if diff := cmp.Diff(source, got.Logs[0].Source); diff != "" {
		t.Errorf("source (-want +got):\n%s", diff)
	}
	missing := strings.Join(got.Missing, "\n")
	if !strings.Contains(missing, "log of a-well/c: ") {
		t.Errorf("missing is %s; want the log of a-well", missing)
	}
}

// Of a thousand pods the end of every log is read, and all of those whose end names a failure.
func TestAllEndsAndTheSuspectsWholeAreRead(t *testing.T) {
	job := object("kubeflow.org/v1", "PyTorchJob", "train", "now", nil, nil)
	labels := map[string]string{"training.kubeflow.org/job-name": "train", "training.kubeflow.org/operator-name": "pytorchjob-controller"}
	c := serving(job)
	logs := map[string]string{}
	const pods = 1000
	for i := range pods {
		p := pod(fmt.Sprintf("p%03d", i), by("kubeflow.org/v1", "PyTorchJob", "train", "now"), labels)
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
		if err := c.Kube.(*kubefake.Clientset).Tracker().Add(p); err != nil {
			t.Fatal(err)
		}
		logs[p.Name+"/c"] = numbered(1, 300)
	}
	logs["p777/c"] = numbered(1, 300) + "2026-11-20T08:00:00.9Z RuntimeError: odd one out\n"
	c.Kube = logsFrom{c.Kube, kubelet(t, logs)}
	c.Limits = Limits{Pods: 5, HeadBytes: 10_000, TailBytes: 10_000, TotalBytes: 200_000}
	c.Suspect = func(tail []byte) bool { return strings.Contains(string(tail), "odd one out") }
	got, err := c.Case(t.Context(), kind(t, "PyTorchJob"), job)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]int{}
	for _, log := range got.Logs {
		in, err := log.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(in)
		lines[log.Source.Pod] = strings.Count(string(text), "\n")
	}
	if len(lines) != pods || lines["p000"] != 300 || lines["p004"] != 300 || lines["p005"] != endLines || lines["p777"] != 301 {
		t.Errorf("%d logs; p000 has %d lines, p005 %d, p777 %d; want %d logs of 300, %d, 301", len(lines), lines["p000"], lines["p005"], lines["p777"], pods, endLines)
	}
	want := fmt.Sprintf("logs: of 994 of 1000 only the last %d lines were read", endLines)
	if missing := strings.Join(got.Missing, "\n"); !strings.Contains(missing, want) {
		t.Errorf("missing is %s; want %s", missing, want)
	}
}
