package main

import (
	"net/http"
	"sync/atomic"
	"time"
)

// clockOf notes how far the clock of the API server is from ours, as its answers say.
type clockOf struct {
	next http.RoundTripper
	now  func() time.Time
	skew *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c clockOf) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.next.RoundTrip(r)
	if err == nil {
		if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			c.skew.Store(int64(c.now().Sub(at)))
		}
	}
	return answer, err
}
