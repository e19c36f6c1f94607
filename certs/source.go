package certs

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Source has the certificate that the webhook serves with. Certificate and Ready may be
// called at any time; before Start has found a certificate they say so.
type Source interface {
	// Start keeps the certificate current until the context is done.
	Start(context.Context) error
	// Certificate is for tls.Config.GetCertificate.
	Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// Ready is nil while a certificate is in place that clients accept today.
	Ready() error
}

// ErrNone says that no certificate has been found yet.
var ErrNone = errors.New("no certificate yet")

// held is the certificate in memory; what both sources have in common.
type held struct {
	now     func() time.Time
	current atomic.Pointer[tls.Certificate]
	expiry  *prometheus.GaugeVec // nil: not measured
}

func (h *held) hold(c *tls.Certificate) {
	h.current.Store(c)
	h.observe("serving", c.Leaf)
}

func (h *held) observe(what string, c *x509.Certificate) {
	if h.expiry != nil {
		h.expiry.WithLabelValues(what).Set(float64(c.NotAfter.Unix()))
	}
}

// Certificate is for tls.Config.GetCertificate.
func (h *held) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c := h.current.Load()
	if c == nil {
		return nil, ErrNone
	}
	return c, nil
}

// Ready is nil while a certificate is in place that clients accept today.
func (h *held) Ready() error {
	c := h.current.Load()
	if c == nil {
		return ErrNone
	}
	switch now := h.now(); {
	case now.Before(c.Leaf.NotBefore):
		return fmt.Errorf("the certificate is valid from %s; it is %s", stamp(c.Leaf.NotBefore), stamp(now))
	case now.After(c.Leaf.NotAfter):
		return fmt.Errorf("the certificate expired at %s; it is %s", stamp(c.Leaf.NotAfter), stamp(now))
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Expiry is the metric that tells when certificates end; register it once.
func Expiry() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: ExpiryMetric, Help: ExpiryHelp}, []string{"certificate"})
}

// Name and text of the metric, for the reference.
const (
	ExpiryMetric = "signalbox_certificate_expiry_timestamp_seconds"
	ExpiryHelp   = "When a certificate ends, in seconds since 1970; certificate is serving or ca."
)
