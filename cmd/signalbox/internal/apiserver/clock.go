package apiserver

import (
	"net/http"
	"sync/atomic"
	"time"
)

// ClockOf notes how far the clock of the API server is from ours, as its answers say.
type ClockOf struct {
	Next http.RoundTripper
	Now  func() time.Time
	Skew *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c ClockOf) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.Next.RoundTrip(r)
	if err == nil {
		if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			c.Skew.Store(int64(c.Now().Sub(at)))
		}
	}
	return answer, err
}
