package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestWhatAJobWaitsFor(t *testing.T) {
	pods := []string{"w-0", "w-1", "w-2"}
	each := func(values ...float64) map[string]float64 {
		out := map[string]float64{}
		for i, v := range values {
			if v >= 0 {
				out[pods[i]] = v
			}
		}
		return out
	}
	const gib = 1 << 30
	cases := map[string]struct {
		use  Usage
		want []string
	}{
		"nothing is known": {},
		"all is well":      {Usage{GPU: each(95, 96, 97), OfLimit: each(50, 60, 89.9), Throttled: each(0, 3, 24.9)}, nil},
		"one idle worker behind a good mean": {Usage{GPU: each(96, 0, 93)}, []string{
			"The GPUs of w-1 were at most 0 % busy over the last 15m0s, those of the 2 other pods 94.5 %; the mean of all, 63 %, does not show it.",
		}},
		"between idle and busy": {Usage{GPU: each(96, 0, 9.9)}, nil},
		"an idle worker that is polled now and then": {Usage{GPU: each(96, 3, 93)}, []string{
			"The GPUs of w-1 were at most 3 % busy over the last 15m0s, those of the 2 other pods 94.5 %; the mean of all, 64 %, does not show it.",
		}},
		"of one pod nothing is known":    {Usage{GPU: each(96, 0, -1)}, nil},
		"memory, though the GPUs are":    {Usage{GPU: each(96, 95, 97), OfLimit: each(50, 90, 60), Memory: each(32*gib, 57.6*gib, 38*gib)}, []string{"The memory of w-1 reached 90 % of its limit (57.6 GiB): beyond it the kernel ends the container."}},
		"a CPU limit":                    {Usage{GPU: each(30, 31, 29), CPU: each(1, 2, 1), Throttled: each(0, 25, 1)}, []string{"Its CPU limit held w-1 back in 25 % of the periods (2 cores in use); its GPUs were 31 % busy at most."}},
		"a CPU limit beside busy GPUs":   {Usage{GPU: each(30, 90, 29), Throttled: each(0, 80, 1)}, nil},
		"a CPU limit, and no GPU metric": {Usage{Throttled: each(0, 25, 1)}, []string{"Its CPU limit held w-1 back in 25 % of the periods."}},
		"a disk": {
			Usage{GPU: each(30, 31, 29), NodeDisk: map[string]float64{"n-1": 99, "other": 100}},
			[]string{"A disk of node n-1 had work 99 % of the time, with that of other pods; its GPUs were 31 % busy at most."},
		},
		"a network": {Usage{NodeNetwork: map[string]float64{"n-2": 90}}, []string{"The network of node n-2 carried 90 % of its speed, with that of other pods."}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, b := range tc.use.bottlenecks(UsageOf{"ml", pods, []string{"n-1", "n-2"}, 15 * time.Minute}, Running{IdleBelow: 1, IdleBeside: 10, FullAbove: 90}) {
				got = append(got, b.text)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("bottlenecks (-want +got):\n%s", diff)
			}
		})
	}
}

// How much less one pod's GPUs do than the others' before it idles is a setting.
func TestAPodIdlesBesideTheOthers(t *testing.T) {
	use := func(a, b, c float64) Usage { return Usage{GPU: map[string]float64{"w-0": a, "w-1": b, "w-2": c}} }
	for name, tc := range map[string]struct {
		use    Usage
		beside float64
		want   string
	}{
		"a tenth of the others":                  {use(96, 9, 90), 10, "w-1"},
		"a little more than a tenth":             {use(96, 9.1, 90), 10, ""},
		"a third, where a half is asked for":     {use(96, 30, 90), 50, "w-1"},
		"a half, where a half is asked for":      {use(90, 45, 90), 50, "w-1"},
		"more than a half of the least":          {use(96, 46, 90), 50, ""},
		"none, where nothing less is idle":       {use(96, 0, 90), 0, "w-1"},
		"three percent, where it has to be none": {use(96, 3, 90), 0, ""},
		"the others do next to nothing":          {use(9, 0, 9), 50, ""},
	} {
		t.Run(name, func(t *testing.T) {
			idle, _ := tc.use.idleAmongOthers([]string{"w-0", "w-1", "w-2"}, 1, tc.beside)
			if got := strings.Join(idle, " "); got != tc.want {
				t.Errorf("%q idle, want %q", got, tc.want)
			}
		})
	}
}

func TestOnlySoManyPodsAreNamed(t *testing.T) {
	var names []string
	for i := range mostNamed + 1 {
		names = append(names, fmt.Sprint("w-", i))
	}
	if got := named(names); got != "w-0, w-1, w-2, w-3 and 1 more" {
		t.Error(got)
	}
	if got := named(names[:mostNamed]); got != "w-0, w-1, w-2, w-3" {
		t.Error(got)
	}
}

// What a job uses stands in its analysis; what holds it up is an Event, too, once for what it is and not
// for each number.
func TestASlowJobSaysWhatItWaitsFor(t *testing.T) {
	logs := map[string]string{}
	w := watchedWorld(t, logs)
	throttled := 40.0
	w.Running.FullAbove = 90
	w.Running.Use = func(context.Context, UsageOf) (Usage, error) {
		return Usage{
			GPU: map[string]float64{"train-master-0": 30, "train-worker-0": 41}, CPU: map[string]float64{"train-master-0": 3, "train-worker-0": 0.5},
			Memory: map[string]float64{"train-master-0": 1 << 30, "train-worker-0": 1 << 30}, Network: map[string]float64{"train-master-0": 1 << 20},
			Throttled: map[string]float64{"train-master-0": throttled},
		}, nil
	}
	for range 4 {
		for _, role := range []string{"master", "worker"} {
			logs["train-"+role+"-0"] = counting(w.now)
		}
		w.reconcile()
		w.pass(5 * time.Minute)
		throttled++
	}
	got := w.job.GetAnnotations()
	for _, want := range []string{
		"Its CPU limit held train-master-0 back in 40 % of the periods (3 cores in use); its GPUs were 41 % busy at most.",
		"In use by a pod, on average over 15m0s: GPU 30 % (train-master-0) to 41 % (train-worker-0), CPU 0.5 cores (train-worker-0) to 3 cores (train-master-0), memory 1 GiB, network about 1 MiB/s.",
	} {
		if !strings.Contains(got[Analysis], want) {
			t.Errorf("the analysis lacks %q: %s", want, got[Analysis])
		}
	}
	if got[Healthy] != "Yes" || len(w.patches) != 1 {
		t.Errorf("healthy: %s, %d writes; want Yes, and one", got[Healthy], len(w.patches))
	}
	if diff := cmp.Diff([]string{"Warning BottleneckSeen"}, w.events()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	throttled = 0
	for range 2 {
		for name := range logs {
			logs[name] = counting(w.now)
		}
		w.reconcile()
		w.pass(5 * time.Minute)
	}
	if got := w.job.GetAnnotations()[Analysis]; strings.Contains(got, "held") || !strings.Contains(got, "In use by a pod") {
		t.Errorf("when nothing holds it up any more the job says %s", got)
	}
}
