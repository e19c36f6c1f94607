package webhook

import (
	"testing"
	"testing/synctest"
	"time"
)

// A goroutine that has come back is used again, one that has not is replaced, and those that are not needed end.
func TestWorkersStayForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w workers
		stuck, here, begun := make(chan struct{}), make(chan struct{}), 0
		do := func() { begun++; here <- struct{}{} }
		w.run(func() { <-stuck })
		for range 3 {
			w.run(do)
			<-here
			synctest.Wait() // it waits for the next
		}
		if begun != 3 {
			t.Errorf("%d were run; want all, whatever hangs", begun)
		}
		again := make(chan struct{})
		select {
		case w.next <- func() { close(again) }: // one is idle
			<-again
		default:
			t.Error("nobody waits for the next")
		}
		close(stuck)
		time.Sleep(idleFor) //nolint:forbidigo // the clock is the test's
		synctest.Wait()
		select {
		case w.next <- func() {}:
			t.Error("somebody waits whom nobody needs")
		default:
		}
	})
}
