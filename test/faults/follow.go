package faults

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// elastic adds what torchrun prints when one of its processes failed.
func (w *world) elastic(p *pod, at time.Time, rank, code int) {
	local := rank % w.shape.PerPod
	note := "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
	if code < 0 {
		note = fmt.Sprintf("Signal %d (%s) received by PID 412", -code, map[int]string{-9: "SIGKILL", -11: "SIGSEGV", -6: "SIGABRT", -15: "SIGTERM"}[code])
	}
	others := "  <NO_OTHER_FAILURES>"
	if w.shape.PerPod > 1 && w.IntN(2) == 0 {
		other := p.index*w.shape.PerPod + (local+1)%w.shape.PerPod
		others = fmt.Sprintf("[1]:\n  time      : %s\n  host      : %s\n  rank      : %d (local_rank: %d)\n  exitcode  : -15 (pid: 413)\n  error_file: <N/A>\n  traceback : Signal 15 (SIGTERM) received by PID 413",
			w.own(p, at), p.name, other, other%w.shape.PerPod)
	}
	w.say(p, at, -1, fmt.Sprintf("E0301 12:00:00.000000 311 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: %d) local_rank: %d (pid: 412) of binary: /usr/bin/python3\n"+
		"Traceback (most recent call last):\n  File \"/usr/local/bin/torchrun\", line 8, in <module>\n    sys.exit(main())\n  File \"/usr/local/lib/python3.11/site-packages/torch/distributed/launcher/api.py\", line 269, in launch_agent\n    raise ChildFailedError(\n"+
		"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n============================================================\ntrain.py FAILED\n------------------------------------------------------------\nFailures:\n%s\n"+
		"------------------------------------------------------------\nRoot Cause (first observed failure):\n[0]:\n  time      : %s\n  host      : %s\n  rank      : %d (local_rank: %d)\n  exitcode  : %d (pid: 412)\n  error_file: <N/A>\n  traceback : %s\n============================================================",
		code, local, others, w.own(p, at), p.name, rank, local, code, note))
}

// own is the local time that the program on the pod's node would print.
func (w *world) own(p *pod, at time.Time) string {
	return p.node.shown(at).Add(w.hour).Format("2006-01-02_15:04:05")
}

// crash lets one process of a pod fail with a text, and the pod with it. Launched by torchrun
// or by itself; code is the process's own.
func (w *world) crash(p *pod, name string, code int32) {
	w.crashAt(p, w.fault, w.rank(p), name, code)
}

func (w *world) crashAt(p *pod, at time.Time, rank int, name string, code int32) {
	if t := w.text(name, p, rank); t != "" {
		w.say(p, at, rank, t)
	}
	if w.shape.PerPod > 1 || w.IntN(2) == 0 {
		raw := int(code)
		if code > 128 {
			raw = 128 - int(code)
		}
		at = at.Add(500*time.Millisecond + w.upTo(2*time.Second))
		w.elastic(p, at, rank, raw)
		code = 1
	}
	p.end(at.Add(200*time.Millisecond+w.upTo(2*time.Second)), code, "")
}

// The ways in which the others go, once one is gone.
const (
	byReset    = iota // connections break within seconds
	byWatchdog        // the watchdog gives up after ten minutes
	byOperator        // the operator stops them
	ways
)

// follow lets every pod that still runs go after the first one.
func (w *world) follow(except ...*pod) {
	first := map[*pod]bool{}
	for _, p := range except {
		first[p] = true
	}
	way := w.IntN(ways)
	for _, p := range w.pods {
		if first[p] || !p.ended.IsZero() || p.waits || p.absent {
			continue
		}
		one := way
		if way != byWatchdog && w.IntN(4) == 0 {
			one = []int{byReset, byOperator}[w.IntN(2)]
		}
		w.followOne(p, one)
		if w.IntN(100) < w.lose {
			p.gone = true
		} else if w.IntN(100) < w.cut && len(p.lines) > 4 {
			p.stop = p.ended
			p.lines = p.lines[:len(p.lines)-1-w.IntN(len(p.lines)/2)]
		}
	}
}

func (w *world) followOne(p *pod, way int) {
	rank := p.index * w.shape.PerPod
	switch way {
	case byReset:
		at := w.fault.Add(20*time.Millisecond + w.upTo(4*time.Second))
		w.say(p, at, rank, w.text("lost", p, rank))
		if w.shape.PerPod > 1 {
			at = at.Add(time.Second)
			w.elastic(p, at, rank, 1)
		}
		p.end(at.Add(300*time.Millisecond+w.upTo(3*time.Second)), 1, "")
	case byWatchdog:
		at := w.fault.Add(10*time.Minute + w.upTo(3*time.Second))
		w.watchdog(p, at, rank, w.seq(), "ALLREDUCE")
		code := int32(134)
		if w.shape.PerPod > 1 {
			w.elastic(p, at.Add(time.Second), rank, -6)
			code = 1
		}
		p.end(at.Add(time.Second+w.upTo(5*time.Second)), code, "")
	default:
		at := w.fault.Add(3*time.Second + w.upTo(12*time.Second))
		if t := w.text("told", p, rank); t != "" {
			w.say(p, at, -1, t)
		}
		code := int32(143)
		if w.IntN(4) == 0 {
			at, code = at.Add(30*time.Second), 137
		}
		p.end(at.Add(w.upTo(2*time.Second)), code, "")
	}
}

// watchdog is what a rank's watchdog prints about a collective that did not finish.
func (w *world) watchdog(p *pod, at time.Time, rank int, seq int64, op string) {
	prefix := fmt.Sprintf("[E301 12:00:00.123456789 ProcessGroupNCCL.cpp:%d] ", 600+w.IntN(100))
	w.say(p, at, rank, fmt.Sprintf("%s[Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=%s, NumelIn=8388608, NumelOut=8388608, Timeout(ms)=600000) ran for 600%03d milliseconds before timing out.", prefix, rank, seq, op, w.IntN(100)))
	if w.IntN(2) == 0 {
		w.say(p, at, rank, fmt.Sprintf("%s[PG ID 0 PG GUID 0(default_pg) Rank %d]  failure detected by watchdog at work sequence id: %d PG status: last enqueued work: %d, last completed work: %d", prefix, rank, seq, seq+int64(w.IntN(5)), seq-1))
	} else {
		w.say(p, at, rank, fmt.Sprintf("%s[PG 0 (default_pg) Rank %d] Timeout at NCCL work: %d, last enqueued NCCL work: %d, last completed NCCL work: %d.", prefix, rank, seq, seq+int64(w.IntN(5)), seq-1))
	}
	w.say(p, at.Add(time.Millisecond), rank, strings.ReplaceAll(w.text("aborted", p, rank), "OpType=ALLREDUCE", "OpType="+op))
}

// meet lets every other pod wait at the start until it gives up.
func (w *world) meet(except ...*pod) {
	first := map[*pod]bool{}
	for _, p := range except {
		first[p] = true
	}
	for _, p := range w.pods {
		if first[p] || p.waits || p.absent {
			continue
		}
		at := start.Add(15*time.Minute + w.upTo(3*time.Second))
		w.say(p, start.Add(4*time.Second), -1, noise[w.IntN(len(noise))])
		w.say(p, at, -1, w.text("rendezvous", p, p.index*w.shape.PerPod))
		p.end(at.Add(w.upTo(3*time.Second)), 1, "")
	}
}

// condition is the state of a node as its kubelet, or a problem detector on it, writes it.
func condition(kind corev1.NodeConditionType, status corev1.ConditionStatus, reason, message string, at time.Time) corev1.NodeCondition {
	return corev1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message, LastTransitionTime: cutTo(at), LastHeartbeatTime: cutTo(at)}
}
