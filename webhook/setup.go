package webhook

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/config/mounted"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Options are the parts of a running webhook. Reviewer, View and Certificates are
// required.
type Options struct {
	Reviewer     Reviewer
	View         View                                                  // kept current by its maker
	Certificates certs.Source                                          // started by the webhook
	Policies     *PolicyMaps                                           // started by the webhook; nil: no policies from ConfigMaps
	Bundle       Bundle                                                // started by the webhook; nil: no policies from a registry
	Beside       []func(context.Context) error                         // run while the webhook does
	Jobs         *Jobs                                                 // started by the webhook; nil: no stored job is known
	Reviewed     *Reviewed                                             // started by the webhook; nil: what was reviewed is not recorded
	MayListNodes func(context.Context, authenticationv1.UserInfo) bool // nil: names of nodes are told to no user
	// MayWriteStatus says whether a user writes the status of jobs, as an operator does; nil: whoever is named among Operators.
	MayWriteStatus func(context.Context, authenticationv1.UserInfo, schema.GroupVersionResource, string) bool
	Precedence     *Precedence // nil: nothing gives way to reviews
	Operators      []string
	ClientCAFile   string               // certificates of those who may call; empty: anybody
	Events         kubernetes.Interface // for Events about certificates that end; nil: none are written
	Namespace      string               // our own, of those Events
	Closed         *Switch              // started by the webhook; nil: nothing is closed on failure
	Kinds          []*kinds.Kind
	Excluded       []string
	Deadline       time.Duration
	PolicyTime     time.Duration
	Concurrent     int
	Address        string       // "host:port" to listen on; empty: ":9443"
	Version        string       // of the program, for an answer to a user who asks
	Tracer         trace.Tracer // nil: nothing is traced
	Metrics        *Metrics
	Log            logr.Logger
}

// Bundle brings policies from a registry.
type Bundle interface {
	Start(context.Context) error
	Synced() bool // it has been asked for once, with whatever end
}

// Webhook is the server around a Handler. Make it with New.
type Webhook struct {
	o        Options
	handler  *Handler
	listener net.Listener
	stopping atomic.Bool
}

// New opens the port, so that an address that is taken is an error now. Run serves.
func New(ctx context.Context, o Options) (*Webhook, error) {
	o.Address = cmp.Or(o.Address, ":9443")
	if o.ClientCAFile != "" {
		if _, err := mounted.Certificates(o.ClientCAFile); err != nil {
			return nil, fmt.Errorf("read who may call the webhook: %w", err)
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.Address)
	if err != nil {
		return nil, fmt.Errorf("listen for admission requests: %w", err)
	}
	options := HandlerOptions{
		Reviewer: o.Reviewer, View: o.View, Kinds: o.Kinds, Operators: o.Operators, Deadline: o.Deadline,
		PolicyDeadline: o.PolicyTime, Concurrent: o.Concurrent, Excluded: o.Excluded, Reviewed: o.Reviewed, Tracer: o.Tracer, Metrics: o.Metrics, Log: o.Log, Version: o.Version, Precedence: o.Precedence,
	}
	options.MayListNodes, options.MayWriteStatus = o.MayListNodes, o.MayWriteStatus
	if o.Jobs != nil {
		options.Stored, options.Earlier = o.Jobs, o.Jobs.Earlier
	}
	return &Webhook{o: o, listener: listener, handler: NewHandler(options)}, nil
}

// Ready is nil when a request would be answered by a whole review: the caches have
// synced, the policies have been read and a valid certificate is in place.
func (w *Webhook) Ready() error {
	if w.stopping.Load() {
		return errors.New("the webhook is shutting down")
	}
	if err := w.o.Certificates.Ready(); err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	if why := w.o.View.Snapshot().Incomplete(); why != "" {
		return fmt.Errorf("cluster view: %s", why)
	}
	if !w.o.Policies.Synced() || w.o.Bundle != nil && !w.o.Bundle.Synced() {
		return errors.New("policies: not read yet")
	}
	return nil
}

// Run serves until the context is done and the last request is answered.
func (w *Webhook) Run(ctx context.Context) error {
	open := newConnections(mostConnections)
	server := w.server(open)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.o.Certificates.Start(ctx) })
	if w.o.Policies != nil {
		group.Go(func() error { return w.o.Policies.Start(ctx) })
	}
	for _, run := range w.o.Beside {
		group.Go(func() error { return run(ctx) })
	}
	if w.o.Bundle != nil {
		group.Go(func() error { return w.o.Bundle.Start(ctx) })
	}
	if w.o.Jobs != nil {
		group.Go(func() error { return w.o.Jobs.Start(ctx) })
	}
	// What is reviewed while the last calls are answered is told, too.
	answering, answered := context.WithCancel(context.WithoutCancel(ctx))
	if w.o.Reviewed != nil {
		group.Go(func() error { return w.o.Reviewed.Start(answering) })
	}
	ends := &expiry{
		announcer: announcer{client: w.o.Events, log: w.o.Log, now: time.Now}, soon: w.o.Certificates.EndsSoon,
		about: corev1.ObjectReference{APIVersion: "v1", Kind: "Service", Namespace: w.o.Namespace, Name: ServiceName},
	}
	group.Go(func() error { return ends.run(ctx) })
	if w.o.Closed != nil {
		group.Go(func() error { return w.o.Closed.Start(ctx) })
	}
	group.Go(func() error {
		defer answered()
		return w.listen(ctx, server, open)
	})
	return group.Wait()
}

// listen serves until the context is done, and then until no call is open.
func (w *Webhook) listen(ctx context.Context, server *http.Server, open *connections) error {
	ended := make(chan error, 1)
	go func() {
		err := server.Serve(tls.NewListener(open.counted(w.listener), w.tls()))
		if errors.Is(err, http.ErrServerClosed) {
			err = nil
		}
		ended <- err
	}()
	select {
	case err := <-ended:
		if err != nil {
			err = fmt.Errorf("serve admission requests: %w", err)
		}
		return err
	case <-ctx.Done():
	}
	w.stopping.Store(true)
	ctx = context.WithoutCancel(ctx)
	open.drained(ctx)
	server.RegisterOnShutdown(open.hangUp)
	// An answer is due after patience; nothing is open for longer.
	bounded, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	return server.Shutdown(bounded)
}

// server bounds what a caller may cost us. A body that is too large, or for which there is no room,
// gets an answer without the request's UID, which the API server takes for a failed call
// and, under Ignore, admits.
func (w *Webhook) server(open *connections) *http.Server {
	mux := http.NewServeMux()
	for path, handler := range map[string]admission.Handler{Path: w.handler, ClosedPath: failClosed{w.handler}} {
		mux.Handle(path, newDecoder(&admission.Webhook{
			Handler:        handler,
			LogConstructor: func(logr.Logger, *admission.Request) logr.Logger { return w.o.Log },
		}))
	}
	handler := bounded(mux) // one bound for all bodies
	if w.o.Tracer != nil {
		handler = caller(handler)
	}
	return &http.Server{
		Handler:           w.closing(handler),
		ConnState:         open.state,
		ReadHeaderTimeout: silence,
		WriteTimeout:      2 * patience, // a handshake, too
		IdleTimeout:       silence,
		MaxHeaderBytes:    1 << 16,
		ErrorLog:          log.New(quiet{w.o.Log}, "", 0),
	}
}

// tls takes the certificate from memory at each handshake. HTTP/2 stays off, as in
// controller-runtime's scaffolding since CVE-2023-44487: the API server asks what is behind a
// Service by HTTP/1.1 in any case, and a peer cannot multiply its requests on one connection.
//
// Where callers have to show a certificate, the file of those who sign them is read at each
// handshake: it may be renewed.
func (w *Webhook) tls() *tls.Config {
	c := &tls.Config{
		MinVersion:     tls.VersionTLS13,
		NextProtos:     []string{"http/1.1"},
		GetCertificate: w.o.Certificates.Certificate,
	}
	if w.o.ClientCAFile == "" {
		return c
	}
	strict := c.Clone()
	c.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		signers, err := mounted.Certificates(w.o.ClientCAFile)
		if err != nil {
			return nil, fmt.Errorf("read who may call the webhook: %w", err)
		}
		own := strict.Clone()
		own.ClientAuth, own.ClientCAs = tls.RequireAndVerifyClientCert, signers
		return own, nil
	}
	return c
}

// quiet passes net/http's complaints (a probe that hangs up, a scanner) on as detail.
type quiet struct{ log logr.Logger }

func (q quiet) Write(line []byte) (int, error) {
	q.log.V(1).Info("serve admission requests", "said", oneLine(string(line)))
	return len(line), nil
}
