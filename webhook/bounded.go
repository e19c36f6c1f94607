package webhook

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// mostBody is the largest body that is read. The API server takes objects of 3 MiB at most
	// (k8s.io/apiserver, pkg/server/config.go, MaxRequestBodyBytes), and an update brings two.
	mostBody = 7 << 20
	// mostInFlight bounds the bodies that are read, decoded or reviewed at the same time; a decoded
	// object takes some ten times its text.
	mostInFlight = 16 << 20
	// smallBody is what nearly all jobs stay below. They have room of their own, so that a few large
	// bodies do not stand before them.
	smallBody   = 256 << 10
	smallFlight = 8 << 20
	// leastBody is what a request weighs at least: its goroutines and answer.
	leastBody = 16 << 10
	// mostArriving and smallArriving are what of that one address may hold with bodies that have not come yet.
	mostArriving  = mostInFlight / 2
	smallArriving = smallFlight / 8
)

// flight is one request from its arrival to the end of the last stage that works on it.
type flight struct {
	arrived time.Time
	holders atomic.Int32
	end     func()
}

type flightKey struct{}

// arrival is when the request came in.
func arrival(ctx context.Context) time.Time {
	if f, ok := ctx.Value(flightKey{}).(*flight); ok {
		return f.arrived
	}
	return time.Now()
}

// hold keeps the weight of the request until the returned function is called.
func hold(ctx context.Context) (drop func()) {
	f, ok := ctx.Value(flightKey{}).(*flight)
	if !ok {
		return func() {}
	}
	f.holders.Add(1)
	return f.drop
}

func (f *flight) drop() {
	if f.holders.Add(-1) == 0 {
		f.end()
	}
}

// bounded lets in bodies as long as all that are in flight stay below a number of bytes, before one
// byte of them is read. Whoever waits too long is told to come again; the API server takes that for
// a failed call.
func bounded(next http.Handler) http.Handler {
	large, small := semaphore.NewWeighted(mostInFlight), semaphore.NewWeighted(smallFlight)
	largeOf, smallOf := newArriving(mostArriving), newArriving(smallArriving)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The body is due soon after its head, whenever that came. Only a recorder has no clock.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(2 * patience))
		weight := r.ContentLength
		if weight < 0 {
			weight = mostBody // not said: as much as there may be
		}
		if weight > mostBody {
			http.Error(w, "the body is larger than any admission review", http.StatusRequestEntityTooLarge)
			return
		}
		room, of := large, largeOf
		if weight <= smallBody {
			room, of, weight = small, smallOf, max(weight, leastBody)
		}
		f := &flight{arrived: time.Now(), end: func() { room.Release(weight) }}
		waiting, cancel := context.WithDeadline(r.Context(), f.arrived.Add(patience))
		defer cancel()
		const full = "too much is being reviewed; try again"
		come, err := of.take(waiting, r, weight)
		if err != nil {
			http.Error(w, full, http.StatusServiceUnavailable)
			return
		}
		defer come()
		if err := room.Acquire(waiting, weight); err != nil {
			http.Error(w, full, http.StatusServiceUnavailable)
			return
		}
		ctx := context.WithValue(r.Context(), flightKey{}, f)
		defer hold(ctx)()
		r = r.WithContext(ctx)
		r.Body = body{http.MaxBytesReader(w, r.Body, mostBody), come}
		next.ServeHTTP(w, r)
	})
}
