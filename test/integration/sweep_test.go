//go:build integration

package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/webhook"
)

// process is the program itself as it is installed: its account, its settings, both parts, one lease.
type process struct {
	session         *gexec.Session
	health, metrics string
}

func start(ctx context.Context, program, address string, more ...string) *process {
	GinkgoHelper()
	kubeconfig, err := plane.KubeconfigFor(ctx, "signalbox-system", "signalbox")
	Expect(err).NotTo(HaveOccurred())
	p := &process{health: freeAddress(), metrics: freeAddress()}
	settings := filepath.Join(GinkgoT().TempDir(), "config.yaml")
	Expect(os.WriteFile(settings, fmt.Appendf(nil, `
listen: {webhook: %q, metrics: %q, health: %q}
certificates: {hosts: [127.0.0.1]}
leaderElection: {enabled: true}
%s
`, address, p.metrics, p.health, strings.Join(more, "\n")), 0o600)).To(Succeed())
	cmd := exec.Command(program, "serve", "--config", settings, "--kubeconfig", kubeconfig)
	p.session, err = gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { p.session.Kill().Wait() })
	Eventually(func() error { return cluster.Answers(ctx, "http://"+p.health+"/readyz") }).WithTimeout(time.Minute).Should(Succeed())
	return p
}

// counted is the value of one series of the process; empty: there is none.
func (p *process) counted(series string) string {
	GinkgoHelper()
	answer, err := http.Get("http://" + p.metrics + "/metrics") //nolint:noctx // a test's own
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, series+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

var _ = Describe("A job that was admitted while no webhook answered", Ordered, func() {
	const namespace = "swept"
	var program, address string
	job := func(name string, pods int) *unstructured.Unstructured {
		u := withGPUs(name, pods)
		u.SetNamespace(namespace)
		return u
	}
	note := func(ctx context.Context, name string) string {
		GinkgoHelper()
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		u, err := objects.Resource(pytorchJobs).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		return u.GetAnnotations()[webhook.ReviewAnnotation]
	}
	// told counts the states that replicas have told each other are reviewed: a time of eight bytes, and eight of each.
	told := func(ctx context.Context) (states int) {
		GinkgoHelper()
		kept, err := plane.Clientset().CoreV1().ConfigMaps("signalbox-system").Get(ctx, webhook.ReviewedName, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return 0
		}
		Expect(err).NotTo(HaveOccurred())
		for _, of := range kept.BinaryData {
			states += len(of)/8 - 1
		}
		return states
	}
	// reviewed creates jobs until one is known to have been reviewed whole, and names it: where the machine is so busy that
	// the webhook runs out of time or stands still, what it answered does not count.
	reviewed := func(ctx context.Context, name string) (created string) {
		GinkgoHelper()
		tries, before, written := 0, 0, time.Time{}
		Eventually(func(g Gomega) {
			if time.Since(written) > 5*time.Second {
				tries, before = tries+1, told(ctx)
				created = fmt.Sprintf("%s-%d", name, tries)
				g.Expect(write(ctx, job(created, 2)).err).NotTo(HaveOccurred())
				written = time.Now()
			}
			g.Expect(told(ctx)).To(BeNumerically(">", before))
		}).WithTimeout(time.Minute).Should(Succeed())
		return created
	}
	events := func(ctx context.Context, name string) (out []eventsv1.Event) {
		GinkgoHelper()
		all, err := plane.Clientset().EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, e := range all.Items {
			if e.Regarding.Name == name && (e.Reason == webhook.ReviewedLate || e.Reason == webhook.WouldHaveBeenDenied) {
				out = append(out, e)
			}
		}
		return out
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		program, err = gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		address = freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		Expect(plane.CreateNamespace(ctx, namespace, map[string]string{preflight.ModeLabel: preflight.ModeEnforce})).To(Succeed())
		maps := plane.Clientset().CoreV1().ConfigMaps("signalbox-system")
		_ = maps.Delete(ctx, webhook.ReviewedName, metav1.DeleteOptions{})
		_, err = maps.Create(ctx, policyMap("swept-limits", map[string]string{"limits.yaml": "signalbox: {gpu_limit: {namespaces: {" + namespace + ": 4}}}"}), metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { _ = maps.Delete(ctx, "swept-limits", metav1.DeleteOptions{}) })
	})

	It("is found and reviewed within a minute, and only it", func(ctx SpecContext) {
		By("reviewing jobs while it is there")
		first := start(ctx, program, address)
		Eventually(func() error { return write(ctx, job("large", 8), metav1.DryRunAll).err }).Should(MatchError(ContainSubstring("[max-gpus-per-job]")))
		seen := reviewed(ctx, "seen")
		Eventually(func() error { // it knows from when on it is there
			_, err := plane.Clientset().CoreV1().ConfigMaps("signalbox-system").Get(ctx, webhook.ReviewedName, metav1.GetOptions{})
			return err
		}).Should(Succeed())
		first.session.Terminate()
		Eventually(first.session).WithTimeout(30 * time.Second).Should(gexec.Exit(0))

		By("admitting one while none of them is there")
		missed := write(ctx, job("missed", 8))
		Expect(missed.err).NotTo(HaveOccurred())
		Expect(missed.open).To(BeTrue())

		By("starting one again")
		begun := time.Now()
		again := start(ctx, program, address)
		Eventually(func() string { return note(ctx, "missed") }).WithTimeout(time.Minute).Should(And(
			HavePrefix("It was admitted without a whole review; it would have been denied by max-gpus-per-job:\n"), ContainSubstring("[max-gpus-per-job]")))
		AddReportEntry("from the start to the annotation", time.Since(begun).Round(time.Second).String())
		Eventually(func() []eventsv1.Event { return events(ctx, "missed") }).Should(HaveLen(1))
		Expect(events(ctx, "missed")[0].Reason).To(Equal(webhook.WouldHaveBeenDenied))
		Expect(again.counted(`signalbox_reviewed_late_total{decision="denied"}`)).To(Equal("1"))

		By("leaving alone what was reviewed, and what is reviewed now")
		fresh := reviewed(ctx, "new")
		Consistently(func() string { return note(ctx, seen) + note(ctx, fresh) }).WithTimeout(25 * time.Second).WithPolling(time.Second).Should(BeEmpty())
		Expect(events(ctx, "missed")).To(HaveLen(1))

		By("finding one whose webhook was cut off from the API server only")
		again.session.Signal(syscall.SIGSTOP)
		slow := write(ctx, job("stopped", 8))
		again.session.Signal(syscall.SIGCONT)
		Expect(slow.err).NotTo(HaveOccurred())
		Eventually(func() string { return note(ctx, "stopped") }).WithTimeout(time.Minute).Should(ContainSubstring("would have been denied"))
	})

	// The API server keeps what an author writes into managedFields, times of years to come and none at all.
	It("is found whatever its author writes about when, and whatever stands on it", func(ctx SpecContext) {
		objects, err := dynamic.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		jobs := objects.Resource(pytorchJobs).Namespace(namespace)
		future := []any{map[string]any{
			"manager": "kubectl", "operation": "Update", "apiVersion": "kubeflow.org/v1", "time": "2099-01-01T00:00:00Z",
			"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:nprocPerNode": map[string]any{}}},
		}}
		first := start(ctx, program, address)
		Eventually(func() error { return write(ctx, job("probe", 8), metav1.DryRunAll).err }).Should(MatchError(ContainSubstring("[max-gpus-per-job]")))
		small := reviewed(ctx, "grown")
		forged := job("forged", 2)
		forged.Object["metadata"].(map[string]any)["managedFields"] = future
		Expect(write(ctx, forged).err).NotTo(HaveOccurred())
		stored, err := jobs.Get(ctx, "forged", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.GetManagedFields()).To(ContainElement(HaveField("Time.Time.Year()", 2099)), "the API server keeps it")
		before, err := jobs.Get(ctx, small, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func() (until time.Time) { // all that stands there is looked at
			kept, err := plane.Clientset().CoreV1().ConfigMaps("signalbox-system").Get(ctx, webhook.ReviewedName, metav1.GetOptions{})
			if err != nil {
				return until
			}
			until, _ = time.Parse(time.RFC3339, kept.Data["swept-until"])
			return until
		}).WithTimeout(2 * time.Minute).Should(BeTemporally(">=", before.GetCreationTimestamp().Time))

		first.session.Kill().Wait()
		grown, err := jobs.Get(ctx, small, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(unstructured.SetNestedField(grown.Object, int64(8), "spec", "pytorchReplicaSpecs", "Worker", "replicas")).To(Succeed())
		_, err = jobs.Update(ctx, grown, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(write(ctx, job("twin", 8)).open).To(BeTrue())
		second := start(ctx, program, address)
		denied := func(name string) {
			GinkgoHelper()
			Eventually(func() []eventsv1.Event { return events(ctx, name) }).WithTimeout(time.Minute).Should(HaveLen(1), name)
			Expect(events(ctx, name)[0].Reason).To(Equal(webhook.WouldHaveBeenDenied))
		}
		denied(small)
		denied("twin")

		second.session.Kill().Wait()
		long := job(strings.Repeat("l", 240), 8)
		long.SetAnnotations(map[string]string{webhook.ReviewAnnotation: note(ctx, "twin")}) // what will be said
		Expect(write(ctx, long).open).To(BeTrue())
		third := start(ctx, program, address)
		denied(long.GetName())
		Expect(third.counted(`signalbox_reviewed_late_total{decision="denied"}`)).To(Equal("1"))
	})
})
