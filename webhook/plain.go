package webhook

import (
	"net/http"
	"time"
)

const (
	// plainConnections is how many connections may be open to a port for metrics or for probes, and plainRequests how many are
	// answered at the same time: Prometheus, its second replica, the kubelet and somebody who looks.
	plainConnections = 256
	plainRequests    = 4
	// plainHeader and plainAnswer are when a head has to have come, and when an answer has to have been taken: Prometheus gives up
	// after ten seconds (https://prometheus.io/docs/prometheus/latest/configuration/configuration/, scrape_timeout).
	plainHeader = 5 * time.Second
	plainAnswer = 10 * time.Second
	// plainBody is what is read of a body that nobody asked for.
	plainBody = 1 << 10
)

// Plain is a server for what needs no certificate, metrics and probes, which every client may ask that reaches its port. Nobody keeps
// others from asking: connections are bounded as the webhook's are, one address has half of the requests, and the other half is given
// to the address that has fewest.
func Plain(handler http.Handler) *http.Server {
	running := newBudget(plainRequests)
	few := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := addressOf(r.RemoteAddr)
		if running.acquire(r.Context(), from, 1) != nil {
			return // the caller waits no more
		}
		defer running.release(from, 1)
		r.Body = http.MaxBytesReader(w, r.Body, plainBody)
		handler.ServeHTTP(w, r)
	})
	open := newConnections(plainConnections)
	s := &http.Server{
		Handler:           few,
		ConnState:         open.state,
		ReadHeaderTimeout: plainHeader,
		ReadTimeout:       plainAnswer,
		WriteTimeout:      plainAnswer,
		IdleTimeout:       silence,
		MaxHeaderBytes:    1 << 12,
	}
	s.RegisterOnShutdown(open.hangUp) // it would wait for those who have asked nothing yet
	return s
}
