package controller

import (
	"testing"
	"time"
)

func TestWhoAsksAllTheTimeLeavesWorkersToOthers(t *testing.T) {
	w := newWorld(t)
	w.Concurrency = 4
	w.job.SetAnnotations(map[string]string{Ask: "1"})
	var leave func()
	for range 2 {
		if leave, _ = w.asking.take(w.job.GetNamespace(), w.Concurrency, start); leave == nil {
			t.Fatal("no share of four workers")
		}
	}
	if again := w.reconcile(); again != askAgain || len(w.patches) != 0 {
		t.Errorf("looked at beside two others that were asked about: again after %s, %d writes", again, len(w.patches))
	}
	for range 100 {
		w.asking.take(w.job.GetNamespace(), w.Concurrency, start)
	}
	if _, again := w.asking.take(w.job.GetNamespace(), w.Concurrency, start); again < 10*time.Second {
		t.Errorf("the hundredth comes again after %s, like the first", again)
	}
	if other, _ := w.asking.take("other", w.Concurrency, start); other == nil {
		t.Error("another namespace has no share")
	}
	leave()
	if w.reconcile(); len(w.patches) != 1 {
		t.Errorf("%d writes once a worker was free; want 1", len(w.patches))
	}
	if left := w.asking.by[w.job.GetNamespace()].taken; left != 1 {
		t.Errorf("%d shares are taken; want 1", left)
	}
}
