// Package serve is the command serve: the admission webhook and the diagnosis controller in one process, with its metrics, health
// and log. Start reading at serve.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/config/tracing"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/webhook"
)

// New is the command serve.
func New(sh *shell.Shell) *cobra.Command {
	var file string
	var onlyWebhook, onlyController bool
	kube := apiserver.Flags()
	c := &cobra.Command{
		Use:     "serve [--webhook] [--controller] [--config FILE]",
		Short:   "run the admission webhook and the diagnosis controller",
		Example: fmt.Sprintf("  %[1]s serve --config config.yaml\n  %[1]s serve --controller --config config.yaml", sh.Name),
		Long: `Serve runs the server in a cluster: the admission webhook that reviews jobs and the
controller that writes diagnoses on them. Both run unless one is chosen.`,
		Args: shell.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			settings := config.Default()
			if file != "" {
				var err error
				if settings, err = config.Load(file); err != nil {
					return &shell.Exit{Code: shell.ExitUsage, Cause: err}
				}
			}
			both := onlyWebhook == onlyController
			return shell.Own(serve(c.Context(), sh, kube, settings, both || onlyWebhook, both || onlyController))
		},
	}
	c.Flags().StringVar(&file, "config", "", "`file` with settings; without it the defaults hold")
	c.Flags().BoolVar(&onlyWebhook, "webhook", false, "run the webhook only")
	c.Flags().BoolVar(&onlyController, "controller", false, "run the controller only")
	kube.AddFlags(c.Flags())
	return c
}

// server is what the parts of serve share.
type server struct {
	settings config.Config
	config   *rest.Config
	clients  live.Clients
	view     *live.Live
	registry *prometheus.Registry
	log      logr.Logger
	ready    []func() error
	alive    []func(context.Context) error
	notes    []func() []string    // what readiness says besides
	level    *slog.LevelVar       // of the log
	skew     func() time.Duration // of our clock ahead of the API server's
	sweep    *webhook.Sweep       // nil: this process has no webhook
	traces   *tracing.Provider    // nil: nothing is traced
	reviewed *webhook.Reviewed    // nil: this process has no webhook
	jobs     *webhook.Jobs        // nil: this process has no webhook
	first    *webhook.Precedence  // of its reviews; nil: this process has no webhook
	// diagnosing are the metrics of the manager that runs; nil: none has.
	diagnosing atomic.Pointer[prometheus.Registry]
}

// Gather implements prometheus.Gatherer: what every part counts, and what controller-runtime does of the
// process, of Go, of queues, leases and calls of the API server.
func (s *server) Gather() ([]*dto.MetricFamily, error) {
	all := prometheus.Gatherers{s.registry, metrics.Registry}
	if now := s.diagnosing.Load(); now != nil {
		all = append(all, now)
	}
	return all.Gather()
}

// serve runs until the context is done and everything has come to rest.
func serve(ctx context.Context, sh *shell.Shell, kube *genericclioptions.ConfigFlags, settings config.Config, admission, diagnosis bool) error {
	log, level := newLog(sh.Err, settings.Log)
	klog.SetLogger(log)
	ctrl.SetLogger(log)
	if limit, why := boundMemory(); limit > 0 {
		log.Info("the heap is kept below", "bytes", limit, "of", why)
	}
	if _, _, err := apiserver.Configured(kube); err != nil {
		return shell.Usagef("serve answers for a cluster: %w; expected a kubeconfig that names one, or a pod with a service account", err)
	}
	connection, err := kube.ToRESTConfig()
	if err != nil {
		return shell.Usagef("read kubeconfig: %w", err)
	}
	connection = rest.CopyConfig(connection)
	// Informers ask seldom; the controller reads the logs of a whole job at once. The API server
	// protects itself (priority and fairness), and what runs at the same time is bounded here.
	connection.QPS = -1
	connection.UserAgent = "signalbox/" + build.Read().Version
	var skew atomic.Int64
	connection.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return apiserver.ClockOf{Next: next, Now: time.Now, Skew: &skew}
	})
	clients, err := live.Connect(connection)
	if err != nil {
		return err
	}
	s := &server{settings: settings, config: connection, clients: clients, registry: newRegistry(), log: log, level: level}
	s.skew = func() time.Duration { return time.Duration(skew.Load()) }
	s.view = live.New(clients, live.Options{})
	s.ready = append(s.ready, s.viewReady)
	group, ctx := errgroup.WithContext(ctx)
	if t := settings.Tracing; t.Endpoint != "" {
		if s.traces, err = tracing.New(tracing.Options{
			Endpoint: t.Endpoint, Sample: t.Sample, TokenFile: t.TokenFile, CAFile: t.CAFile, Version: build.Read().Version, Log: log.WithName("tracing"),
		}); err != nil {
			return &shell.Exit{Code: shell.ExitUsage, Cause: err}
		}
		group.Go(func() error { return s.traces.Start(ctx) })
	}
	if admission {
		run, err := s.webhook(ctx, diagnosis)
		if err != nil {
			return err
		}
		group.Go(func() error { return run(ctx) })
	}
	if diagnosis {
		run, err := s.controller()
		if err != nil {
			return err
		}
		group.Go(func() error { return run(ctx) })
	}
	for _, endpoint := range []struct {
		what, address string
		handler       http.Handler
	}{
		{"metrics", settings.Listen.Metrics, promhttp.HandlerFor(s, promhttp.HandlerOpts{})},
		{"health", settings.Listen.Health, s.health()},
		{"debug", settings.Listen.Debug, s.debug()},
	} {
		if err := listen(ctx, group, endpoint.what, endpoint.address, endpoint.handler); err != nil {
			return err
		}
	}
	group.Go(func() error { collectSooner(ctx); return nil })
	group.Go(func() error { return s.view.Start(ctx) })
	log.Info("serving", "version", build.Read().Version, "webhook", admission, "controller", diagnosis)
	err = group.Wait()
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	log.Info("stopped")
	return err
}

func (s *server) viewReady() error {
	if s.view.Synced() {
		return nil
	}
	why := "cluster view: " + s.view.Snapshot().Incomplete()
	if problems := s.view.Problems(); len(problems) > 0 {
		why += "; " + problems[0]
	}
	return errors.New(why)
}

// aliveWithin is how long the parts have to say that they are alive; the probe waits a second longer.
const aliveWithin = 4 * time.Second

// health answers the kubelet: alive when no part hangs, ready when every part is.
func (s *server) health() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), aliveWithin)
		defer cancel()
		for _, alive := range s.alive {
			if err := alive(ctx); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		answer(w)
	})
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		for _, ready := range s.ready {
			if err := ready(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		answer(w)
		for _, notes := range s.notes {
			for _, note := range notes() {
				_, _ = io.WriteString(w, note+"\n")
			}
		}
	})
	return mux
}

// answer says ok; the caller may have gone.
func answer(w io.Writer) { _, _ = io.WriteString(w, "ok\n") }

// listen serves one plain endpoint; the address "0" turns it off.
func listen(ctx context.Context, group *errgroup.Group, what, address string, handler http.Handler) error {
	if address == "0" || address == "" {
		return nil
	}
	if what == "metrics" {
		mux := http.NewServeMux()
		mux.Handle("/metrics", handler)
		handler = mux
	}
	socket, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen for %s: %w", what, err)
	}
	s := webhook.Plain(handler)
	if what == "debug" { // for who is in the pod; a profile takes as long as was asked for
		s = &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	}
	group.Go(func() error {
		if err := s.Serve(socket); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve %s: %w", what, err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return s.Shutdown(bounded)
	})
	return nil
}

// buildMetric says what runs: joined to other metrics, it tells versions apart.
const buildMetric = "signalbox_build_info"

func buildInfo() *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: buildMetric, Help: "1, with the version of the program and of Go."}, []string{"version", "go"})
}

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	info := buildInfo()
	info.WithLabelValues(build.Read().Version, build.Read().Go).Set(1)
	r.MustRegister(info)
	return r
}

// newLog is the log of the server, and its level, which may change.
func newLog(to io.Writer, settings config.Log) (logr.Logger, *slog.LevelVar) {
	level := &slog.LevelVar{}
	_ = level.UnmarshalText([]byte(settings.Level)) // the configuration has checked it
	options := &slog.HandlerOptions{Level: level}
	if settings.Format == "json" {
		return logr.FromSlogHandler(slog.NewJSONHandler(escapedJSON{to}, options)), level
	}
	return logr.FromSlogHandler(slog.NewTextHandler(to, options)), level
}

// escapedJSON writes lines of JSON with hidden characters as escapes: kubectl logs shows them on a terminal.
type escapedJSON struct{ to io.Writer }

// Write implements io.Writer.
func (e escapedJSON) Write(line []byte) (int, error) {
	if _, err := e.to.Write(shell.EscapeJSON(line)); err != nil {
		return 0, err
	}
	return len(line), nil
}

var _ webhook.View = (*live.Live)(nil)
