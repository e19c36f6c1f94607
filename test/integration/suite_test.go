//go:build integration

package integration

import (
	"context"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// plane is the one control plane that all specs share; specs keep to namespaces of their own.
var plane *cluster.Cluster

// auditLog is where the API server writes every write request with its annotations.
var auditLog string

func TestIntegration(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	SetDefaultEventuallyPollingInterval(50 * time.Millisecond)
	RunSpecs(t, "Integration")
}

const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, verbs: [create, update, patch]}
  - {level: None}
`

var _ = BeforeSuite(func() {
	dir, err := os.MkdirTemp("", "signalbox-audit-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, dir)
	auditLog = filepath.Join(dir, "audit.log")
	policy := filepath.Join(dir, "policy.yaml")
	Expect(os.WriteFile(policy, []byte(auditPolicy), 0o600)).To(Succeed())

	// Ctrl-C stops the programs too.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	DeferCleanup(stop)
	plane, err = cluster.Start(ctx, cluster.Options{
		Parts:    cluster.CertManager,
		Progress: io.Writer(GinkgoWriter),
		ExtraArgs: map[string][]string{"kube-apiserver": {
			"--audit-policy-file=" + policy, "--audit-log-path=" + auditLog, "--audit-log-mode=blocking",
		}},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return plane.Stop() })
	Expect(plane.InstallCRDs(ctx, cluster.TrainingOperator|cluster.JobSet|cluster.Trainer)).To(Succeed())
})

var _ = ReportAfterEach(func(r SpecReport) {
	if r.Failed() && plane != nil {
		plane.Keep()
	}
})
