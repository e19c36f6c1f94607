package serve

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/policies/oci"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/webhook"
)

// webhook puts the admission webhook together; its port is open when this returns. Where the controller runs, too, it looks
// at the jobs that the webhook follows.
func (s *server) webhook(ctx context.Context, diagnosis bool) (func(context.Context) error, error) {
	tuned, err := tuning.Of(s.settings.Checks)
	if err != nil {
		return nil, err
	}
	covered, err := tuning.SelectedKinds(s.settings.Kinds)
	if err != nil {
		return nil, err
	}
	metrics, err := webhook.NewMetrics(s.registry)
	if err != nil {
		return nil, err
	}
	engine, err := policies.Load(policies.Library()) //nolint:contextcheck // compiling policies blocks on nothing
	if err != nil {
		return nil, err
	}
	certificates, err := s.certificates()
	if err != nil {
		return nil, err
	}
	var others webhook.Others
	if diagnosis {
		others = webhook.Others{Pack: controller.Keep, Managers: controller.ReadsManagers}
	}
	asked, record := s.recorded(engine)
	options := webhook.Options{
		Reviewer:       webhook.Stages(&preflight.Reviewer{Checks: tuned.Everywhere, Namespaces: tuned.In, Policies: asked}),
		Beside:         record,
		Jobs:           webhook.NewJobs(s.clients, covered, others, s.log.WithName("jobs")),
		Reviewed:       webhook.NewReviewed(s.clients.Kube, s.settings.Namespace, s.log.WithName("reviewed")),
		MayListNodes:   webhook.MayListNodes(s.clients.Kube),
		MayWriteStatus: webhook.MayWriteStatus(s.clients.Kube),
		Precedence:     &webhook.Precedence{},
		Operators:      s.settings.Webhook.Operators,
		ClientCAFile:   s.settings.Webhook.ClientCAFile,
		Excluded:       append([]string{s.settings.Namespace}, s.settings.Webhook.Exclude...),
		View:           s.view,
		Certificates:   certificates,
		Kinds:          covered,
		Deadline:       time.Duration(s.settings.Webhook.Deadline),
		PolicyTime:     time.Duration(s.settings.Webhook.PolicyDeadline),
		Concurrent:     s.settings.Webhook.Concurrency,
		Address:        s.settings.Listen.Webhook,
		Version:        build.Read().Version,
		Events:         s.clients.Kube,
		Namespace:      s.settings.Namespace,
		Metrics:        metrics,
		Log:            s.log.WithName("webhook"),
	}
	s.policies(&options, engine, metrics)
	if s.traces != nil {
		options.Tracer = s.traces.Tracer("signalbox/webhook")
	}
	if s.settings.Webhook.Closed.Enabled {
		options.Closed = webhook.NewSwitch(webhook.SwitchOptions{
			Client: s.clients.Kube, Namespace: s.settings.Namespace, Deployment: "signalbox", Metrics: metrics, Log: s.log.WithName("closed"),
		})
	}
	w, err := webhook.New(ctx, options)
	if err != nil {
		return nil, err
	}
	s.reviewed, s.jobs, s.first = options.Reviewed, options.Jobs, options.Precedence
	s.sweep = webhook.NewSweep(webhook.SweepOptions{
		Reviewer: options.Reviewer, View: s.view, Policies: options.Policies, Jobs: options.Jobs, Reviewed: options.Reviewed,
		Kube: s.clients.Kube, Dynamic: s.clients.Dynamic, Excluded: options.Excluded, Metrics: metrics, Log: s.log.WithName("sweep"),
		Skew: s.skew, Precedence: s.first,
	})
	s.ready, s.alive, s.notes = append(s.ready, w.Ready), append(s.alive, w.Alive), append(s.notes, w.Notes)
	return w.Run, nil
}

// recorded is the engine with whatever records its decisions.
func (s *server) recorded(engine preflight.Engine) (preflight.Engine, []func(context.Context) error) {
	d := s.settings.Policies.Decisions
	if d.Dir == "" {
		return engine, nil
	}
	name, err := os.Hostname()
	if err != nil {
		name = "signalbox"
	}
	clk, log := clock.RealClock{}, s.log.WithName("decisions")
	to := &policies.Folder{Dir: d.Dir, Name: name, Bytes: d.Bytes, Keep: time.Duration(d.Keep)}
	r := policies.NewRecorder(to.Write, map[string]string{"app": "signalbox", "id": name, "version": build.Version}, clk.Now)
	write := func(ctx context.Context) error {
		return r.Start(ctx, func(err error) { log.Error(err, "record decisions", "dropped", r.Dropped()) })
	}
	return r.Around(engine), []func(context.Context) error{write}
}

// policies adds the places that policies come from besides the library.
func (s *server) policies(to *webhook.Options, engine *policies.OPA, metrics *webhook.Metrics) {
	metrics.Revision(engine.Revision())
	sources, log := policies.NewSources(engine, policies.Library()), s.log.WithName("policies")
	if s.settings.Policies.ConfigMaps {
		to.Policies = webhook.NewPolicyMaps(s.clients.Kube, s.settings.Namespace, sources.Source("ConfigMaps"), metrics, log)
	}
	b := s.settings.Policies.Bundle
	if b.Reference == "" {
		return
	}
	into := sources.Source("bundle")
	to.Bundle = oci.New(oci.Options{
		Place: oci.Place{Reference: b.Reference, Credentials: b.Credentials, CA: b.CA, PlainHTTP: b.PlainHTTP},
		Key:   b.Key, Interval: time.Duration(b.Interval), Into: into, Client: s.clients.Kube, Namespace: s.settings.Namespace,
		Label: webhook.PolicyLabel, Annotation: webhook.PolicyErrorAnnotation, Log: log,
		Loaded: func(err error) {
			metrics.Bundle(err)
			metrics.Revision(into.Revision())
		},
	})
}

// certificates is where the webhook's certificate comes from.
func (s *server) certificates() (certs.Source, error) {
	c := s.settings.Certificates
	expiry := certs.Expiry()
	if err := s.registry.Register(expiry); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	log := s.log.WithName("certs")
	if c.Mode == "files" {
		return certs.NewFiles(c.Dir, clock.RealClock{}, expiry, log), nil
	}
	hosts := c.Hosts
	if len(hosts) == 0 {
		service := c.Service + "." + s.settings.Namespace
		hosts = []string{service + ".svc", service + ".svc.cluster.local", service, c.Service}
	}
	configurations := []string{c.WebhookConfiguration}
	if s.settings.Webhook.Closed.Enabled {
		configurations = append(configurations, webhook.ClosedConfigurationName)
	}
	return certs.NewAuthority(certs.Options{
		Client: s.clients.Kube, Namespace: s.settings.Namespace, Secret: c.Secret,
		Configurations: slices.DeleteFunc(configurations, func(name string) bool { return name == "" }), Hosts: hosts, Expiry: expiry, Log: log,
	}), nil
}
