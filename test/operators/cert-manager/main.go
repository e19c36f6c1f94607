// Command cert-manager runs cert-manager's own controllers: the loop that issues a Certificate from a
// SelfSigned or CA issuer, and the injector that copies a CA into webhook configurations.
//
// cert-manager's programs are modules of their own that no module proxy serves; the controllers are public
// packages. This main is their cmd/controller and cmd/cainjector without ACME, Vault, Venafi, the ingress
// shim and leader election. Its admission webhook is not here: it validates, it does not issue.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/cert-manager/cert-manager/pkg/api"
	"github.com/cert-manager/cert-manager/pkg/controller"
	"github.com/cert-manager/cert-manager/pkg/controller/cainjector"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/approver"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/ca"
	"github.com/cert-manager/cert-manager/pkg/controller/certificaterequests/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/issuing"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/keymanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/readiness"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/requestmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/revisionmanager"
	"github.com/cert-manager/cert-manager/pkg/controller/certificates/trigger"
	"github.com/cert-manager/cert-manager/pkg/controller/clusterissuers"
	"github.com/cert-manager/cert-manager/pkg/controller/issuers"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/ca"
	_ "github.com/cert-manager/cert-manager/pkg/issuer/selfsigned"
	"github.com/cert-manager/cert-manager/pkg/util"
	"golang.org/x/sync/errgroup"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	apireg "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// approve are the signers whose requests the approver lets through: every issuer of cert-manager's own
// group, as in its Helm chart.
var approve = []string{"issuers.cert-manager.io/*", "clusterissuers.cert-manager.io/*"}

// issuingLoop is every controller between a Certificate and its Secret.
var issuingLoop = []string{
	approver.ControllerName,
	ca.CRControllerName,
	clusterissuers.ControllerName,
	issuers.ControllerName,
	issuing.ControllerName,
	keymanager.ControllerName,
	readiness.ControllerName,
	requestmanager.ControllerName,
	revisionmanager.ControllerName,
	selfsigned.CRControllerName,
	trigger.ControllerName,
}

func main() {
	health := flag.String("health-address", "127.0.0.1:8081", "where /readyz answers")
	namespace := flag.String("cluster-resource-namespace", "cert-manager", "where a ClusterIssuer's Secrets lie")
	flag.Parse()
	ctrl.SetLogger(zap.New())

	if err := run(ctrl.SetupSignalHandler(), *health, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "cert-manager:", err)
		os.Exit(1)
	}
}

// The API server is the one KUBECONFIG names.
func run(ctx context.Context, health, namespace string) error {
	g, ctx := errgroup.WithContext(ctx)
	if err := startIssuing(ctx, g, namespace); err != nil {
		return fmt.Errorf("start issuing: %w", err)
	}
	inject, err := injector(ctx, health)
	if err != nil {
		return fmt.Errorf("set up injector: %w", err)
	}
	g.Go(func() error { return inject.Start(ctx) })
	return g.Wait()
}

// startIssuing returns when the caches of the issuing loop are filled.
func startIssuing(ctx context.Context, g *errgroup.Group, namespace string) error {
	factory, err := controller.NewContextFactory(ctx, controller.ContextOptions{
		Kubeconfig:         os.Getenv(clientcmd.RecommendedConfigPathEnvVar),
		KubernetesAPIQPS:   50,
		KubernetesAPIBurst: 100,
		IssuerOptions:      controller.IssuerOptions{ClusterResourceNamespace: namespace},
		CertificateOptions: controller.CertificateOptions{
			CopiedAnnotationPrefixes:                 []string{"*"},
			CertificateRequestMinimumBackoffDuration: time.Hour,
			CertificateRequestMaximumBackoffDuration: 32 * time.Hour,
		},
	})
	if err != nil {
		return err
	}
	shared, err := factory.Build()
	if err != nil {
		return err
	}
	known := controller.Known()
	for _, name := range issuingLoop {
		construct, ok := known[name]
		if !ok {
			return fmt.Errorf("find controller %q: cert-manager knows %q", name, slices.Sorted(maps.Keys(known)))
		}
		loop, err := construct(factory)
		if err != nil {
			return fmt.Errorf("construct controller %q: %w", name, err)
		}
		g.Go(func() error { return loop.Run(2, ctx) })
	}
	shared.SharedInformerFactory.Start(ctx.Done())
	shared.KubeSharedInformerFactory.Start(ctx.Done())
	shared.SharedInformerFactory.WaitForCacheSync(ctx.Done())
	return nil
}

// injector is a manager that is ready once its own caches are filled.
func injector(ctx context.Context, health string) (ctrl.Manager, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiext.AddToScheme, apireg.AddToScheme, api.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	// The injector takes its field manager from the user agent.
	mgr, err := ctrl.NewManager(util.RestConfigWithUserAgent(cfg, "cainjector"), ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: health,
	})
	if err != nil {
		return nil, err
	}
	if err := cainjector.RegisterAllInjectors(ctx, mgr, cainjector.SetupOptions{
		EnableCertificatesDataSource: true,
		EnabledReconcilersFor: map[string]bool{
			cainjector.MutatingWebhookConfigurationName:   true,
			cainjector.ValidatingWebhookConfigurationName: true,
			cainjector.APIServiceName:                     true,
			cainjector.CustomResourceDefinitionName:       true,
		},
	}); err != nil {
		return nil, err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("caches", func(req *http.Request) error {
		if !mgr.GetCache().WaitForCacheSync(req.Context()) {
			return fmt.Errorf("wait for the injector's caches: %w", req.Context().Err())
		}
		return nil
	})
}
