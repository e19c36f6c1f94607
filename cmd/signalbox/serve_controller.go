package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	controllerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// controller puts the diagnosis controller together. Its manager is made anew whenever it ends: a
// lease that was lost, or an API server that does not answer, ends the manager and nothing else. The
// webhook of this process goes on.
func (s *server) controller() (func(context.Context) error, error) {
	options, err := controller.FromConfig(s.settings)
	if err != nil {
		return nil, &exit{exitUsage, err}
	}
	follow, err := s.signatures(&options)
	if err != nil {
		return nil, err
	}
	options.Snapshot = s.view.Snapshot
	if options.Review, err = s.reviewForOutcomes(); err != nil {
		return nil, err
	}
	options.Said, options.GiveWay = s.said, s.first.GiveWay
	options.Namespace = func(name string) (map[string]string, bool) {
		labels := s.view.Namespace(name)
		return labels, labels != nil
	}
	if s.traces != nil {
		options.Tracer = s.traces.Tracer("signalbox/diagnosis")
	}
	told, err := s.notifier()
	if err != nil {
		return nil, err
	}
	if told != nil {
		options.Notify = func(n controller.Notice) { told.Tell(failureOf(n)) }
	}
	options.Runbook = runbooks(s.settings.Runbooks).ofEvent
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return told.Start(ctx) })
		group.Go(func() error {
			again(ctx, s.log.WithName("controller"), time.Second, func(ctx context.Context) error { return s.lead(ctx, options) })
			return nil
		})
		group.Go(func() error { return follow(ctx) })
		return group.Wait()
	}, nil
}

// reviewTime bounds what the controller asks the checks of one new job.
const reviewTime = 2 * time.Second

// reviewForOutcomes is what admission says of a job, for the controller to remember: the checks as they are
// tuned, without policies, on the view of the cluster that the webhook looks at.
func (s *server) reviewForOutcomes() (func(context.Context, *unstructured.Unstructured) ([]controller.Warning, bool), error) {
	tuned, err := tune(s.settings.Checks)
	if err != nil {
		return nil, err
	}
	reviewer := &preflight.Reviewer{Checks: tuned.everywhere, Namespaces: tuned.in}
	return func(ctx context.Context, u *unstructured.Unstructured) ([]controller.Warning, bool) {
		if says, known := s.said(u); known {
			return says, true
		}
		ctx, stop := context.WithTimeout(ctx, reviewTime)
		defer stop()
		report, err := reviewer.Review(ctx, preflight.Request{
			Object: u, Cluster: s.view.Snapshot(), Namespace: s.view.Namespace(u.GetNamespace()), Operation: "CREATE", Live: true, Admission: true,
		})
		if err != nil {
			return nil, false
		}
		return warningsOf(report.Findings), true
	}, nil
}

// said is what the webhook of this process warned of in a job, seconds ago.
func (s *server) said(u *unstructured.Unstructured) ([]controller.Warning, bool) {
	found, known := s.reviewed.Found(u)
	return warningsOf(found), known
}

// warningsOf are the first of each check that says more than a hint.
func warningsOf(found []finding.Finding) (out []controller.Warning) {
	for _, f := range found {
		if f.Severity >= finding.Warning && !slices.ContainsFunc(out, func(w controller.Warning) bool { return w.Check == f.Check }) {
			out = append(out, controller.Warning{Check: f.Check, Says: f.Message})
		}
	}
	return out
}

// lead runs one manager until it ends.
func (s *server) lead(ctx context.Context, options controller.Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	counts := prometheus.NewRegistry() // its own: those of the last manager are gone with it
	options.Metrics = counts
	m, err := ctrl.NewManager(s.config, manager.Options{
		Logger:                        s.log.WithName("controller"),
		Cache:                         controller.CacheOptions(s.clients.Kube, s.followed),
		Controller:                    controllerconfig.Controller{SkipNameValidation: new(true)}, // the name is used again
		Metrics:                       metricsserver.Options{BindAddress: "0"},                    // serve has its own
		HealthProbeBindAddress:        "0",
		LeaderElection:                s.settings.LeaderElection.Enabled,
		LeaderElectionID:              s.settings.LeaderElection.Name,
		LeaderElectionNamespace:       s.settings.Namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return fmt.Errorf("prepare the controller: %w", err)
	}
	if err := controller.Add(ctx, m, options); err != nil {
		return fmt.Errorf("prepare the controller: %w", err)
	}
	if s.sweep != nil {
		if err := m.Add(manager.RunnableFunc(s.sweep.Run)); err != nil {
			return fmt.Errorf("prepare the controller: %w", err)
		}
	}
	s.diagnosing.Store(counts)
	return m.Start(ctx)
}

// followed is the informer of the webhook of this process that follows jobs of a kind; nil: none does.
func (s *server) followed(kind schema.GroupVersionKind) cache.SharedIndexInformer {
	if s.jobs == nil {
		return nil
	}
	return s.jobs.Informer(kind)
}

// mostWait is how long the controller is away at most once what stopped it is over.
const mostWait = 30 * time.Second

// again runs something until the context is done; where it ends before, it waits a little and runs it
// anew, longer each time that it ends at once.
func again(ctx context.Context, log logr.Logger, wait time.Duration, run func(context.Context) error) {
	for least := wait; ; wait = min(2*wait, mostWait) {
		begun := time.Now()
		err := run(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > mostWait {
			wait = least
		}
		log.Error(err, "the controller ended; it is started again", "after", wait.String())
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// signatures puts the catalog together: the program's own, the folder's, and, followed while
// the server runs, those of ConfigMaps.
func (s *server) signatures(options *controller.Options) (follow func(context.Context) error, err error) {
	var folders []string
	if s.settings.Signatures.Dir != "" {
		folders = append(folders, s.settings.Signatures.Dir)
	}
	if options.Catalog, err = catalogWith(folders); err != nil {
		return nil, err
	}
	if !s.settings.Signatures.ConfigMaps {
		return func(context.Context) error { return nil }, nil
	}
	options.Signatures = signature.NewLive(options.Catalog)
	maps, err := controller.NewSignatureMaps(s.clients.Kube, s.settings.Namespace, options.Catalog, options.Signatures, s.registry, s.log.WithName("signatures"))
	if err != nil {
		return nil, err
	}
	return maps.Start, nil
}

// catalogWith is the program's catalog and the signatures of folders.
func catalogWith(folders []string) (*signature.Catalog, error) {
	catalog, err := signature.Builtin()
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			return nil, usagef("read signatures %s: expected a folder of <id>.yaml", folder)
		}
		if catalog, err = catalog.With(controller.KnownRules(), folderOf(folder)); err != nil {
			return nil, usagef("read signatures of %s: %w", folder, err)
		}
	}
	return catalog, nil
}
