package controller

import (
	"context"
	"errors"
	"sync"
)

// errGaveWay says that a look was broken off, because its job has ended or gone meanwhile: somebody
// waits for what is to be said of that, and reading hundreds of logs first would take seconds. The
// event that ended it has asked for the next look already.
var errGaveWay = errors.New("the job has ended meanwhile")

// looks are those under way at jobs that had not ended.
type looks struct {
	mu    sync.Mutex
	stops map[Request]context.CancelCauseFunc // one at most for each job: requests of one key follow each other
}

// begin is a context that ends when the look has to give way.
func (l *looks) begin(ctx context.Context, key Request) (_ context.Context, end func()) {
	ctx, stop := context.WithCancelCause(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stops == nil {
		l.stops = map[Request]context.CancelCauseFunc{}
	}
	l.stops[key] = stop
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.stops, key)
		stop(nil)
	}
}

// giveWay breaks off the look at a job, if there is one.
func (l *looks) giveWay(key Request) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if stop := l.stops[key]; stop != nil {
		stop(errGaveWay)
	}
}
