package policies

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// TestTheWatcherStopsWhatFillsTheHeap: above the bound, and not a quarter of it.
func TestTheWatcherStopsWhatFillsTheHeap(t *testing.T) {
	runtime.GC()
	fill := func(bytes int, patience time.Duration) error {
		w := watch(t.Context())
		defer w.stop()
		ctx, end := w.guard(t.Context())
		defer end()
		var held [][]byte
		for range bytes >> 20 {
			page := make([]byte, 1<<20)
			page[0] = 1
			held = append(held, page)
		}
		select {
		case <-ctx.Done():
		case <-time.After(patience):
		}
		runtime.KeepAlive(held)
		return context.Cause(ctx)
	}
	if err := fill(mostMemory/4, 100*time.Millisecond); err != nil {
		t.Errorf("a quarter of the bound was stopped: %v", err)
	}
	if err := fill(mostMemory*2, time.Minute); !errors.Is(err, errMemory) {
		t.Errorf("twice the bound: %v; want %v", err, errMemory)
	}
}
