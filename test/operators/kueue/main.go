// Command kueue runs Kueue: its controllers, its scheduler and its webhooks, unchanged.
//
// Kueue's own main wants a certificate for its metrics in /etc/kueue/metrics/certs, a constant, or it makes
// certificates itself and rewrites the caBundle of its webhooks. This main serves no metrics and takes the
// webhooks' certificate from a folder of the caller's choice. What is behind feature gates that the caller
// switches off (several clusters) or that are off (devices) is left out.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	configv1beta1 "sigs.k8s.io/kueue/apis/config/v1beta1"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueuev1beta1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	kueueapi "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/config"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/controller/jobframework"
	_ "sigs.k8s.io/kueue/pkg/controller/jobs" // every kind of job registers itself
	"sigs.k8s.io/kueue/pkg/controller/tas"
	tasindexer "sigs.k8s.io/kueue/pkg/controller/tas/indexer"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/kubeversion"
	"sigs.k8s.io/kueue/pkg/webhooks"
)

func main() {
	file := flag.String("config", "", "Kueue's configuration file") // --kubeconfig is controller-runtime's own flag
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(ctrl.SetupSignalHandler(), *file); err != nil {
		fmt.Fprintln(os.Stderr, "kueue:", err)
		os.Exit(1)
	}
}

func scheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, schedulingv1.AddToScheme, kueueapi.AddToScheme, kueuev1beta1.AddToScheme,
		configapi.AddToScheme, configv1beta1.AddToScheme,
	} {
		utilruntime.Must(add(s))
	}
	utilruntime.Must(jobframework.ForEachIntegration(func(_ string, c jobframework.IntegrationCallbacks) error {
		if c.AddToScheme == nil {
			return nil
		}
		return c.AddToScheme(s)
	}))
	return s
}

func run(ctx context.Context, file string) error {
	options, cfg, err := config.Load(scheme(), file)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	if err := config.LoadAndValidateFeatureGates("", cfg.FeatureGates).ToAggregate(); err != nil {
		return fmt.Errorf("set feature gates: %w", err)
	}
	if err := config.AddWebhookSettingsTo(&options, &cfg); err != nil {
		return fmt.Errorf("set up webhooks: %w", err)
	}
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	rest, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	rest.QPS = -1
	manager, err := ctrl.NewManager(rest, options)
	if err != nil {
		return fmt.Errorf("make manager: %w", err)
	}
	version, err := serverVersion(manager)
	if err != nil {
		return fmt.Errorf("ask for the server's version: %w", err)
	}

	requeuer := qcache.NewRequeuer()
	if err := manager.Add(requeuer); err != nil {
		return err
	}
	expected, formatter := preemptexpectations.New(), resources.NewResourceFormatter()
	cache := schdcache.New(manager.GetClient(), schdcache.WithResourceFormatter(formatter))
	queues := qcache.NewManager(manager.GetClient(), cache, requeuer,
		qcache.WithPreemptionExpectations(expected), qcache.WithResourceFormatter(formatter))
	if err := indexer.Setup(ctx, manager.GetFieldIndexer()); err != nil {
		return fmt.Errorf("index: %w", err)
	}
	if err := tasindexer.SetupIndexes(ctx, manager.GetFieldIndexer()); err != nil {
		return fmt.Errorf("index topologies: %w", err)
	}
	if err := jobframework.SetupIndexes(ctx, manager.GetFieldIndexer(), jobframework.WithEnabledFrameworks(cfg.Integrations.Frameworks)); err != nil {
		return fmt.Errorf("index jobs: %w", err)
	}
	which, err := core.SetupControllers(manager, queues, cache, &cfg, core.SetupControllersOpts{
		PreemptionExpectations: expected, ResourceFormatter: formatter,
	})
	if err != nil {
		return fmt.Errorf("set up controller %s: %w", which, err)
	}
	if which, err := tas.SetupControllers(manager, queues, cache, &cfg, nil); err != nil {
		return fmt.Errorf("set up controller %s: %w", which, err)
	}
	if err := setupJobs(ctx, manager, &cfg, cache, queues, version); err != nil {
		return err
	}
	if which, err := webhooks.Setup(manager, nil); err != nil {
		return fmt.Errorf("set up webhook %s: %w", which, err)
	}
	if err := manager.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("readyz", manager.GetWebhookServer().StartedChecker()); err != nil {
		return err
	}
	go queues.CleanUpOnContext(ctx)
	go cache.CleanUpOnContext(ctx)
	if err := manager.Add(scheduler.New(queues, cache, manager.GetClient(), manager.GetEventRecorder(constants.AdmissionName),
		scheduler.WithPreemptionExpectations(expected), scheduler.WithResourceFormatter(formatter))); err != nil {
		return err
	}
	return manager.Start(ctx)
}

func setupJobs(ctx context.Context, manager ctrl.Manager, cfg *configapi.Configuration, cache *schdcache.Cache, queues *qcache.Manager, version *kubeversion.ServerVersionFetcher) error {
	managed, err := metav1.LabelSelectorAsSelector(cfg.ManagedJobsNamespaceSelector)
	if err != nil {
		return fmt.Errorf("read managedJobsNamespaceSelector: %w", err)
	}
	err = jobframework.SetupControllers(ctx, manager, ctrl.Log.WithName("setup"),
		jobframework.WithManageJobsWithoutQueueName(cfg.ManageJobsWithoutQueueName),
		jobframework.WithWaitForPodsReady(cfg.WaitForPodsReady),
		jobframework.WithKubeServerVersion(version),
		jobframework.WithEnabledFrameworks(cfg.Integrations.Frameworks),
		jobframework.WithManagerName(constants.KueueName),
		jobframework.WithCache(cache), jobframework.WithQueues(queues),
		jobframework.WithObjectRetentionPolicies(cfg.ObjectRetentionPolicies),
		jobframework.WithManagedJobsNamespaceSelector(managed),
	)
	if err != nil {
		return fmt.Errorf("set up the kinds of jobs: %w", err)
	}
	return nil
}

func serverVersion(manager ctrl.Manager) (*kubeversion.ServerVersionFetcher, error) {
	client, err := discovery.NewDiscoveryClientForConfig(manager.GetConfig())
	if err != nil {
		return nil, err
	}
	version := kubeversion.NewServerVersionFetcher(client)
	if err := manager.Add(version); err != nil {
		return nil, err
	}
	return version, version.FetchServerVersion()
}
