package main

import (
	"context"
	"fmt"

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
	if options.Catalog, err = signature.Builtin(); err != nil {
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
	return m.Start, nil
}
