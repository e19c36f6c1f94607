package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// stuckAfter is how long no review may end while all seats are taken. A stage has half a second, or a few
// where nobody waits for it.
const stuckAfter = time.Minute

// Alive is nil as long as a new process would do nothing better: the port answers, the view can be asked, and reviews
// end. What would only come to pass elsewhere (caches, a certificate, policies) is the matter of Ready.
func (w *Webhook) Alive(ctx context.Context) error {
	for _, p := range []*semaphore{w.handler.ruling, w.handler.working} {
		if d := p.stuck(); d > stuckAfter {
			return fmt.Errorf("%d reviews have not ended for %s, and no other can begin", p.most, d.Round(time.Second))
		}
	}
	seen := make(chan struct{})
	go func() {
		w.o.View.Snapshot()
		close(seen)
	}()
	select {
	case <-seen:
	case <-ctx.Done():
		return errors.New("the view of the cluster does not answer")
	}
	if w.stopping.Load() {
		return nil // the port is closed, as it should be
	}
	return w.answers(ctx)
}

// answers opens a connection to the webhook's own port, with TLS once there is a certificate.
func (w *Webhook) answers(ctx context.Context) error {
	address := w.listener.Addr().String()
	if host, port, err := net.SplitHostPort(address); err == nil && net.ParseIP(host).IsUnspecified() {
		address = net.JoinHostPort("localhost", port)
	}
	dial := (&net.Dialer{}).DialContext
	if w.o.Certificates.Ready() == nil {
		dial = (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext //nolint:gosec // whether it answers is asked, not who it is; nothing is sent
	}
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("the webhook's port: %w", err)
	}
	return c.Close()
}
