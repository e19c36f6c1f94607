//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// repeated is a log of so many bytes that is nowhere.
type repeated struct {
	block string
	at    int
	left  int64
	peak  uint64
	reads int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	if r.reads++; r.reads%4096 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		r.peak = max(r.peak, m.HeapInuse)
	}
	n := copy(p, r.block[r.at:])
	r.at = (r.at + n) % len(r.block)
	r.left -= int64(n)
	return n, nil
}

func (r *repeated) Close() error { return nil }

// mostHeap is the bound on memory while logs of any size are read, in bytes.
const mostHeap = 64 << 20

// endless reads a log larger than memory: lines of all kinds, one of a megabyte, progress bars.
func endless(c *signature.Catalog, gigabytes int) error {
	real, _, err := realLines()
	if err != nil {
		return err
	}
	var block strings.Builder
	for i := range 40000 {
		block.WriteString(one(real, i))
	}
	block.WriteString(strings.Repeat("long line ", 100_000) + "\n" + strings.Repeat("\r 50%|##   | 5/10", 10_000) + "\n")
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	in := &repeated{block: block.String(), left: int64(gigabytes) << 30}
	before := cpu()
	r := diagnose.Diagnose(context.Background(), caseOf(func() (io.ReadCloser, error) { return in, nil }), c, diagnose.Options{})
	took := cpu() - before
	used := in.peak - min(in.peak, m.HeapInuse)
	fmt.Printf("a log of %d GB, %d processors: %s, heap %.1f MiB above the catalog and the text, %d bytes read\n", gigabytes, runtime.GOMAXPROCS(0), rate(gigabytes<<10, took), float64(used)/(1<<20), r.Coverage.BytesRead)
	if used > mostHeap {
		return fmt.Errorf("reading took %d bytes of heap; the bound is %d", used, mostHeap)
	}
	return nil
}
