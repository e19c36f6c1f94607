package main

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// controller puts the diagnosis controller together.
func (s *server) controller() (func(context.Context) error, error) {
	options, err := controller.FromConfig(s.settings)
	if err != nil {
		return nil, usagef("%w", err)
	}
	follow, err := s.signatures(&options)
	if err != nil {
		return nil, err
	}
	options.Snapshot = s.view.Snapshot
	options.Namespace = func(name string) (map[string]string, bool) {
		labels := s.view.Namespace(name)
		return labels, labels != nil
	}
	options.Metrics = s.registry
	m, err := ctrl.NewManager(s.config, manager.Options{
		Logger:                        s.log.WithName("controller"),
		Cache:                         controller.CacheOptions(),
		Metrics:                       metricsserver.Options{BindAddress: "0"}, // serve has its own
		HealthProbeBindAddress:        "0",
		LeaderElection:                s.settings.LeaderElection.Enabled,
		LeaderElectionID:              s.settings.LeaderElection.Name,
		LeaderElectionNamespace:       s.settings.Namespace,
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the controller: %w", err)
	}
	if err := controller.Add(m, options); err != nil {
		return nil, fmt.Errorf("prepare the controller: %w", err)
	}
	return func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return m.Start(ctx) })
		group.Go(func() error { return follow(ctx) })
		return group.Wait()
	}, nil
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
		if catalog, err = catalog.With(controller.KnownRules(), os.DirFS(folder)); err != nil {
			return nil, usagef("read signatures of %s: %w", folder, err)
		}
	}
	return catalog, nil
}
