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
	. "github.com/onsi/gomega/gstruct"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// began is when the counters of the exposition began.
var began = time.Now()

// exposition is what three exporters print of pods on two nodes: NVIDIA's DCGM exporter
// (https://github.com/NVIDIA/dcgm-exporter, README "Metrics"), the kubelet's cAdvisor
// (https://github.com/google/cadvisor/blob/master/docs/storage/prometheus.md) and the node exporter
// (https://github.com/prometheus/node_exporter). Counters grow by the rates that are given.
func exposition(dcgm string) string {
	var b strings.Builder
	b.WriteString(dcgm)
	at := time.Since(began).Seconds()
	line := func(name, labels string, value float64) { fmt.Fprintf(&b, "%s{%s} %g\n", name, labels, value) }
	for i, pod := range []string{"train-worker-0", "train-worker-1"} {
		container := `namespace="ml",pod="` + pod + `",container="pytorch",image="train:1",id="/kubepods/` + pod + `/c"`
		whole := `namespace="ml",pod="` + pod + `",container="",id="/kubepods/` + pod + `"`
		busy := float64(i)
		line("container_cpu_usage_seconds_total", container+`,cpu="total"`, at*(0.5+2*busy))
		line("container_cpu_usage_seconds_total", whole+`,cpu="total"`, at*(0.5+2*busy))
		line("container_cpu_cfs_periods_total", container, at*10)
		line("container_cpu_cfs_throttled_periods_total", container, at*10*0.4*busy)
		line("container_memory_working_set_bytes", container, (32+29*busy)*(1<<30))
		line("container_memory_working_set_bytes", whole, (33+29*busy)*(1<<30))
		line("container_spec_memory_limit_bytes", container, 64*(1<<30))
		line("container_network_receive_bytes_total", whole+`,interface="eth0"`, at*3e6)
		line("container_network_transmit_bytes_total", whole+`,interface="eth0"`, at*1e6)
		line("container_fs_reads_bytes_total", container+`,device="/dev/nvme0n1"`, at*5e6)
		line("container_fs_writes_bytes_total", container+`,device="/dev/nvme0n1"`, at*1e6)
	}
	line("node_uname_info", `nodename="gpu-1",sysname="Linux"`, 1)
	line("node_disk_io_time_seconds_total", `device="nvme0n1"`, at*0.97)
	line("node_disk_io_time_seconds_total", `device="sda"`, at*0.1)
	line("node_network_receive_bytes_total", `device="eth0"`, at*1.25e9*0.5)
	line("node_network_transmit_bytes_total", `device="eth0"`, at*1.25e9*0.8)
	line("node_network_speed_bytes", `device="eth0"`, 1.25e9)
	line("node_network_receive_bytes_total", `device="lo"`, at*1e9)
	line("node_network_speed_bytes", `device="lo"`, -1) // a device without a speed
	return b.String()
}

const (
	gpuWorkers = `# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-1",namespace="ml",pod="train-worker-0",container="pytorch"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="1",Hostname="gpu-1",namespace="ml",pod="train-worker-0",container="pytorch"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-2",namespace="ml",pod="train-worker-1",container="pytorch"} 97
DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="gpu-2",namespace="other",pod="train-worker-0",container="pytorch"} 80
`
	over = 5 * time.Second
)

// What a job uses is asked of a real Prometheus that scrapes exporters, once with the labels of
// the target and once with those of the exporter; the kubelet's are scraped with those of the exporter.
var _ = Describe("what a job uses", func() {
	start := func(ctx context.Context, text func() string, honorLabels string) func(controller.UsageOf) (controller.Usage, error) {
		GinkgoHelper()
		program := filepath.Join("..", "..", "bin", "controlplane", "prometheus")
		if _, err := os.Stat(program); err != nil {
			Skip("there is no Prometheus; `go run ./test/controlplane/build prometheus` builds one")
		}
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			fmt.Fprint(w, text())
		}))
		DeferCleanup(target.Close)
		address := startPrometheus(ctx, program, strings.TrimPrefix(target.URL, "http://"), honorLabels)
		settings, err := config.Read(strings.NewReader("diagnosis: {running: {prometheus: {url: \"http://" + address + "\"}}}"))
		Expect(err).NotTo(HaveOccurred())
		options, err := controller.FromConfig(settings)
		Expect(err).NotTo(HaveOccurred())
		return func(of controller.UsageOf) (controller.Usage, error) { return options.Running.Use(ctx, of) }
	}

	DescribeTable("is of its GPUs what Prometheus says",
		func(ctx SpecContext, honorLabels string) {
			use := start(ctx, func() string { return gpuWorkers }, honorLabels)
			ask := func(pods ...string) func() (controller.Usage, error) {
				return func() (controller.Usage, error) {
					return use(controller.UsageOf{Namespace: "ml", Pods: pods, Nodes: []string{"gpu-1"}, Over: time.Minute})
				}
			}
			Eventually(func() map[string]float64 {
				u, err := ask("train-worker-0", "train-worker-1")()
				Expect(err).NotTo(HaveOccurred())
				return u.GPU
			}).Should(Equal(map[string]float64{"train-worker-0": 0, "train-worker-1": 97}))
			only := func(u controller.Usage) []int {
				return []int{len(u.CPU), len(u.Memory), len(u.Network), len(u.Disk), len(u.NodeDisk), len(u.NodeNetwork)}
			}
			u, err := ask("train-worker-0", "train-worker-9")()
			Expect(err).NotTo(HaveOccurred())
			Expect(u.GPU).To(Equal(map[string]float64{"train-worker-0": 0}), "of a pod without metrics nothing is known")
			Expect(only(u)).To(HaveEach(0), "what nobody exports is unknown")
		},
		Entry("where it keeps the labels of the target", "false"),
		Entry("where the exporter's labels win", "true"),
	)

	It("is of CPU, memory, network and disk what cAdvisor and the node exporter count", func(ctx SpecContext) {
		use := start(ctx, func() string { return exposition(gpuWorkers) }, "true")
		of := controller.UsageOf{Namespace: "ml", Pods: []string{"train-worker-0", "train-worker-1"}, Nodes: []string{"gpu-1"}, Over: over}
		about := func(v float64) OmegaMatcher { return BeNumerically("~", v, 0.05*v+0.01) }
		Eventually(func(g Gomega) {
			u, err := use(of)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(u.GPU).To(Equal(map[string]float64{"train-worker-0": 0, "train-worker-1": 97}))
			g.Expect(u.CPU).To(MatchAllKeys(Keys{"train-worker-0": about(0.5), "train-worker-1": about(2.5)}))
			g.Expect(u.Throttled).To(MatchAllKeys(Keys{"train-worker-0": about(0), "train-worker-1": about(40)}))
			g.Expect(u.Memory).To(MatchAllKeys(Keys{"train-worker-0": about(32 << 30), "train-worker-1": about(61 << 30)}))
			g.Expect(u.OfLimit).To(MatchAllKeys(Keys{"train-worker-0": about(50), "train-worker-1": about(95.3)}))
			g.Expect(u.Network).To(MatchAllKeys(Keys{"train-worker-0": about(4e6), "train-worker-1": about(4e6)}))
			g.Expect(u.Disk).To(MatchAllKeys(Keys{"train-worker-0": about(6e6), "train-worker-1": about(6e6)}))
			g.Expect(u.NodeDisk).To(MatchAllKeys(Keys{"gpu-1": about(97)}))
			g.Expect(u.NodeNetwork).To(MatchAllKeys(Keys{"gpu-1": about(80)}))
		}).WithTimeout(time.Minute).WithPolling(time.Second).Should(Succeed())
		of.Nodes = []string{"gpu-9"}
		u, err := use(of)
		Expect(err).NotTo(HaveOccurred())
		Expect(u.NodeDisk).To(BeEmpty(), "of a node without an exporter nothing is known")
	})
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
