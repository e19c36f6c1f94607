package controller

import (
	"context"
	"errors"
	"sync"
)

// errCanceled says that a look was broken off, because its job has ended or gone meanwhile: somebody
// waits for what is to be said of that, and reading hundreds of logs first would take seconds. The
// event that ended it has asked for the next look already.
var errCanceled = errors.New("the job has ended meanwhile")

// inFlight are the diagnoses under way of jobs that had not ended.
type inFlight struct {
	mu    sync.Mutex
	stops map[Request]context.CancelCauseFunc // one at most for each job: requests of one key follow each other
}

// begin is a context that ends when the look has to give way.
func (l *inFlight) begin(ctx context.Context, key Request) (_ context.Context, end func()) {
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

// cancel breaks off the look at a job, if there is one.
func (l *inFlight) cancel(key Request) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if stop := l.stops[key]; stop != nil {
		stop(errCanceled)
	}
}
