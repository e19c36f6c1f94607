package collect

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"slices"

	"golang.org/x/sync/semaphore"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/keep"
)

// held is a log in memory: compressed, unless somebody else holds it anyway.
type held struct {
	plain  []byte
	packed keep.Text
}

func (h held) empty() bool { return len(h.plain) == 0 && h.packed.Held() == 0 }

func (h held) open() (io.ReadCloser, error) {
	text := h.plain
	if text == nil {
		text = h.packed.Bytes()
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// Logs are read by many at a time, and each needs its text and as much again while head and tail are
// put together. Of what is held compressed, logs that are read whole get one part, and the ends of the
// others another: training logs shrink to a tenth, so the parts are cut short of noise only, and of
// the ends of many thousands.
const (
	roomToRead = 24 << 20
	roomToHold = 16 << 20 // for each of the two
	leastHeld  = 1 << 10  // of a log, compressed
)

// room bounds the memory that reading the logs of one job takes.
type room struct {
	whole, end int // bytes a log may take, compressed
	each       int64
	reading    *semaphore.Weighted
	packing    *semaphore.Weighted
}

// newRoom is the room for as many logs as are read whole at most, and so many ends.
func newRoom(l Limits, ends int) *room {
	each := l.HeadBytes + l.TailBytes
	return &room{
		whole: roomToHold / int(max(1, l.TotalBytes/each)), end: max(leastHeld, roomToHold/max(1, ends)),
		each: min(3*each, roomToRead), reading: semaphore.NewWeighted(roomToRead),
		packing: semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
	}
}

// enter waits until there is room to read one more log whole.
func (r *room) enter(ctx context.Context) (done func(), err error) {
	if err := r.reading.Acquire(ctx, r.each); err != nil {
		return nil, err
	}
	return func() { r.reading.Release(r.each) }, nil
}

// hold compresses a text. Of one that takes more than so many bytes, the beginning goes.
func (r *room) hold(ctx context.Context, text []byte, most int) held {
	if r.packing.Acquire(ctx, 1) != nil {
		return held{plain: text} // the reads are over
	}
	defer r.packing.Release(1)
	packed := keep.NewText(text)
	for packed.Held() > most && len(text) > most {
		text = text[len(text)-max(most, len(text)/2):]
		if i := bytes.IndexByte(text, '\n'); i >= 0 && i+1 < len(text) {
			text = text[i+1:] // half a line is no evidence
		}
		packed = keep.NewText(slices.Concat([]byte(gapBefore), text))
	}
	return held{packed: packed}
}
