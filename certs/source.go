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
	// EndsSoon says which certificate ends within 30 days and should have been renewed by now; empty: none.
	EndsSoon() string
}

// ErrNone says that no certificate has been found yet.
var ErrNone = errors.New("no certificate yet")

// held is the certificate in memory; what both sources have in common.
type held struct {
	now     func() time.Time
	current atomic.Pointer[tls.Certificate]
	ca      atomic.Pointer[x509.Certificate] // nil: cert-manager writes it
	expiry  *prometheus.GaugeVec             // nil: not measured
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

// soon is how long before its end a certificate should have been renewed.
const soon = 30 * 24 * time.Hour

// EndsSoon says which certificate ends within 30 days, or, where it lives for a short time, within less than a third of
// its life: both ways of renewing have been at it by then, and failed.
func (h *held) EndsSoon() string {
	now := h.now()
	said := func(what string, c *x509.Certificate) string {
		life := pair{cert: c}.made()
		third := c.NotAfter.Sub(life) / 3
		left := c.NotAfter.Sub(now)
		if left >= min(soon, third-third/20) { // a renewal that is due takes a moment
			return ""
		}
		if left <= 0 {
			return fmt.Sprintf("%s ended at %s", what, stamp(c.NotAfter))
		}
		return fmt.Sprintf("%s ends in %s, at %s", what, inDays(left), stamp(c.NotAfter))
	}
	if c := h.current.Load(); c != nil {
		if text := said("the certificate of the webhook", c.Leaf); text != "" {
			return text
		}
	}
	if c := h.ca.Load(); c != nil {
		return said("the CA of the webhook", c)
	}
	return ""
}

func inDays(d time.Duration) string {
	if days := int(d / (24 * time.Hour)); days > 1 {
		return fmt.Sprintf("%d days", days)
	}
	return d.Round(time.Minute).String()
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
