package webhook

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
)

// Reviews that never end keep their places: once they have them all, only a new process reviews anything.
func TestReviewsThatDoNotEndAreNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &Webhook{handler: &Handler{ruling: newSemaphore(2), working: newSemaphore(2)}}
		w.stopping.Store(true) // no port is open
		w.o.View = still{}
		alive := func() string {
			if err := w.Alive(t.Context()); err != nil {
				return err.Error()
			}
			return ""
		}
		var leave func()
		for _, user := range []string{"a", "b"} {
			leave, _ = w.handler.working.acquire(t.Context(), user, user, time.Now(), time.Minute)
		}
		time.Sleep(stuckAfter) //nolint:forbidigo // the clock is the test's
		if why := alive(); why != "" {
			t.Errorf("after %s it is said: %s", stuckAfter, why)
		}
		time.Sleep(time.Second) //nolint:forbidigo // the clock is the test's
		if why := alive(); !strings.Contains(why, "2 reviews have not ended for 1m1s") {
			t.Errorf("after a second more it is said: %q", why)
		}
		leave()
		if why := alive(); why != "" {
			t.Errorf("with a place that is free it is said: %s", why)
		}
	})
}

// hung is a view whose lock is never given back.
type hung struct{ still }

func (hung) Snapshot() *cluster.Snapshot { select {} }

func TestAViewThatHangsIsNoticed(t *testing.T) {
	w := &Webhook{handler: &Handler{ruling: newSemaphore(1), working: newSemaphore(1)}}
	w.o.View = hung{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := w.Alive(ctx); err == nil || !strings.Contains(err.Error(), "view of the cluster does not answer") {
		t.Errorf("it is said: %v", err)
	}
}
