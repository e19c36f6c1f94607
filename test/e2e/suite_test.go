//go:build integration

// Package e2e plays whole stories on a real control plane with the real operators: Signalbox
// is installed from config/local and everything is seen through the API server.
package e2e

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
)

var (
	world   *line.Line
	objects dynamic.Interface
)

func TestEndToEnd(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(45 * time.Second)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "End to end")
}

var _ = BeforeSuite(func() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	DeferCleanup(stop)
	var err error
	world, err = line.Start(ctx, line.Options{
		Parts:    cluster.Machinery | cluster.TrainingOperator | cluster.JobSet | cluster.Trainer,
		Nodes:    line.Pools(),
		Progress: GinkgoWriter,
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return world.Stop() })
	objects, err = dynamic.NewForConfig(world.Config())
	Expect(err).NotTo(HaveOccurred())
})

var _ = ReportAfterEach(func(r SpecReport) {
	if r.Failed() && world != nil {
		world.Keep()
	}
})

var _ = AfterSuite(func() {
	if world == nil {
		return // it did not start, and that is said
	}
	log, err := world.SignalboxLog()
	Expect(err).NotTo(HaveOccurred())
	Expect(log).NotTo(ContainSubstring("forbidden"), "the ServiceAccount has every right that Signalbox needs")
	Expect(log).NotTo(ContainSubstring("panic"))
})
