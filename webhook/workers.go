package webhook

import (
	"sync"
	"time"
)

// workers run stages of reviews in goroutines that stay for the next ones: the stack of a new one grows four times in a
// review, and is copied each time. One that does not come back is not missed. The zero value is ready.
type workers struct {
	once sync.Once
	next chan func() // taken by one that is idle
}

// idleFor is how long a worker waits for the next stage.
const idleFor = 5 * time.Second

// run runs something in a goroutine; it must not panic.
func (w *workers) run(do func()) {
	w.once.Do(func() { w.next = make(chan func()) })
	select {
	case w.next <- do:
	default:
		go w.work(do)
	}
}

func (w *workers) work(do func()) {
	idle := time.NewTimer(idleFor)
	defer idle.Stop()
	for {
		do()
		do = nil // what it holds is garbage
		idle.Reset(idleFor)
		select {
		case do = <-w.next:
		case <-idle.C:
			return
		}
	}
}
