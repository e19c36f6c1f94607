//go:build integration

package integration

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// exporter prints what NVIDIA's DCGM exporter does of three pods on two nodes
// (https://github.com/NVIDIA/dcgm-exporter, README "Metrics").
const exporter = `# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-1",namespace="ml",pod="train-worker-0",container="pytorch"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="1",Hostname="gpu-1",namespace="ml",pod="train-worker-0",container="pytorch"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-2",namespace="ml",pod="train-worker-1",container="pytorch"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-2",namespace="other",pod="train-worker-0",container="pytorch"} 80
`

// The use of GPUs is asked of a real Prometheus that scrapes an exporter, once with the labels of
// the target and once with those of the exporter.
var _ = Describe("the use of GPUs", func() {
	DescribeTable("is what Prometheus says",
		func(ctx SpecContext, honorLabels string) {
			program := filepath.Join("..", "..", "bin", "controlplane", "prometheus")
			if _, err := os.Stat(program); err != nil {
				Skip("there is no Prometheus; `go run ./test/controlplane/build prometheus` builds one")
			}
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain; version=0.0.4")
				fmt.Fprint(w, exporter)
			}))
			DeferCleanup(target.Close)
			address := startPrometheus(ctx, program, strings.TrimPrefix(target.URL, "http://"), honorLabels)
			settings, err := config.Read(strings.NewReader("diagnosis: {running: {prometheus: {url: \"http://" + address + "\"}}}"))
			Expect(err).NotTo(HaveOccurred())
			options, err := controller.FromConfig(settings)
			Expect(err).NotTo(HaveOccurred())
			ask := func(pods ...string) func() (controller.Use, error) {
				return func() (controller.Use, error) { return options.Running.Use(ctx, "ml", pods, time.Minute) }
			}
			Eventually(ask("train-worker-0", "train-worker-1")).Should(Equal(controller.Use{Pods: 2, Most: 97}))
			Expect(ask("train-worker-0")()).To(Equal(controller.Use{Pods: 1, Most: 0}))
			Expect(ask("train-worker-0", "train-worker-9")()).To(Equal(controller.Use{Pods: 1, Most: 0}), "of a pod without metrics nothing is known")
		},
		Entry("where it keeps the labels of the target", "false"),
		Entry("where the exporter's labels win", "true"),
	)
})

// startPrometheus returns its address when it is ready.
func startPrometheus(ctx context.Context, program, target, honorLabels string) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	file := filepath.Join(dir, "prometheus.yml")
	Expect(os.WriteFile(file, fmt.Appendf(nil, `global: {scrape_interval: 1s}
scrape_configs:
- job_name: dcgm
  honor_labels: %s
  static_configs:
  - targets: [%q]
    labels: {namespace: gpu-operator, pod: dcgm-exporter-x7k2p}
`, honorLabels, target), 0o600)).To(Succeed())
	free, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	address := free.Addr().String()
	Expect(free.Close()).To(Succeed())
	c := exec.Command(program, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	c.Stdout, c.Stderr = GinkgoWriter, GinkgoWriter
	Expect(c.Start()).To(Succeed())
	DeferCleanup(func() {
		Expect(c.Process.Kill()).To(Succeed())
		_ = c.Wait() // it was killed
	})
	Eventually(func() (int, error) {
		answer, err := http.Get("http://" + address + "/-/ready")
		if err != nil {
			return 0, err
		}
		return answer.StatusCode, answer.Body.Close()
	}).WithContext(ctx).Should(Equal(http.StatusOK))
	return address
}
