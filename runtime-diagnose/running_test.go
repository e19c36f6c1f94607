package diagnose_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/progress"
)

// runs is a pod that has run since an hour before noon.
func runs(name, node string) corev1.Pod {
	p := running(name, node)
	p.Status.ContainerStatuses[0].State.Running.StartedAt = metav1.NewTime(noon.Add(-time.Hour))
	return p
}

// steps is a log of 60 steps, one every `every`, that ended `ago` before noon.
func steps(pod string, every, ago time.Duration, text func(i int) string) diagnose.Log {
	var lines []string
	for i := range 60 {
		at := noon.Add(-ago - time.Duration(59-i)*every)
		lines = append(lines, at.Format("2006-01-02T15:04:05.000000000Z ")+text(i))
	}
	return logOf(pod, lines...)
}

func falling(i int) string { return fmt.Sprintf("step %d loss: %.3f", i, 11-float64(i)/10) }

func taking(seconds float64) func(int) string {
	return func(i int) string { return fmt.Sprintf("step %d loss: 2.3 step_time: %.2f s", i, seconds) }
}

func names(n int) []string {
	out := []string{"train-master-0"}
	for i := range n - 1 {
		out = append(out, fmt.Sprintf("train-worker-%d", i))
	}
	return out
}

func TestRunningJobs(t *testing.T) {
	cases := map[string]struct {
		log     func(i int, pod string) diagnose.Log
		lacking int // pods without a node
		verdict diagnose.Verdict
		by      string // the root's signature
		pod     string
		remark  string // part of one; empty: none
	}{
		"all advance": {
			log:     func(_ int, pod string) diagnose.Log { return steps(pod, 3*time.Second, time.Second, falling) },
			verdict: diagnose.Healthy,
		},
		"nobody has counted a step for 23 minutes": {
			log:     func(_ int, pod string) diagnose.Log { return steps(pod, 3*time.Second, 23*time.Minute, falling) },
			verdict: diagnose.Diagnosed, by: "no-progress", pod: "train-master-0",
		},
		"steps of a minute: twelve minutes are no hang": {
			log:     func(_ int, pod string) diagnose.Log { return steps(pod, time.Minute, 12*time.Minute, falling) },
			verdict: diagnose.Healthy,
		},
		"nine minutes are too early to say": {
			log:     func(_ int, pod string) diagnose.Log { return steps(pod, time.Second, 9*time.Minute, falling) },
			verdict: diagnose.Healthy,
		},
		"one of four stands": {
			log: func(i int, pod string) diagnose.Log {
				ago := time.Second
				if i == 2 {
					ago = 23 * time.Minute
				}
				return steps(pod, 3*time.Second, ago, falling)
			},
			verdict: diagnose.Diagnosed, by: "one-stopped", pod: "train-worker-1",
		},
		"the run says that it is done": {
			log: func(_ int, pod string) diagnose.Log {
				return steps(pod, 3*time.Second, 23*time.Minute, func(i int) string {
					if i == 59 {
						return "Training completed"
					}
					return falling(i)
				})
			},
			verdict: diagnose.Healthy,
		},
		"the loss falls and goes back to where it began": {
			log: func(_ int, pod string) diagnose.Log {
				return steps(pod, 3*time.Second, time.Second, func(i int) string {
					loss := 11 - float64(i)/3
					if i > 30 {
						loss = float64(i) / 3.5
					}
					return fmt.Sprintf("step %d loss: %.3f", i, loss)
				})
			},
			verdict: diagnose.Diagnosed, by: "loss-diverges", pod: "train-master-0",
		},
		"the loss rises a little at its end": {
			log: func(_ int, pod string) diagnose.Log {
				return steps(pod, 3*time.Second, time.Second, func(i int) string {
					loss := 11 - float64(i)/6
					if i > 50 {
						loss += 3
					}
					return fmt.Sprintf("step %d loss: %.3f", i, loss)
				})
			},
			verdict: diagnose.Healthy,
		},
		"one pod of four is slow": {
			log: func(i int, pod string) diagnose.Log {
				if i == 3 {
					return steps(pod, 3*time.Second, time.Second, taking(2.9))
				}
				return steps(pod, 3*time.Second, time.Second, taking(1.5))
			},
			verdict: diagnose.Healthy, remark: "train-worker-2 (Worker 2, node gpu-3) takes 2.90 s for a step, where half of the 4 pods take 1.50 s or less",
		},
		"two pods have no node for an hour": {
			log:     func(_ int, pod string) diagnose.Log { return logOf(pod, "waiting for the others") },
			lacking: 2, verdict: diagnose.Diagnosed, by: "unschedulable-gpu", pod: "train-worker-3",
			remark: "4 pods hold 32 devices since 11:00 (60 min) and cannot begin: 2 others have no node",
		},
		"the program runs on the CPU": {
			log: func(_ int, pod string) diagnose.Log {
				return steps(pod, 3*time.Second, time.Second, func(i int) string {
					if i == 0 {
						return "GPU available: True (cuda), used: False"
					}
					return falling(i)
				})
			},
			verdict: diagnose.Healthy, remark: "train-master-0 (Master 0, node gpu-0) holds 8 devices, and its program says that it uses none",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			story := diagnose.Case{Job: train(3 + tc.lacking), Kind: replicas, State: kinds.State{Phase: kinds.Running}, Now: noon}
			for i, pod := range names(4) {
				story.Pods = append(story.Pods, runs(pod, fmt.Sprintf("gpu-%d", i)))
				story.Logs = append(story.Logs, tc.log(i, pod))
			}
			for _, pod := range names(4 + tc.lacking)[4:] {
				story.Pods = append(story.Pods, pending(pod, lacksGPUs))
			}
			r := diagnose.Diagnose(t.Context(), story, catalog(t), diagnose.Options{})
			by, pod := "", ""
			if r.Root != nil {
				by, pod = r.Root.Signature, r.Root.Source.Pod
			}
			if r.Verdict != tc.verdict || by != tc.by || pod != tc.pod {
				t.Errorf("got %s by %q at %q; want %s by %q at %q\n%s", r.Verdict, by, pod, tc.verdict, tc.by, tc.pod, diagnose.Text(r))
			}
			found := slices.ContainsFunc(r.Remarks, func(s string) bool { return strings.Contains(s, tc.remark) })
			if tc.remark == "" && len(r.Remarks) > 0 || tc.remark != "" && !found {
				t.Errorf("remarks %q; want %q", r.Remarks, tc.remark)
			}
			checkCites(t, r)
		})
	}
}

func TestThresholdsAreValues(t *testing.T) {
	story := diagnose.Case{Job: train(0), Kind: replicas, State: kinds.State{Phase: kinds.Running}, Now: noon}
	story.Pods = []corev1.Pod{runs("train-master-0", "gpu-0")}
	story.Logs = []diagnose.Log{steps("train-master-0", time.Second, 9*time.Minute, falling)}
	o := diagnose.Options{Running: diagnose.Thresholds{Limits: progress.Limits{Least: 5 * time.Minute}}}
	if r := diagnose.Diagnose(t.Context(), story, catalog(t), o); r.Verdict != diagnose.Diagnosed {
		t.Errorf("nine idle minutes of five: %s; want diagnosed", r.Verdict)
	}
	o.Running.Factor = 1000
	if r := diagnose.Diagnose(t.Context(), story, catalog(t), o); r.Verdict != diagnose.Healthy {
		t.Errorf("nine idle minutes of 1000 steps: %s; want healthy", r.Verdict)
	}
}
