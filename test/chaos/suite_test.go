//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
)

// afterwards is within what time everything is as it should be, once a fault is over.
const afterwards = time.Minute

var (
	plane    *cluster.Cluster
	door     *relay // to the replicas that are ready, as a Service is
	uplink   *relay // of the replicas to the API server
	model    *relay // of the replicas to a language model; there is none, but where a spec has one
	talks    atomic.Pointer[string]
	replicas []*replica
)

func TestChaos(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(afterwards)
	SetDefaultEventuallyPollingInterval(250 * time.Millisecond)
	RunSpecs(t, "Chaos")
}

const limits = "signalbox: {gpu_limit: {default: 4}}"

var _ = BeforeSuite(func() {
	ctx := context.Background()
	root, err := line.Repository()
	Expect(err).NotTo(HaveOccurred())
	program := filepath.Join(root, "bin", "signalbox")
	Expect(program).To(BeAnExistingFile(), "make build makes it")
	plane, err = cluster.Start(ctx, cluster.Options{Progress: io.Writer(GinkgoWriter)})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return plane.Stop() })
	Expect(plane.InstallCRDs(ctx, cluster.TrainingOperator)).To(Succeed())
	Expect(plane.CreateNodes(ctx, cluster.GPUNode("n1", "NVIDIA-H100-80GB-HBM3", 8), cluster.GPUNode("n2", "NVIDIA-H100-80GB-HBM3", 8))).To(Succeed())
	_, err = plane.Kubectl(ctx, "apply", "-k", filepath.Join(root, "config", "local"))
	Expect(err).NotTo(HaveOccurred())

	door = listen(func() []string {
		var out []string
		for _, r := range replicas {
			if r.ready.Load() {
				out = append(out, r.address)
			}
		}
		return out
	})
	patch := fmt.Sprintf(`[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://%s/validate"}]`, door.address())
	_, err = plane.Kubectl(ctx, "patch", "validatingwebhookconfiguration", "signalbox", "--type=json", "-p", patch)
	Expect(err).NotTo(HaveOccurred())
	setPolicy(ctx, limits)

	host := strings.TrimPrefix(plane.Config().Host, "https://")
	uplink = listen(func() []string { return []string{host} })
	file, err := plane.KubeconfigFor(ctx, "signalbox-system", "signalbox")
	Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	kubeconfig := filepath.Join(plane.Dir(), "uplink.yaml")
	Expect(os.WriteFile(kubeconfig, []byte(strings.ReplaceAll(string(text), host, uplink.address())), 0o600)).To(Succeed())
	model = listen(func() []string {
		if address := talks.Load(); address != nil {
			return []string{*address}
		}
		return nil
	})
	for i := range 2 {
		replicas = append(replicas, newReplica(program, kubeconfig, filepath.Join(plane.Dir(), fmt.Sprintf("replica-%d", i)), model.address()))
	}
	for _, r := range replicas {
		r.start()
	}
	for _, r := range replicas {
		Eventually(r.ready.Load).Should(BeTrue(), r.said)
	}
})

var _ = ReportAfterEach(func(r SpecReport) {
	if r.Failed() && plane != nil {
		plane.Keep()
		GinkgoWriter.Println("logs are kept in", plane.Dir())
	}
})

// setPolicy writes the policies of the installation, or what should be some.
func setPolicy(ctx context.Context, text string) {
	GinkgoHelper()
	maps := plane.Clientset().CoreV1().ConfigMaps("signalbox-system")
	cm := policyMap(text)
	Eventually(func() error {
		_ = maps.Delete(ctx, cm.Name, metav1.DeleteOptions{})
		_, err := maps.Create(ctx, cm, metav1.CreateOptions{})
		return err
	}).Should(Succeed())
}
