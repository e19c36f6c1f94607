//go:build chaos

package chaos

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// replica is one process of the built program. Its addresses stay when it is started again.
type replica struct {
	program, settings, kubeconfig, log string
	address, health, metrics           string
	ready                              atomic.Bool // by its probe, which is asked all the time
	running                            *exec.Cmd
	ended                              chan struct{}
	denied                             float64  // by policies and late, of processes that have ended
	env                                []string // what is added to the environment
	flags                              []string // of serve
	group                              string   // the file of a control group that it starts in; empty: ours
}

// denials is how many jobs it has reviewed late that a policy would have denied, with those of its earlier processes.
func (r *replica) denials() float64 {
	return r.denied + r.metric(`signalbox_reviewed_late_total{decision="denied"}`)
}

// answered is how many reviews its process has answered.
func (r *replica) answered() float64 { return r.metric("signalbox_admission_duration_seconds_count") }

// metric is the sum of the series that begin so; zero where the process does not answer or has none.
func (r *replica) metric(series string) (sum float64) {
	asked, done := context.WithTimeout(context.Background(), 2*time.Second)
	defer done()
	request, err := http.NewRequestWithContext(asked, http.MethodGet, "http://"+r.metrics+"/metrics", nil)
	Expect(err).NotTo(HaveOccurred())
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), series) {
			value, err := strconv.ParseFloat(lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:], 64)
			Expect(err).NotTo(HaveOccurred())
			sum += value
		}
	}
	return sum
}

func newReplica(program, kubeconfig, base, model string) *replica {
	GinkgoHelper()
	r := &replica{program: program, kubeconfig: kubeconfig, settings: base + ".yaml", log: base + ".log", address: free(), health: free(), metrics: free()}
	Expect(os.WriteFile(r.settings, fmt.Appendf(nil, `
listen: {webhook: %q, metrics: %q, health: %q}
certificates: {hosts: [127.0.0.1]}
leaderElection: {enabled: true}
llm: {provider: openai, baseURL: "http://%s/v1", model: silent, timeout: 5s, perMinute: 600}
notifications: {receivers: [{name: nowhere, form: generic, url: "http://%s/told"}]}
`, r.address, r.metrics, r.health, model, model), 0o600)).To(Succeed())
	ctx, cancel := context.WithCancel(context.Background())
	DeferCleanup(func() {
		cancel()
		if r.running != nil {
			_ = r.running.Process.Kill()
			<-r.ended
		}
	})
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			asked, done := context.WithTimeout(ctx, time.Second)
			r.ready.Store(cluster.Answers(asked, "http://"+r.health+"/readyz") == nil)
			done()
			<-tick.C
		}
	}()
	return r
}

// free is an address that stays free until a replica listens there, and while it is started again.
func free() string {
	GinkgoHelper()
	ports, err := cluster.FreePorts(1)
	Expect(err).NotTo(HaveOccurred())
	return fmt.Sprintf("127.0.0.1:%d", ports[0])
}

func (r *replica) start() {
	GinkgoHelper()
	out, err := os.OpenFile(r.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	Expect(err).NotTo(HaveOccurred())
	defer out.Close()
	args := append([]string{r.program, "serve", "--config", r.settings, "--kubeconfig", r.kubeconfig}, r.flags...)
	if r.group != "" { // a process moves itself, and is what it becomes
		args = append([]string{"sh", "-c", `echo $$ > "$0" && exec "$@"`, r.group}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(os.Environ(), r.env...)
	Expect(cmd.Start()).To(Succeed())
	r.running, r.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(r.ended)
}

// said is the end of its log: why it is not what was waited for.
func (r *replica) said() string {
	log, err := os.ReadFile(r.log)
	if err != nil {
		return err.Error()
	}
	return "the replica says:\n" + string(log[max(0, len(log)-4096):])
}

// kill ends the process at once.
func (r *replica) kill() {
	r.denied = r.denials()
	_ = r.running.Process.Kill()
	<-r.ended
	r.ready.Store(false)
}

// stop ends it as a kubelet does.
func (r *replica) stop() {
	GinkgoHelper()
	r.denied = r.denials()
	Expect(r.running.Process.Signal(syscall.SIGTERM)).To(Succeed())
	Eventually(r.ended).WithTimeout(30 * time.Second).Should(BeClosed())
	Expect(r.running.ProcessState.ExitCode()).To(BeZero())
}

// again starts it and waits until it is ready.
func (r *replica) again() {
	GinkgoHelper()
	r.start()
	Eventually(r.ready.Load).Should(BeTrue(), "a replica that was started again is ready")
}
