package diagnose_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// BenchmarkDiagnose reads a long healthy log with one failure at its end: what a training
// job that ran for days leaves behind.
func BenchmarkDiagnose(b *testing.B) {
	c := catalog(b)
	var log strings.Builder
	for range 20000 {
		log.WriteString("2026-03-01 12:00:01,250 INFO [trainer.py:88] step 100 loss: 2.31 grad_norm: 0.7 lr: 1e-05 tokens/s: 81234\n")
	}
	log.WriteString("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB\n")
	data := []byte(log.String())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		story := diagnose.Case{Now: noon}
		story.AddLog("train.log", data)
		if r := diagnose.Diagnose(b.Context(), story, c, diagnose.Options{}); r.Category != "gpu-oom" {
			b.Fatalf("category %q, want gpu-oom", r.Category)
		}
	}
}

// BenchmarkGang reads what is kept of 512 ranks that all end alike: a hundred lines of each, as they
// lie beside the job.
func BenchmarkGang(b *testing.B) {
	c := catalog(b)
	var log strings.Builder
	for step := range 100 {
		fmt.Fprintf(&log, "2026-03-01T12:00:01.250000000Z [INFO] [trainer.py:88] step=%d, loss=2.31, lr=1e-05, grad_norm=0.7, tokens/s=81234, GPU memory 71 GiB\n", step)
	}
	log.WriteString("2026-03-01T12:00:09Z torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB\n")
	data := []byte(log.String())
	const ranks = 512
	b.SetBytes(int64(ranks * len(data)))
	for b.Loop() {
		story := diagnose.Case{Now: noon}
		for rank := range ranks {
			story.AddLog(fmt.Sprintf("worker-%d.log", rank), data)
		}
		if r := diagnose.Diagnose(b.Context(), story, c, diagnose.Options{}); r.Category != "gpu-oom" {
			b.Fatalf("category %q, want gpu-oom", r.Category)
		}
	}
}

// BenchmarkFailedPods judges gangs of which nothing but pods is there: all of them failed, within seconds.
func BenchmarkFailedPods(b *testing.B) {
	c := catalog(b)
	for _, n := range []int{1_000, 4_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			story := diagnose.Case{Job: train(n - 1), Kind: replicas, State: kinds.State{Phase: kinds.Failed}, Now: noon}
			for i := range n {
				story.Pods = append(story.Pods, ended(fmt.Sprintf("train-worker-%d", i), fmt.Sprintf("gpu-%d", i/8), []int32{1, 143, 134}[i%3], "Error", noon.Add(time.Duration(i%60)*time.Second)))
			}
			for b.Loop() {
				if r := diagnose.Diagnose(b.Context(), story, c, diagnose.Options{}); r.Verdict == diagnose.Healthy {
					b.Fatal("healthy")
				}
			}
		})
	}
}
