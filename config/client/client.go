// Package client makes what calls the servers that settings name: collectors, receivers, registries. Start reading at New.
package client

import (
	"crypto/tls"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/config/mounted"
)

// New is a client whose calls end within a time, and that follows no redirect: a token goes where it was meant to.
func New(caFile string, within time.Duration) (*http.Client, error) {
	transport, err := Transport(caFile)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: transport, Timeout: within,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Transport checks servers against the certificates of a file in PEM, or against the system's where it names none. The
// file is read now: a new one counts from the next transport on. One connection waits a minute for the next call.
func Transport(caFile string) (*http.Transport, error) {
	trusted := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile != "" {
		roots, err := mounted.Certificates(caFile)
		if err != nil {
			return nil, err
		}
		trusted.RootCAs = roots
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: trusted, IdleConnTimeout: time.Minute, MaxIdleConns: 1}, nil
}
