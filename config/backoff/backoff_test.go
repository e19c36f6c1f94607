package backoff

import (
	"testing"
	"time"
)

func TestWhatIsTakenAwayIsWrittenLessAndLess(t *testing.T) {
	var w Written[string]
	now := time.Unix(0, 0)
	for pause := First; pause < mostPause; pause *= 2 {
		w.Note("a", now)
		if got := w.Wait("a", now); got != pause {
			t.Errorf("the pause is %s; want %s", got, pause)
		}
		now = now.Add(pause)
	}
	for range 2 { // and no longer
		w.Note("a", now)
		if got := w.Wait("a", now); got != mostPause {
			t.Errorf("the pause is %s; want %s", got, mostPause)
		}
	}
	if got := w.Wait("b", now); got != 0 {
		t.Errorf("what is new waits for %s", got)
	}
	if w.Note("a", now.Add(2*mostPause)); w.pause != mostPause {
		t.Errorf("after %s the pause is %s; want %s", 2*mostPause, w.pause, mostPause)
	}
	if w.Note("a", now.Add(4*mostPause+1)); w.pause != First {
		t.Errorf("later the pause is %s; want %s", w.pause, First)
	}
}
