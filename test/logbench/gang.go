//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/evidence"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// gang diagnoses a gang of so many ranks whose logs are nowhere, and measures the heap. In the
// one gang all ranks train, and end as a gang does whose one rank has died; in the other the logs
// say everything that the corpus has, which no gang does: the most that reading may keep.
func gang(c *signature.Catalog, ranks int) error {
	real, _, err := realLines()
	if err != nil {
		return err
	}
	most := shorter(4000, ranks)
	everything := func(rank int) io.ReadCloser {
		return &lines{most: most, line: func(to []byte, i int) []byte { return append(to, one(real, rank*most+i)...) }}
	}
	steps := shorter(2000, ranks)
	fails := func(rank int) io.ReadCloser { return failing(rank, steps) }
	return errors.Join(gangOf(c, ranks, "that fails", fails), gangOf(c, ranks, "that says everything", everything))
}

// shorter is how many lines a log has in a gang of so many ranks: from 10,000 on there is only time for
// the more logs the shorter they are.
func shorter(lines, ranks int) int { return lines * 10_000 / max(ranks, 10_000) }

func gangOf(c *signature.Catalog, ranks int, name string, open func(rank int) io.ReadCloser) error {
	of := diagnose.Case{Now: time.Now()}
	for i := range ranks {
		pod := fmt.Sprintf("train-worker-%d", i)
		of.Logs = append(of.Logs, diagnose.Log{
			Source: evidence.Source{Pod: pod, Container: "pytorch", Role: "Worker", Rank: i, Node: fmt.Sprintf("node-%d", i/8)},
			Open:   func() (io.ReadCloser, error) { return open(i), nil },
		})
	}
	defer debug.SetGCPercent(debug.SetGCPercent(30)) // as the shell does
	heap := newHeap()
	before := cpu()
	r := diagnose.Diagnose(context.Background(), of, c, diagnose.Options{})
	took := cpu() - before
	used := heap.most()
	root := "none"
	if r.Root != nil {
		root = r.Root.Signature + " in " + r.Root.Source.Pod
	}
	fmt.Printf("a gang of %d ranks %s: %.1f s, %d MB, heap %.1f MiB, of it in the answer %.1f MiB; %s, cause %s\n",
		ranks, name, took.Seconds(), r.Coverage.BytesRead>>20, used, heap.now(), r.Verdict, root)
	runtime.KeepAlive(r)
	if used > mostHeap>>20 {
		return fmt.Errorf("reading took %.1f MiB of heap; the bound is %d", used, mostHeap>>20)
	}
	return nil
}

// lines is a log that is made while it is read.
type lines struct {
	line func(to []byte, i int) []byte
	at   int
	most int
	text []byte // of the line, as far as it was not read
	room [8 << 10]byte
}

func (l *lines) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(l.text) == 0 {
			if l.at == l.most {
				break
			}
			l.text = l.line(l.room[:0], l.at)
			l.at++
		}
		k := copy(p[n:], l.text)
		l.text, n = l.text[k:], n+k
	}
	if n == 0 {
		err = io.EOF
	}
	return n, err
}

func (l *lines) Close() error { return nil }

// failing is the log of a rank of a gang in which rank 7 runs out of memory.
func failing(rank, steps int) io.ReadCloser {
	const begin, ends = 40, 6
	start := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	most := begin + steps + ends
	if rank == 7 {
		most = begin + steps + 1
	}
	return &lines{most: most, line: func(to []byte, i int) []byte {
		at := start.Add(time.Duration(i) * 130 * time.Millisecond)
		if i >= begin+steps && rank != 7 {
			at = at.Add(10 * time.Minute)
		}
		to = append(at.AppendFormat(to, "2006-01-02T15:04:05.000000000Z"), ' ')
		switch step := i - begin; {
		case step < 0:
			to = fmt.Appendf(to, "worker-%d:%d:%d [0] NCCL INFO Channel %02d/0 : %d[0] -> %d[0] via NET/IB/0/GDRDMA", rank, 100+rank, 900, i, rank, rank+1)
		case step < steps:
			to = fmt.Appendf(to, "step %d | loss: %.4f | grad_norm: %.3f | tokens/s: %d", step, 4/(1+float64(step)/100), 1.0, 80000+step%977)
		case rank == 7:
			to = append(to, "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB of which 1.02 GiB is free."...)
		case step < steps+3:
			to = fmt.Appendf(to, "[rank%d]:[E ProcessGroupNCCL.cpp:616] [Rank %d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600%03d milliseconds before timing out.", rank, rank, step, rank%1000)
		case step == steps+3:
			to = fmt.Appendf(to, "[rank%d]:[E ProcessGroupNCCL.cpp:681] [Rank %d] To avoid data inconsistency, we are taking the entire process down.", rank, rank)
		case step == steps+4:
			to = append(to, "terminate called after throwing an instance of 'c10::DistBackendError'"...)
		default:
			to = append(to, "Fatal Python error: Aborted"...)
		}
		return append(to, '\n')
	}}
}

// heap watches how large the heap gets.
type heap struct {
	base uint64
	peak uint64
	stop chan struct{}
	done sync.WaitGroup
}

func newHeap() *heap {
	h := &heap{base: inUse(), stop: make(chan struct{})}
	h.done.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-h.stop:
				return
			case <-tick.C:
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				h.peak = max(h.peak, m.HeapInuse)
			}
		}
	})
	return h
}

// inUse is the heap after a collection.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

// most is how much the heap has grown at most, in MiB.
func (h *heap) most() float64 {
	close(h.stop)
	h.done.Wait()
	return float64(h.peak-min(h.peak, h.base)) / (1 << 20)
}

// now is how much of it is still held.
func (h *heap) now() float64 {
	n := inUse()
	return float64(n-min(n, h.base)) / (1 << 20)
}
