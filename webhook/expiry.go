package webhook

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// CertificateEndsSoon is the reason of the Event (Warning) about a certificate that should have been renewed.
const CertificateEndsSoon = "CertificateEndsSoon"

const (
	// expiryEvery is how often certificates are looked at.
	expiryEvery = 10 * time.Minute
	// expiryAgain is how often the same is said again.
	expiryAgain = 24 * time.Hour
)

// expiry says when a certificate of the webhook ends soon: until it is renewed, once a day.
type expiry struct {
	announcer
	soon  func() string // certs.Source.EndsSoon
	about corev1.ObjectReference
	said  time.Time
}

func (e *expiry) run(ctx context.Context) error {
	wait.UntilWithContext(ctx, e.look, expiryEvery)
	return nil
}

func (e *expiry) look(ctx context.Context) {
	text := e.soon()
	if text == "" {
		e.said = time.Time{}
		return
	}
	if now := e.now(); e.said.IsZero() || now.Sub(e.said) >= expiryAgain {
		e.said = now
		e.say(ctx, e.about, corev1.EventTypeWarning, CertificateEndsSoon, text+"; once it has ended, jobs are admitted unreviewed, and refused where a namespace is closed on failure")
	}
}

// Notes are what is not well, though requests are answered: readiness says it, and stays.
func (w *Webhook) Notes() []string {
	if text := w.o.Certificates.EndsSoon(); text != "" {
		return []string{text}
	}
	return nil
}
