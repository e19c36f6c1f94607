package webhook

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// mostBody is the largest body that is read. The API server takes objects of 3 MiB at most
	// (k8s.io/apiserver, pkg/server/config.go, MaxRequestBodyBytes), and an update brings two.
	mostBody = 7 << 20
	// mostInFlight bounds the bodies that are read, decoded or reviewed at the same time; a decoded
	// object takes some ten times its text.
	mostInFlight = 16 << 20
	// smallBody is what nearly all jobs stay below. They have a budget of their own, so that a few large
	// bodies do not stand before them.
	smallBody   = 256 << 10
	smallFlight = 8 << 20
	// leastBody is what a request weighs at least: its goroutines and answer.
	leastBody = 16 << 10
	// mostValues and smallValues bound the JSON values of bodies that are decoded and reviewed at the same time, of large bodies
	// and of small ones: three bytes of text are a value, and that takes some 300 bytes as an object, as the input of policies and
	// in what these make of it. A heavier request waits until no other does.
	mostValues  = 1 << 20
	smallValues = 1 << 19
	// mostArriving and smallArriving are what of that one address may hold with bodies that have not come yet.
	mostArriving  = mostInFlight / 2
	smallArriving = smallFlight / 8
)

// flight is one request from its arrival to the end of the last stage that works on it.
type flight struct {
	arrived time.Time
	author  string // empty: none is named
	holders atomic.Int32
	values  *budget
	end     func()
}

// weigh waits until the budget has so many values left, which is given back at the end. false: there is none in time. Only what
// holds the request and has begun nothing yet may call it, once.
func (f *flight) weigh(ctx context.Context, values int64) bool {
	n := min(values, f.values.most)
	waiting, cancel := context.WithDeadline(ctx, f.arrived.Add(patience))
	defer cancel()
	if f.values.acquire(waiting, f.author, n) != nil {
		return false
	}
	before := f.end
	f.end = func() { f.values.release(f.author, n); before() }
	return true
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

// full is what is said to a request that has waited long enough.
const full = "too much is being reviewed; try again"

// bounded lets in bodies as long as all that are in flight stay below a number of bytes, before more of them is read than says
// who asks. A request that waits too long is answered with 503; the API server takes that for a failed call.
func bounded(next http.Handler) http.Handler {
	large, small := newBudget(mostInFlight), newBudget(smallFlight)
	ofLarge, ofSmall := newBudget(mostValues), newBudget(smallValues)
	largeOf, smallOf := newBodyBudget(mostArriving), newBodyBudget(smallArriving)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		arrived := time.Now()
		// The body is due soon after its head, whenever that came. Only a recorder has no clock.
		_ = http.NewResponseController(w).SetReadDeadline(arrived.Add(2 * patience))
		weight := r.ContentLength
		if weight < 0 {
			weight = mostBody // not said: as much as there may be
		}
		if weight > mostBody {
			http.Error(w, "the body is larger than any admission review", http.StatusRequestEntityTooLarge)
			return
		}
		text := bufio.NewReaderSize(r.Body, headBytes)
		head, err := text.Peek(headBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			http.Error(w, "the body did not come", http.StatusBadRequest)
			return
		}
		held, of, f := large, largeOf, &flight{arrived: arrived, author: authorIn(head), values: ofLarge}
		if weight <= smallBody {
			held, of, weight, f.values = small, smallOf, max(weight, leastBody), ofSmall
		}
		f.end = func() { held.release(f.author, weight) }
		waiting, cancel := context.WithDeadline(r.Context(), f.arrived.Add(patience))
		defer cancel()
		come, err := of.acquire(waiting, r, f.author, weight)
		if err != nil {
			http.Error(w, full, http.StatusServiceUnavailable)
			return
		}
		defer come()
		if err := held.acquire(waiting, f.author, weight); err != nil {
			http.Error(w, full, http.StatusServiceUnavailable)
			return
		}
		ctx := context.WithValue(r.Context(), flightKey{}, f)
		defer hold(ctx)()
		r = r.WithContext(ctx)
		r.Body = &body{http.MaxBytesReader(w, again{text, r.Body}, mostBody), r.ContentLength, come}
		next.ServeHTTP(w, r)
	})
}
