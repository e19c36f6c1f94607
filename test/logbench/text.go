//go:build unix

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// places are where labelled cases may lie, seen from the top of the repository.
var places = []string{os.Getenv("SIGNALBOX_CORPUS"), "../shared/corpus/dev", "runtime-diagnose/signature/testdata"}

// write makes a text of so many bytes: the same on every run.
func write(name string, size int64) (lines int, source string, err error) {
	real, source, err := realLines()
	if err != nil {
		return 0, "", err
	}
	f, err := os.Create(name)
	if err != nil {
		return 0, "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for n := int64(0); n < size; lines++ {
		line := one(real, lines)
		k, err := w.WriteString(line)
		if err != nil {
			return 0, "", err
		}
		n += int64(k)
	}
	return lines, source, errors.Join(w.Flush(), f.Close())
}

// one is line i of the text.
func one(real []string, i int) string {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	if i%2 == 0 {
		return real[r.IntN(len(real))]
	}
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("[rank%d]: step %d | loss: %.4f | grad_norm: %.3f | lr: 1.0e-05 | tokens/s: %d\n", r.IntN(512), i, r.Float64()*4, r.Float64(), 80000+r.IntN(9000))
	case 1:
		return fmt.Sprintf("worker-%d:%d:%d [%d] NCCL INFO Channel %02d/0 : %d[%d] -> %d[%d] via NET/IB/%d/GDRDMA\n", r.IntN(64), r.IntN(9000), r.IntN(9000), r.IntN(8), r.IntN(16), r.IntN(512), r.IntN(8), r.IntN(512), r.IntN(8), r.IntN(8))
	case 2:
		return fmt.Sprintf("2026-03-01 12:%02d:%02d,250 INFO [data.py:88] shard %05d.tar: %d samples in %.3f s\n", r.IntN(60), r.IntN(60), r.IntN(99999), r.IntN(5000), r.Float64())
	case 3:
		return fmt.Sprintf("(WorkerDict pid=%d, ip=10.0.%d.%d) actor/entropy: %.5f - critic/score: %.5f - timing/gen: %.2f\n", r.IntN(99999), r.IntN(255), r.IntN(255), r.Float64(), r.Float64(), r.Float64()*90)
	case 4:
		return fmt.Sprintf("I0301 12:%02d:%02d.240000 7 controller.go:114] synced queue/%x in %d ms, %d workloads pending\n", r.IntN(60), r.IntN(60), r.Uint32(), r.IntN(99), r.IntN(40))
	default:
		return fmt.Sprintf("DEBUG urllib3.connectionpool GET /simple/pkg-%x/ 200 %d bytes, cache hit %t\n", r.Uint64(), r.IntN(1<<20), r.IntN(2) == 0)
	}
}

// realLines are the lines of all logs of the first place that there is.
func realLines() ([]string, string, error) {
	for _, dir := range places {
		files, err := filepath.Glob(filepath.Join(dir, "*", "*.txt"))
		if err != nil {
			return nil, "", err
		}
		fixtures, err := filepath.Glob(filepath.Join(dir, "*", "*.log"))
		if err != nil || dir == "" {
			continue
		}
		var lines []string
		for _, name := range append(files, fixtures...) {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, "", err
			}
			for line := range strings.Lines(string(text)) {
				lines = append(lines, strings.TrimRight(line, "\r\n")+"\n")
			}
		}
		if len(lines) > 0 {
			return lines, dir, nil
		}
	}
	return nil, "", errors.New("no lines found; run this at the top of the repository")
}

// eachLine calls f with every line of a file, without its end.
func eachLine(name string, f func(line []byte)) error {
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	r := bufio.NewReaderSize(in, 1<<20)
	for {
		line, err := r.ReadSlice('\n')
		if len(line) > 0 {
			f(bytes.TrimSuffix(line, []byte("\n")))
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
