// Command mpi-operator runs Kubeflow's MPI operator (MPIJob v2beta1): its controller, unchanged.
//
// The operator's own main cannot run twice on one machine: it answers for its health on port 8080 of all
// addresses, a constant. It also stands for election, which one process need not. This main differs in
// that alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kubeflow/mpi-operator/cmd/mpi-operator/app/options"
	clientset "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned"
	kubeflowscheme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	informers "github.com/kubeflow/mpi-operator/pkg/client/informers/externalversions"
	"github.com/kubeflow/mpi-operator/pkg/controller"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	health := flag.String("health-address", "127.0.0.1:8080", "where /readyz answers")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *health); err != nil {
		fmt.Fprintln(os.Stderr, "mpi-operator:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

func run(ctx context.Context, health string) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	cfg.QPS, cfg.Burst = 50, 100
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	jobs, err := clientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	if _, err := jobs.KubeflowV2beta1().MPIJobs("").List(ctx, metav1.ListOptions{Limit: 1}); err != nil {
		return fmt.Errorf("list MPIJobs: %w", err)
	}
	if err := kubeflowscheme.AddToScheme(clientgoscheme.Scheme); err != nil {
		return err
	}
	var ready atomic.Bool
	go serveHealth(health, &ready)

	core, own := kubeinformers.NewSharedInformerFactory(kube, 0), informers.NewSharedInformerFactory(jobs, 0)
	c, err := controller.NewMPIJobController(ctx, kube, jobs, nil, nil,
		core.Core().V1().ConfigMaps(), core.Core().V1().Secrets(), core.Core().V1().Services(),
		core.Batch().V1().Jobs(), core.Core().V1().Pods(), core.Scheduling().V1().PriorityClasses(),
		own.Kubeflow().V2beta1().MPIJobs(),
		&options.ServerOption{Threadiness: 2, ControllerRateLimit: 10, ControllerBurst: 100})
	if err != nil {
		return fmt.Errorf("make the controller: %w", err)
	}
	core.Start(ctx.Done())
	own.Start(ctx.Done())
	core.WaitForCacheSync(ctx.Done())
	own.WaitForCacheSync(ctx.Done())
	ready.Store(true)
	return c.Run(2, ctx.Done())
}

func serveHealth(address string, ready *atomic.Bool) {
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Addr: address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	if err := server.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, "mpi-operator:", err)
		os.Exit(1)
	}
}
