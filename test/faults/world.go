// Package faults simulates gangs of training processes and what goes wrong with them: pods,
// nodes with clocks of their own, the platform's words and the logs of every pod, as the API
// server would hand them out. A fault is put in at one place; what the other members say
// follows from it. Everything comes from a seed.
//
// It is a measuring instrument, not a model of a cluster: it knows what happened, and asks
// whether a diagnosis finds that out. Start reading at Faults, and world.go for the gang.
package faults

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
)

// Shape is a gang: pods, processes in each, and pods on one node.
type Shape struct{ Pods, PerPod, PerNode int }

// Ranks is how many processes take part.
func (s Shape) Ranks() int { return s.Pods * s.PerPod }

// Shapes are the gangs that faults are put into, 8 to 1,024 ranks.
var Shapes = []Shape{{8, 1, 8}, {4, 2, 1}, {4, 8, 1}, {16, 1, 4}, {16, 8, 1}, {64, 1, 8}, {64, 8, 1}, {128, 8, 1}}

// start is when every simulated job began.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is one gang with one fault.
type world struct {
	*rand.Rand
	shape  Shape
	pods   []*pod
	nodes  []*node
	events []corev1.Event
	style  int // of step lines
	alone  bool
	step   time.Duration
	hour   time.Duration // the program's own stamps are local time
	fault  time.Time     // when it happened
	failed bool          // the operator calls the job failed
	lose   int           // percent of logs that were not read
	cut    int           // percent of logs whose end is missing
}

type node struct {
	name  string
	ahead time.Duration // of the API server's clock
	jump  time.Time     // when its clock was set back; zero: never
	back  time.Duration
	ready corev1.NodeCondition
	more  []corev1.NodeCondition
}

// shown is what the node's clock shows at a time.
func (n *node) shown(t time.Time) time.Time {
	if !n.jump.IsZero() && !t.Before(n.jump) {
		t = t.Add(-n.back)
	}
	return t.Add(n.ahead)
}

type line struct {
	at   time.Time
	text string
}

type pod struct {
	name   string
	index  int
	node   *node
	lines  []line
	stop   time.Time // no line after it; zero: none
	status corev1.PodStatus
	ended  time.Time // zero: runs
	code   int32
	reason string
	gone   bool // its log cannot be read
	init   *corev1.ContainerStatus
	initLn []line
	absent bool // was never created
	waits  bool // never started
}

func newWorld(seed uint64, shape Shape) *world {
	w := &world{Rand: rand.New(rand.NewPCG(seed, uint64(shape.Pods*1000+shape.PerPod))), shape: shape, failed: true}
	w.style, w.alone = w.IntN(len(styles)), w.IntN(3) == 0
	w.step = time.Duration(500+w.IntN(9500)) * time.Millisecond
	w.hour = time.Duration(w.IntN(5)-2) * time.Hour
	w.fault = start.Add(20*time.Minute + time.Duration(w.IntN(3600))*time.Second + time.Duration(w.IntN(1e9)))
	w.lose, w.cut = w.IntN(20), w.IntN(15)
	count := (shape.Pods + shape.PerNode - 1) / shape.PerNode
	for i := range count {
		n := &node{name: fmt.Sprintf("gpu-%03d", i), ready: corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}}
		// Most clocks are within milliseconds, some within a second, a few are off by much.
		switch w.IntN(12) {
		case 0:
			n.ahead = w.upTo(90 * time.Second)
		case 1, 2:
			n.ahead = w.upTo(900 * time.Millisecond)
		default:
			n.ahead = w.upTo(20 * time.Millisecond)
		}
		if w.IntN(2) == 0 {
			n.ahead = -n.ahead
		}
		w.nodes = append(w.nodes, n)
	}
	for i := range shape.Pods {
		name := fmt.Sprintf("train-worker-%d", i-1)
		if i == 0 {
			name = "train-master-0"
		}
		w.pods = append(w.pods, &pod{name: name, index: i, node: w.nodes[i/shape.PerNode]})
	}
	return w
}

func (w *world) upTo(d time.Duration) time.Duration { return time.Duration(w.Int64N(int64(d) + 1)) }

// pick is one of the pods.
func (w *world) pick() *pod { return w.pods[w.IntN(len(w.pods))] }

// rank is one of the pod's ranks.
func (w *world) rank(p *pod) int { return p.index*w.shape.PerPod + w.IntN(w.shape.PerPod) }

// say adds a text to a pod's log, with the prefix that launchers give it.
func (w *world) say(p *pod, at time.Time, rank int, text string) {
	if !p.stop.IsZero() && at.After(p.stop) {
		return
	}
	for l := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if rank >= 0 && w.shape.PerPod > 1 {
			l = fmt.Sprintf("[rank%d]: %s", rank, l)
		}
		p.lines = append(p.lines, line{at, l})
		at = at.Add(time.Duration(w.IntN(400)) * time.Microsecond)
	}
}

// styles are how programs print their steps.
var styles = []func(step int, seconds float64) string{
	func(n int, s float64) string {
		return fmt.Sprintf("step %d | loss: %.4f | grad_norm: 0.71 | lr: 1.0e-05", n, loss(n))
	},
	func(n int, s float64) string {
		return fmt.Sprintf(" iteration %8d/  500000 | consumed samples: %12d | elapsed time per iteration (ms): %.1f | learning rate: 1.500000E-05 | lm loss: %.6E | loss scale: 1.0 | grad norm: 0.981 | number of skipped iterations:   0 | number of nan iterations:   0 |", n, n*256, s*1000, loss(n))
	},
	func(n int, s float64) string {
		return fmt.Sprintf("{'loss': %.4f, 'grad_norm': 0.83, 'learning_rate': 4.9e-05, 'epoch': %.2f}", loss(n), float64(n)/1000)
	},
	func(n int, s float64) string {
		return fmt.Sprintf("Epoch: [0][%5d/5000]\tTime  %.3f (%.3f)\tData  0.012 ( 0.014)\tLoss %.4e (%.4e)", n, s, s, loss(n), loss(n))
	},
	func(n int, s float64) string {
		return fmt.Sprintf("[2026-03-01 12:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=%d, skipped=0, lr=[1e-05], mom=[(0.9, 0.95)]", n)
	},
}

func loss(n int) float64 { return 2 + 9/float64(1+n) }

// noise are lines of well-meaning programs that sound worse than they are.
var noise = []string{
	"/usr/local/lib/python3.11/site-packages/torch/utils/data/dataloader.py:627: UserWarning: This DataLoader will create 12 worker processes in total. Our suggested max number of worker in current system is 8",
	"W0301 12:00:00.000000 140245 site-packages/torch/distributed/run.py:793] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded",
	"FutureWarning: `torch.cuda.amp.autocast(args...)` is deprecated. Please use `torch.amp.autocast('cuda', args...)` instead.",
	"NCCL INFO NET/Plugin: No plugin found (libnccl-net.so), using internal implementation",
	"huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism to avoid deadlocks...",
	"[W301 12:00:00.000000000 socket.cpp:752] [c10d] The client socket has failed to connect to [localhost]:29500 (errno: 99 - Cannot assign requested address).",
	"wandb: WARNING Path ./wandb/ wasn't writable, using system temp directory.",
	"Some weights of the model checkpoint were not used when initializing: ['lm_head.weight']",
}

// train lets every pod print until its time is up.
func (w *world) train(until time.Time) {
	for _, p := range w.pods {
		if p.waits || p.absent {
			continue
		}
		first := p.index * w.shape.PerPod
		at := start.Add(5*time.Second + w.upTo(3*time.Second))
		w.say(p, at, -1, noise[w.IntN(len(noise))])
		w.say(p, at.Add(time.Second), first, noise[w.IntN(len(noise))])
		if w.alone && p.index > 0 {
			continue // only rank 0 prints its steps
		}
		// The first steps and the last ones: what is in between says nothing new.
		n := int(until.Sub(start.Add(time.Minute)) / w.step)
		for i := range n {
			if i >= 3 && i < n-25 {
				continue
			}
			w.say(p, start.Add(time.Minute+time.Duration(i)*w.step+w.upTo(30*time.Millisecond)), first, styles[w.style](i+1, w.step.Seconds()))
		}
		for range w.IntN(3) {
			w.say(p, start.Add(w.upTo(until.Sub(start))), first, noise[w.IntN(len(noise))])
		}
	}
}

// end ends a pod.
func (p *pod) end(at time.Time, code int32, reason string) {
	p.ended, p.code, p.reason = at, code, reason
}

func (w *world) event(kind, name, component, host, reason, message, sort string, at time.Time) {
	w.events = append(w.events, corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%s.%d", name, len(w.events)), Namespace: "ml"},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Name: name, Namespace: "ml"},
		Source:         corev1.EventSource{Component: component, Host: host},
		Reason:         reason, Message: message, Type: sort, Count: 1,
		FirstTimestamp: metav1.NewTime(at.Truncate(time.Second)), LastTimestamp: metav1.NewTime(at.Truncate(time.Second)),
	})
}

// place is where the kind of the simulated job puts a pod.
func place(p *corev1.Pod) (string, int, bool) {
	if strings.Contains(p.Name, "master") {
		return "Master", 0, true
	}
	var n int
	_, err := fmt.Sscanf(p.Name, "train-worker-%d", &n)
	return "Worker", n, err == nil
}

// collect is the case as it would be read some time after.
func (w *world) collect() diagnose.Case {
	c := diagnose.Case{
		Job: &job.Job{
			Ref: job.Ref{Kind: "PyTorchJob", APIVersion: "kubeflow.org/v1", Namespace: "ml", Name: "train", UID: "u-1"},
			Roles: []job.Role{
				{Name: "Master", Replicas: job.Exactly(1), Pod: job.Pod{Requests: job.Resources{"nvidia.com/gpu": int64(w.shape.PerPod)}}},
				{Name: "Worker", Replicas: job.Exactly(w.shape.Pods - 1), Pod: job.Pod{Requests: job.Resources{"nvidia.com/gpu": int64(w.shape.PerPod)}}},
			},
		},
		Kind: &kinds.Kind{Name: "PyTorchJob", Place: place}, Events: w.events, Now: w.last().Add(2 * time.Minute),
	}
	c.State.Phase = kinds.Running
	if w.failed {
		c.State.Phase = kinds.Failed
	}
	for _, n := range w.nodes {
		c.Nodes = append(c.Nodes, corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: n.name},
			Status:     corev1.NodeStatus{Conditions: append([]corev1.NodeCondition{n.ready}, n.more...)},
		})
	}
	for _, p := range w.pods {
		if p.absent {
			continue
		}
		c.Pods = append(c.Pods, w.object(p))
		if log, ok := w.log(p, p.lines, "pytorch"); ok && !p.waits {
			c.Logs = append(c.Logs, log)
		}
		if len(p.initLn) > 0 {
			if log, ok := w.log(p, p.initLn, "fetch"); ok {
				c.Logs = append(c.Logs, log)
			}
		}
	}
	// The API server lists by name, and logs come in as they are read.
	w.Shuffle(len(c.Pods), func(i, j int) { c.Pods[i], c.Pods[j] = c.Pods[j], c.Pods[i] })
	w.Shuffle(len(c.Logs), func(i, j int) { c.Logs[i], c.Logs[j] = c.Logs[j], c.Logs[i] })
	return c
}

// last is when the last pod ended.
func (w *world) last() time.Time {
	last := w.fault
	for _, p := range w.pods {
		if p.ended.After(last) {
			last = p.ended
		}
	}
	return last
}

// cutTo is a time as the API prints it.
func cutTo(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

func (w *world) object(p *pod) corev1.Pod {
	out := corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: p.name, Namespace: "ml", CreationTimestamp: cutTo(start)},
		Spec:       corev1.PodSpec{NodeName: p.node.name, Containers: []corev1.Container{{Name: "pytorch"}}},
		Status:     p.status,
	}
	s := &out.Status
	bound := start.Add(time.Second)
	if s.Phase == "" || s.Phase == corev1.PodFailed || p.init != nil {
		began := cutTo(p.node.shown(bound.Add(300 * time.Millisecond)))
		s.StartTime = &began
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: cutTo(bound)})
	}
	reported := bound.Add(4 * time.Second)
	state := corev1.ContainerStatus{Name: "pytorch"}
	runs := cutTo(p.node.shown(bound.Add(3 * time.Second)))
	switch {
	case p.waits:
		if p.init != nil {
			s.InitContainerStatuses = []corev1.ContainerStatus{*p.init}
		}
		if s.Phase == corev1.PodPending && len(s.ContainerStatuses) == 0 && s.StartTime == nil {
			out.Spec.NodeName = ""
		}
		return out
	case !p.ended.IsZero():
		s.Phase = corev1.PodFailed
		if p.code == 0 {
			s.Phase = corev1.PodSucceeded
		}
		reason := p.reason
		if reason == "" {
			reason = "Error"
		}
		state.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: p.code, Reason: reason, StartedAt: runs, FinishedAt: cutTo(p.node.shown(p.ended))}
		reported = p.ended.Add(300*time.Millisecond + w.upTo(2*time.Second))
	default:
		s.Phase = corev1.PodRunning
		state.Ready, state.State.Running = true, &corev1.ContainerStateRunning{StartedAt: runs}
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue})
	}
	s.ContainerStatuses = []corev1.ContainerStatus{state}
	at := cutTo(reported)
	out.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", Time: &at}}
	return out
}

// log is a pod's log as the API hands it out, each line with the node's time before it.
func (w *world) log(p *pod, lines []line, container string) (diagnose.Log, bool) {
	if p.gone || len(lines) == 0 {
		return diagnose.Log{}, false
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var b strings.Builder
	for _, l := range lines {
		if !p.ended.IsZero() && container == "pytorch" && l.at.After(p.ended) {
			break
		}
		fmt.Fprintf(&b, "%s %s\n", p.node.shown(l.at).Format("2006-01-02T15:04:05.000000000Z"), l.text)
	}
	text := b.String()
	return diagnose.Log{
		Source: evidence.Source{Pod: p.name, Container: container, Node: p.node.name, Rank: -1},
		Open:   func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil },
	}, true
}
