//go:build chaos

package chaos

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// All that is compiled reads the clock: the first build takes minutes.
var _ = Describe("Jobs are created while a replica", Ordered, func() {
	// Each clock is wrong for its process alone, and a new CA is issued by one of them.
	var shifted string
	BeforeAll(func(ctx SpecContext) { shifted = buildShifted(ctx) })
	It("has a clock that is five minutes off, each the other way", under("clock", func(ctx context.Context, l *load) {
		program := replicas[0].program
		defer func() {
			for _, r := range replicas {
				r.stop()
				r.program, r.env = program, nil
				r.again()
			}
		}()
		for i, r := range replicas {
			r.stop()
			r.program, r.env = shifted, []string{"SIGNALBOX_CHAOS_SHIFT=" + []string{"5m", "-5m"}[i]}
			r.again()
		}
		Expect(replicas[0].clock(ctx).Sub(replicas[1].clock(ctx))).To(BeNumerically("~", 10*time.Minute, time.Minute), "the clocks are off")
		l.fail(ctx, "failed-in-it")
		Expect(plane.Clientset().CoreV1().Secrets("signalbox-system").Delete(ctx, "signalbox-webhook-cert", metav1.DeleteOptions{})).To(Succeed())
		wait(15 * time.Second)
		l.fail(ctx, "failed-after-the-certificate")
	}))
})

var _ = Describe("Jobs are created while a replica", Ordered, ContinueOnFailure, func() {
	It("has no room left on its disk", under("disk-full", func(ctx context.Context, l *load) {
		disk := GinkgoT().TempDir()
		if text, err := exec.CommandContext(ctx, "mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk).CombinedOutput(); err != nil {
			Skip("a disk of its own takes the right to mount: " + string(text))
		}
		logs := make([]string, len(replicas))
		defer func() {
			for i, r := range replicas {
				r.stop()
				r.log, r.env = logs[i], nil
				r.again()
			}
			Expect(exec.Command("umount", disk).Run()).To(Succeed())
		}()
		for i, r := range replicas {
			r.stop()
			logs[i], r.log, r.env = r.log, filepath.Join(disk, fmt.Sprintf("%d.log", i)), []string{"TMPDIR=" + disk}
			r.again()
		}
		filler, err := os.Create(filepath.Join(disk, "filler"))
		Expect(err).NotTo(HaveOccurred())
		defer filler.Close()
		for err == nil {
			_, err = filler.Write(make([]byte, 512))
		}
		Expect(err).To(MatchError(ContainSubstring("no space left on device")))
		l.fail(ctx, "failed-in-it")
		wait(10 * time.Second)
	}))

	// 500 bodies of 7 MB come at once to a replica of 400 MiB, from somebody who is nobody.
	It("is flooded at its memory limit", under("memory-flooded", func(ctx context.Context, l *load) {
		replicas[0].stop()
		l.kills = 1 // what it reviews in a second in which it stands still counts as not reviewed: nobody may have waited for it
		group := newGroup(400 << 20)
		replicas[0].group = group.procs
		replicas[0].env = []string{fmt.Sprintf("SIGNALBOX_MEMORY_LIMIT=%d", 400<<20)}
		defer func() {
			replicas[0].stop()
			replicas[0].group, replicas[0].env = "", nil
			replicas[0].again()
		}()
		replicas[0].again()
		body := fmt.Appendf(nil, `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"1","object":{"a":"%s"}}}`, strings.Repeat("a", 7_000_000))
		client := &http.Client{
			Timeout:   20 * time.Second,
			Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}, //nolint:gosec // nobody is trusted here
		}
		var all sync.WaitGroup
		for range 500 {
			all.Go(func() {
				answer, err := client.Post("https://"+replicas[0].address+"/validate", "application/json", bytes.NewReader(body))
				if err == nil {
					_ = answer.Body.Close()
				}
			})
		}
		l.fail(ctx, "failed-in-it")
		all.Wait()
		Expect(replicas[0].ended).NotTo(BeClosed(), "it lives")
		Expect(group.kills()).To(BeZero(), "processes that the kernel ended")
		AddReportEntry("memory at the highest", fmt.Sprintf("%d MiB of 400", group.most()>>20))
	}))

	It("is ended by the kernel at its memory limit, again and again", under("memory-killed", func(ctx context.Context, l *load) {
		replicas[0].kill()
		l.kills = 1
		group := newGroup(24 << 20) // it cannot even begin
		replicas[0].group = group.procs
		defer func() {
			replicas[0].group = ""
			replicas[0].again()
		}()
		for range 3 {
			replicas[0].start()
			Eventually(replicas[0].ended).Should(BeClosed())
			Expect(replicas[0].running.ProcessState.String()).To(ContainSubstring("killed"))
		}
		Expect(group.kills()).To(BeNumerically(">=", 3))
		l.fail(ctx, "failed-in-it")
	}))
})

// group is a control group with a limit of memory, of either version
// (https://docs.kernel.org/admin-guide/cgroup-v1/memory.html, https://docs.kernel.org/admin-guide/cgroup-v2.html).
type group struct {
	dir, procs string
	second     bool
}

func newGroup(limit int64) group {
	GinkgoHelper()
	g := group{dir: filepath.Join("/sys/fs/cgroup", "memory")}
	if _, err := os.Stat(g.dir); err != nil {
		g = group{dir: "/sys/fs/cgroup", second: true}
	}
	g.dir = filepath.Join(g.dir, fmt.Sprintf("signalbox-chaos-%d-%d", os.Getpid(), limit))
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		Skip("a control group takes the right to make one: " + err.Error())
	}
	DeferCleanup(func() { Eventually(func() error { return os.Remove(g.dir) }).Should(Succeed()) })
	g.procs = filepath.Join(g.dir, "cgroup.procs")
	file := "memory.limit_in_bytes"
	if g.second {
		file = "memory.max"
	}
	Expect(os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.FormatInt(limit, 10)), 0o600)).To(Succeed())
	return g
}

// kills is how many processes of it the kernel has ended for memory.
func (g group) kills() int64 {
	GinkgoHelper()
	file := "memory.oom_control"
	if g.second {
		file = "memory.events"
	}
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	Expect(err).NotTo(HaveOccurred())
	_, rest, ok := strings.Cut(string(text), "oom_kill ")
	Expect(ok).To(BeTrue(), string(text))
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	Expect(err).NotTo(HaveOccurred())
	return n
}

// most is what was in use at the highest.
func (g group) most() int64 {
	file := "memory.max_usage_in_bytes"
	if g.second {
		file = "memory.peak"
	}
	text, err := os.ReadFile(filepath.Join(g.dir, file))
	Expect(err).NotTo(HaveOccurred())
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	Expect(err).NotTo(HaveOccurred())
	return n
}

// buildShifted builds the program with a package time whose Now is off by what SIGNALBOX_CHAOS_SHIFT says. The kernel
// shifts only clocks that count from the boot (https://man7.org/linux/man-pages/man7/time_namespaces.7.html).
func buildShifted(ctx context.Context) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	Expect(err).NotTo(HaveOccurred())
	folder := filepath.Join(strings.TrimSpace(string(goroot)), "src", "time")
	text, err := os.ReadFile(filepath.Join(folder, "time.go"))
	Expect(err).NotTo(HaveOccurred())
	const call = "sec, nsec, mono := runtimeNow()\n"
	Expect(strings.Count(string(text), call)).To(Equal(1), "time.Now reads the clock once")
	files := map[string]string{
		"time.go": strings.Replace(string(text), call, call+"\tsec += chaosShift()\n", 1),
		"zchaos.go": `package time

import "syscall"

var chaosSeconds = func() int64 {
	text, _ := syscall.Getenv("SIGNALBOX_CHAOS_SHIFT")
	d, _ := ParseDuration(text)
	return int64(d / Second)
}()

func chaosShift() int64 { return chaosSeconds }
`,
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, content := range files {
		overlay.Replace[filepath.Join(folder, name)] = filepath.Join(dir, name)
		Expect(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)).To(Succeed())
	}
	list, err := json.Marshal(overlay)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600)).To(Succeed())
	program := filepath.Join(plane.Dir(), "signalbox-shifted")
	out, err := exec.CommandContext(ctx, "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, "github.com/signalbox-dev/signalbox/cmd/signalbox").CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	return program
}

// clock is the time that a replica has, as its answers say.
func (r *replica) clock(ctx context.Context) time.Time {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.health+"/healthz", nil)
	Expect(err).NotTo(HaveOccurred())
	answer, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	at, err := http.ParseTime(answer.Header.Get("Date"))
	Expect(err).NotTo(HaveOccurred())
	return at
}
