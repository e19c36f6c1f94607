//go:build chaos

package chaos

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
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
	address, health                    string
	ready                              atomic.Bool // by its probe, which is asked all the time
	running                            *exec.Cmd
	ended                              chan struct{}
}

func newReplica(program, kubeconfig, base string) *replica {
	GinkgoHelper()
	r := &replica{program: program, kubeconfig: kubeconfig, settings: base + ".yaml", log: base + ".log", address: free(), health: free()}
	// The model is nowhere: its failures are part of every spec.
	Expect(os.WriteFile(r.settings, fmt.Appendf(nil, `
listen: {webhook: %q, metrics: "0", health: %q}
certificates: {hosts: [127.0.0.1]}
leaderElection: {enabled: true}
llm: {provider: openai, baseURL: "http://%s/v1", model: none}
`, r.address, r.health, free()), 0o600)).To(Succeed())
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

func free() string {
	GinkgoHelper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	defer socket.Close()
	return socket.Addr().String()
}

func (r *replica) start() {
	GinkgoHelper()
	out, err := os.OpenFile(r.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	Expect(err).NotTo(HaveOccurred())
	defer out.Close()
	cmd := exec.Command(r.program, "serve", "--config", r.settings, "--kubeconfig", r.kubeconfig)
	cmd.Stdout, cmd.Stderr = out, out
	Expect(cmd.Start()).To(Succeed())
	r.running, r.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(r.ended)
}

// kill ends the process at once.
func (r *replica) kill() {
	_ = r.running.Process.Kill()
	<-r.ended
	r.ready.Store(false)
}

// stop ends it as a kubelet does.
func (r *replica) stop() {
	GinkgoHelper()
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
