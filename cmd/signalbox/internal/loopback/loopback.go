// Package loopback serves pages on this machine only.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// Serve serves until the context is done.
func Serve(ctx context.Context, at net.Listener, pages http.Handler) error {
	web := &http.Server{Handler: pages, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = web.Close() // the process ends
	}()
	if err := web.Serve(at); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", at.Addr(), err)
	}
	return ctx.Err()
}

// Listen refuses addresses that others can reach: every caller acts with the rights of the kubeconfig.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, shell.Usagef("--listen is %q; expected host:port, as in 127.0.0.1:8377", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, shell.Usagef("--listen is %q, which others can reach, and the tools act with your rights; expected a loopback address, as in 127.0.0.1:8377", address)
	}
	at, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, shell.Usagef("listen at %s: %w", address, err)
	}
	return at, nil
}
