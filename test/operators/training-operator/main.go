// Command training-operator runs Kubeflow's training operator (the v1 kinds): its reconcilers and its
// webhooks, unchanged.
//
// The operator's own main cannot run twice on one machine: it waits for certificates in
// /tmp/k8s-webhook-server/serving-certs, a constant, and rewrites the caBundle of its webhooks. This main
// differs in that alone: the certificates are there before it starts, in a folder of the caller's choice.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"

	kubeflowv1 "github.com/kubeflow/training-operator/pkg/apis/kubeflow.org/v1"
	"github.com/kubeflow/training-operator/pkg/config"
	controllerv1 "github.com/kubeflow/training-operator/pkg/controller.v1"
	"github.com/kubeflow/training-operator/pkg/controller.v1/common"
	"github.com/kubeflow/training-operator/pkg/webhooks"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func main() {
	// --kubeconfig is controller-runtime's own flag.
	health := flag.String("health-address", "127.0.0.1:8081", "where /readyz answers")
	port := flag.Int("webhook-port", 9443, "where the webhooks answer")
	certs := flag.String("webhook-cert-dir", "", "folder with the webhooks' tls.crt and tls.key")
	flag.StringVar(&config.Config.PyTorchInitContainerImage, "pytorch-init-container-image",
		config.PyTorchInitContainerImageDefault, "image of a PyTorch worker's init container")
	flag.StringVar(&config.Config.MPIKubectlDeliveryImage, "mpi-kubectl-delivery-image",
		config.MPIKubectlDeliveryImageDefault, "image of an MPI launcher's init container")
	flag.Parse()
	config.Config.PyTorchInitContainerTemplateFile = config.PyTorchInitContainerTemplateFileDefault
	config.Config.PyTorchInitContainerMaxTries = config.PyTorchInitContainerMaxTriesDefault
	ctrl.SetLogger(zap.New())

	if err := run(ctrl.SetupSignalHandler(), *health, *port, *certs); err != nil {
		fmt.Fprintln(os.Stderr, "training-operator:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, health string, port int, certs string) error {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(kubeflowv1.AddToScheme(scheme))

	cfg, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certs})
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{
		Scheme:                 scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		WebhookServer:          server,
		HealthProbeBindAddress: health,
	})
	if err != nil {
		return fmt.Errorf("create manager: %w", err)
	}
	var kinds controllerv1.EnabledSchemes
	kinds.FillAll()
	for _, kind := range kinds {
		// Without gang scheduling, as the operator's own default: pods go to the default scheduler.
		if err := controllerv1.SupportedSchemeReconciler[kind](mgr, common.GenNonGangSchedulerSetupFunc(), 1); err != nil {
			return fmt.Errorf("set up %s reconciler: %w", kind, err)
		}
		if err := webhooks.SupportedSchemeWebhook[kind](mgr); err != nil {
			return fmt.Errorf("set up %s webhook: %w", kind, err)
		}
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	if err := mgr.AddReadyzCheck("webhook", func(req *http.Request) error { return server.StartedChecker()(req) }); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
