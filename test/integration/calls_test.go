//go:build integration

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// What a cluster's API server is asked because of one job that failed, in a namespace where others fail, too.
var _ = Describe("Jobs that fail together", func() {
	It("cost at most ten calls of the API server each", func(ctx SpecContext) {
		const namespace, failing, most = "together", 30, 10
		dir := GinkgoT().TempDir()
		log, policy := filepath.Join(dir, "audit.log"), filepath.Join(dir, "policy.yaml")
		Expect(os.WriteFile(policy, []byte(rightsPolicy), 0o600)).To(Succeed())
		own, err := cluster.Start(context.Background(), cluster.Options{Progress: GinkgoWriter, ExtraArgs: map[string][]string{"kube-apiserver": {
			"--audit-policy-file=" + policy, "--audit-log-path=" + log, "--audit-log-mode=blocking",
		}}})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() error { return own.Stop() })
		Expect(own.InstallCRDs(ctx, cluster.TrainingOperator)).To(Succeed())
		address := freeAddress()
		Expect(own.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		Expect(own.Apply(ctx, "apiVersion: v1\nkind: Node\nmetadata: {name: n1}")).To(Succeed())
		Expect(own.CreateNamespace(ctx, namespace, nil)).To(Succeed())
		objects, err := dynamic.NewForConfig(own.Config())
		Expect(err).NotTo(HaveOccurred())
		jobs := objects.Resource(pytorchJobs).Namespace(namespace)

		program, err := gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		kubeconfig, err := own.KubeconfigFor(ctx, "signalbox-system", "signalbox")
		Expect(err).NotTo(HaveOccurred())
		settings, health := filepath.Join(dir, "config.yaml"), freeAddress()
		Expect(os.WriteFile(settings, fmt.Appendf(nil, "listen: {webhook: %q, metrics: \"0\", health: %q}\ncertificates: {hosts: [127.0.0.1]}\n", address, health), 0o600)).To(Succeed())
		session, err := gexec.Start(exec.Command(program, "serve", "--config", settings, "--kubeconfig", kubeconfig), GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait() })
		Eventually(func() error { return cluster.Answers(ctx, "http://"+health+"/readyz") }).WithTimeout(time.Minute).Should(Succeed())

		fail := func(name string) {
			GinkgoHelper()
			job, err := jobs.Create(ctx, sample("pytorchjob.yaml", namespace, name), metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			for _, role := range []string{"master", "worker"} {
				pod, err := own.Clientset().CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{
					ObjectMeta: metav1.ObjectMeta{
						Name: name + "-" + role + "-0", Labels: map[string]string{
							"training.kubeflow.org/job-name": name, "training.kubeflow.org/operator-name": "pytorchjob-controller",
							"training.kubeflow.org/replica-type": role, "training.kubeflow.org/replica-index": "0",
						},
						OwnerReferences: []metav1.OwnerReference{{APIVersion: job.GetAPIVersion(), Kind: job.GetKind(), Name: name, UID: job.GetUID(), Controller: new(true)}},
					},
					Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "pytorch", Image: "registry.example.com/t:1"}}},
				}, metav1.CreateOptions{})
				Expect(err).NotTo(HaveOccurred())
				pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
					Name: "pytorch", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", FinishedAt: metav1.Now()}},
				}}}
				_, err = own.Clientset().CoreV1().Pods(namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
				Expect(err).NotTo(HaveOccurred())
			}
			conditionIn(ctx, jobs, name, "Failed", "PyTorchJobFailed")
		}
		diagnosed := func() (n int) {
			list, err := jobs.List(ctx, metav1.ListOptions{})
			Expect(err).NotTo(HaveOccurred())
			for _, u := range list.Items {
				if u.GetAnnotations()["signalbox.dev/healthy"] == "No" {
					n++
				}
			}
			return n
		}
		fail("first") // the kind is found, and its informers have begun
		Eventually(diagnosed).WithTimeout(2 * time.Minute).Should(Equal(1))
		begun, err := os.Stat(log)
		Expect(err).NotTo(HaveOccurred())
		for i := range failing {
			fail(fmt.Sprintf("f%d", i))
		}
		Eventually(diagnosed).WithTimeout(2 * time.Minute).Should(Equal(failing + 1))
		calls, all := callsOf(log, begun.Size(), namespace), 0
		for _, n := range calls {
			all += n
		}
		AddReportEntry("calls of the API server for each job", fmt.Sprintf("%.1f: %v", float64(all)/failing, calls))
		Expect(float64(all)/failing).To(BeNumerically("<=", most), "%v", calls)
	})
})

// callsOf are the requests that an audit log has from a place on, by what they were, but for what is not asked because
// of a job: leases, and what replicas tell each other. No kubelet runs here: a log that is asked for again because nobody
// answered counts once.
func callsOf(log string, begin int64, namespace string) map[string]int {
	GinkgoHelper()
	file, err := os.Open(log)
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	_, err = file.Seek(begin, 0)
	Expect(err).NotTo(HaveOccurred())
	out, logs := map[string]int{}, map[string]bool{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		var e struct {
			Verb, RequestURI string
			ObjectRef        struct{ Resource, APIGroup, Subresource, Namespace string }
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.ObjectRef.Namespace == "signalbox-system" || e.Verb == "watch" {
			continue
		}
		if e.ObjectRef.Subresource == "log" {
			if logs[e.RequestURI] {
				continue
			}
			logs[e.RequestURI] = true
		}
		what := e.ObjectRef.Resource
		if e.ObjectRef.Subresource != "" {
			what += "/" + e.ObjectRef.Subresource
		}
		if what == "" {
			what = "discovery"
		}
		if e.ObjectRef.Namespace != namespace {
			what += " elsewhere"
		}
		out[e.Verb+" "+what]++
	}
	return out
}
