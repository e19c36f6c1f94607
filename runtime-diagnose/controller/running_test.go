package controller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
)

// watched is a world whose job runs, and whose logs are what the test says.
func watchedWorld(t *testing.T, logs map[string]string) *world {
	t.Helper()
	w := newWorld(t)
	w.condition("Running", "PyTorchJobRunning")
	for _, role := range []string{"master", "worker"} {
		w.pod(role, func(p *corev1.Pod) {
			started := metav1.NewTime(start.Add(-time.Hour))
			p.Status.StartTime = &started
		})
	}
	w.Running = Running{Every: 5 * time.Minute, IdleFor: 15 * time.Minute, IdleBelow: 1}
	w.Tails = func(_ context.Context, lives []collect.Life, _ map[string]time.Time) [][]byte {
		out := make([][]byte, len(lives))
		for i, l := range lives {
			out[i] = []byte(logs[l.Pod.Name])
		}
		return out
	}
	return w
}

// counting is a log with one step each second until a time.
func counting(until time.Time) string {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "%s step: %d loss: 2.1\n", until.Add(time.Duration(i-59)*time.Second).Format(time.RFC3339Nano), 1000+i)
	}
	return b.String()
}

// A job that hangs is called unhealthy, and healthy again when it goes on.
func TestAHangIsSeenAndTakenBack(t *testing.T) {
	logs := map[string]string{"train-master-0": counting(start), "train-worker-0": counting(start)}
	w := watchedWorld(t, logs)
	if again := w.reconcile(); again != 5*time.Minute || len(w.patches) != 1 || w.job.GetAnnotations()[Healthy] != "Yes" {
		t.Fatalf("a job that advances: %d writes, next look after %s", len(w.patches), again)
	}
	w.pass(5 * time.Minute)
	w.reconcile()
	if len(w.patches) != 1 {
		t.Fatalf("five minutes of silence: %v", w.patches)
	}
	w.pass(6 * time.Minute)
	w.reconcile()
	got := w.job.GetAnnotations()
	s, _ := readStored(got)
	if got[Healthy] != "No" || s.Category != "hang-no-progress" || !strings.Contains(got[Diagnosis], "no step for 11m on any of 2 ranks") {
		t.Errorf("eleven minutes of silence: %v", got)
	}
	w.pass(5 * time.Minute)
	w.reconcile()
	w.pass(5 * time.Minute)
	w.reconcile()
	if len(w.events()) != 1 || len(w.patches) != 2 {
		t.Errorf("events are %v, %d writes; want one Event, and a write for well and one for hanging", w.events(), len(w.patches))
	}
	for name := range logs {
		logs[name] = counting(w.now)
	}
	for range 3 {
		w.pass(6 * time.Minute)
		for name := range logs {
			logs[name] = counting(w.now)
		}
		w.reconcile()
	}
	if got := w.job.GetAnnotations(); got[Healthy] != "Yes" || got[Error] != "" {
		t.Errorf("when it goes on, the job says %v", got)
	}
}

func TestAJobIsLookedAtOnlySoOften(t *testing.T) {
	w := watchedWorld(t, nil)
	looks := 0
	w.Tails = func(_ context.Context, lives []collect.Life, _ map[string]time.Time) [][]byte {
		looks++
		return make([][]byte, len(lives))
	}
	for range 10 {
		w.reconcile()
		w.pass(time.Minute)
	}
	if looks != 2 {
		t.Errorf("%d looks in ten minutes, want 2", looks)
	}
	w.Running.Every = 0
	if again := w.reconcile(); looks != 2 || again != 0 {
		t.Errorf("turned off: %d looks, next after %s", looks, again)
	}
}

func TestIdleGPUs(t *testing.T) {
	gpus := func(master, worker float64) Usage {
		return Usage{GPU: map[string]float64{"train-master-0": master, "train-worker-0": worker}}
	}
	cases := map[string]struct {
		use  Usage
		err  error
		want string // category
	}{
		"all idle":                     {use: gpus(0, 0.2), want: "hang-no-progress"},
		"one at work":                  {use: gpus(0, 87)},
		"as busy as idle ends":         {use: gpus(0, 1)},
		"of one pod nothing is known":  {use: Usage{GPU: map[string]float64{"train-master-0": 0}}},
		"Prometheus does not answer":   {err: errors.New("connection refused")},
		"a cluster without the metric": {},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := watchedWorld(t, nil)
			w.Running.Use = func(_ context.Context, a UsageOf) (Usage, error) {
				want := UsageOf{"ml", []string{"train-master-0", "train-worker-0"}, []string{"gpu-1"}, 15 * time.Minute}
				if diff := cmp.Diff(want, a); diff != "" {
					t.Errorf("asked (-want +got):\n%s", diff)
				}
				return tc.use, tc.err
			}
			w.reconcile()
			s, _ := readStored(w.job.GetAnnotations())
			if tc.want == "" {
				tc.want = "healthy"
			}
			if s.Category != tc.want {
				t.Errorf("category is %q, want %q: %v", s.Category, tc.want, w.job.GetAnnotations())
			}
		})
	}
}

func TestWhatPrometheusIsAsked(t *testing.T) {
	c := config.Default().Diagnosis.Running.Prometheus
	got := fillQuery(`x{ns="$namespace",pod=~"$pods"}[$over] + y{n=~"$nodes"}`, UsageOf{"ml", []string{"train-worker-0", "a.b"}, []string{"gpu-1"}, 15 * time.Minute})
	if diff := cmp.Diff(`x{ns="ml",pod=~"train-worker-0|a\\.b"}[15m] + y{n=~"gpu-1"}`, got); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	for _, p := range []string{"$namespace", "$pods", "$over", "DCGM_FI_DEV_GPU_UTIL"} {
		if !strings.Contains(c.Query, p) {
			t.Errorf("the default query lacks %s: %s", p, c.Query)
		}
	}
	if _, err := perName(&model.Scalar{}); err == nil || !strings.Contains(err.Error(), "expected a vector") {
		t.Errorf("a scalar: %v", err)
	}
	if _, err := perName(model.Vector{{Metric: model.Metric{"gpu": "0"}}}); err == nil {
		t.Error("a value of no pod is taken")
	}
	if got, err := perName(model.Vector{{Metric: model.Metric{"pod": "a"}, Value: model.SampleValue(math.NaN())}}); err != nil || len(got) != 0 {
		t.Errorf("what is no number is %v, %v; want unknown", got, err)
	}
}

func TestTheTokenGoesAlong(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var got string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Authorization")
		fmt.Fprint(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"exported_pod":"a","pod":"exporter"},"value":[1,"3"]}]}}`)
	}))
	defer server.Close()
	use, err := usage(config.Prometheus{URL: server.URL, TokenFile: token, Query: "x"})
	if err != nil {
		t.Fatal(err)
	}
	of := UsageOf{"ml", []string{"a"}, nil, time.Minute}
	u, err := use(t.Context(), of)
	if diff := cmp.Diff(Usage{GPU: map[string]float64{"a": 3}}, u); diff != "" || err != nil || got != "Bearer abc" {
		t.Errorf("use (-want +got):\n%s\nerror %v, header %q", diff, err, got)
	}
	got = ""
	of.Pods = make([]string, mostAskedPods+1)
	if _, err := use(t.Context(), of); err == nil || got != "" {
		t.Errorf("%d pods: error %v, asked %q", len(of.Pods), err, got)
	}
	of.Pods = of.Pods[:mostAskedPods]
	if _, err := use(t.Context(), of); err != nil || got == "" {
		t.Errorf("%d pods: error %v, asked %q", len(of.Pods), err, got)
	}
}
