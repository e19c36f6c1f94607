package collect

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/semaphore"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// heldLog is a log in memory: compressed, unless another part holds it anyway. One for which there was
// no room is read again when it is wanted.
type heldLog struct {
	plain  []byte
	packed keep.Text
	again  func() ([]byte, error)
}

func (h heldLog) empty() bool { return len(h.plain) == 0 && h.packed.Held() == 0 && h.again == nil }

func (h heldLog) open() (io.ReadCloser, error) {
	text := h.plain
	switch {
	case h.again != nil:
		var err error
		if text, err = h.again(); err != nil {
			return nil, err
		}
	case text == nil:
		text = h.packed.Bytes()
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// Logs are read by many at a time, and each needs its text and as much again while head and tail are
// put together. Of what is held compressed, logs that are read whole have one part, and the ends of the
// others another. Training logs shrink to a tenth, so logs are cut short of noise only, the oldest of
// it first; of ends there may be thousands, and those without room are read again.
const (
	roomToRead  = 24 << 20
	roomToHold  = 12 << 20 // logs that are read whole
	roomForEnds = 8 << 20
)

// memoryBudget bounds the memory that reading the logs of one job takes.
type memoryBudget struct {
	whole   int // bytes that a log may take, compressed
	each    int64
	reading *semaphore.Weighted
	packing *semaphore.Weighted
	ends    atomic.Int64 // bytes that are left for them
}

// newMemoryBudget is the room for as many logs as the limits let be read whole.
func newMemoryBudget(l Limits) *memoryBudget {
	each := l.HeadBytes + l.TailBytes
	r := &memoryBudget{
		whole: roomToHold / int(max(1, l.TotalBytes/each)),
		each:  min(3*each, roomToRead), reading: semaphore.NewWeighted(roomToRead),
		packing: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
	}
	r.ends.Store(roomForEnds)
	return r
}

// enter waits until there is room to read one more log whole.
func (r *memoryBudget) enter(ctx context.Context) (done func(), err error) {
	if err := r.reading.Acquire(ctx, r.each); err != nil {
		return nil, err
	}
	return func() { r.reading.Release(r.each) }, nil
}

// hold compresses a log. Of one that takes more than its part, the beginning goes.
func (r *memoryBudget) hold(ctx context.Context, text []byte) heldLog {
	if r.packing.Acquire(ctx, 1) != nil {
		return heldLog{plain: text} // the reads are over
	}
	defer r.packing.Release(1)
	packed := keep.NewText(text)
	for packed.Held() > r.whole && len(text) > r.whole {
		text = text[len(text)-max(r.whole, len(text)/2):]
		if i := bytes.IndexByte(text, '\n'); i >= 0 && i+1 < len(text) {
			text = text[i+1:] // half a line is no evidence
		}
		packed = keep.NewText(slices.Concat([]byte(gapBefore), text))
	}
	return heldLog{packed: packed}
}

// holdEnd compresses the end of a log as long as there is room for one; again reads it, and is nil where
// it could not be read to its end: then what there is of it is held.
func (r *memoryBudget) holdEnd(ctx context.Context, text []byte, again func() ([]byte, error)) heldLog {
	if r.packing.Acquire(ctx, 1) != nil {
		return heldLog{plain: text} // the reads are over
	}
	defer r.packing.Release(1)
	h := heldLog{packed: keep.NewText(text)}
	if size := int64(h.packed.Held()); r.ends.Add(-size) < 0 && again != nil {
		r.ends.Add(size)
		return heldLog{again: again}
	}
	return h
}
