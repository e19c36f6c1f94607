package keep

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// BenchmarkTake reads a log that trains and then ends in a traceback.
func BenchmarkTake(b *testing.B) {
	catalog, err := signature.Builtin()
	if err != nil {
		b.Fatal(err)
	}
	var log bytes.Buffer
	for step := 0; log.Len() < 1<<20; step++ {
		fmt.Fprintf(&log, "2026-11-20T08:00:00.%09dZ [2026-11-20 08:00:00,123] [INFO] [trainer.py:88] step=%d, loss=%.4f, lr=0.0003, tokens/s=%d\n", step, step, 2+1/float64(step+1), 31000+step%97)
	}
	log.WriteString("Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    f()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
	b.SetBytes(int64(log.Len()))
	for b.Loop() {
		if _, err := Take(bytes.NewReader(log.Bytes()), catalog, Budget); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncode stores what is kept of a thousand ranks that say the same in other numbers.
func BenchmarkEncode(b *testing.B) {
	s := gang(1000, 1, 120)
	for b.Loop() {
		if data := s.Clone().Encode(512 << 10); len(data) > 512<<10 {
			b.Fatal(len(data))
		}
	}
}
