//go:build integration

package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const jobOnFile = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: from-a-file, namespace: cli}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 3
      template:
        spec:
          priorityClassName: no-such-class
          containers:
          - name: pytorch
            image: registry.example.com/train:1
            resources: {limits: {nvidia.com/gpu: 8}}
`

// plainJob is taken by every API server.
const plainJob = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: plain, namespace: cli}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 2
      template:
        spec:
          containers:
          - {name: pytorch, image: "registry.example.com/train:1", resources: {limits: {cpu: 1, memory: 1Gi}}}
`

// whoAndWhere tells who asks, and what is seen of the cluster.
const whoAndWhere = `# METADATA
# title: who asks, and where
# description: For a test.
# custom: {remedy: None.}
package signalbox.who

deny contains {"path": "spec", "msg": msg} if {
	input.cluster.nodes > 0
	msg := sprintf("%s by %s of %v on %d nodes", [input.request.operation, input.request.user, input.request.groups, input.cluster.nodes])
}
`

// namesObjects names a Secret that is there, and a Secret and a ConfigMap that are not.
const namesObjects = `apiVersion: batch/v1
kind: Job
metadata: {name: names, namespace: cli}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example.com/train:1
        resources: {limits: {cpu: 1, memory: 1Gi}}
        env:
        - {name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hf-token, key: token}}}
        - {name: WANDB, valueFrom: {secretKeyRef: {name: wandb, key: token}}}
        volumeMounts: [{name: script, mountPath: /script}]
      volumes:
      - {name: script, configMap: {name: script}}
`

var _ = Describe("the command line against a live cluster", Ordered, func() {
	var program, dir, job string

	run := func(want int, args ...string) (out, errs string) {
		GinkgoHelper()
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(program, args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig())
		_ = cmd.Run() // the exit code is looked at
		Expect(cmd.ProcessState.ExitCode()).To(Equal(want), "signalbox %s\n%s%s", strings.Join(args, " "), stdout.String(), stderr.String())
		return stdout.String(), stderr.String()
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		program, err = gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(gexec.CleanupBuildArtifacts)
		dir = GinkgoT().TempDir()
		job = filepath.Join(dir, "job.yaml")
		Expect(os.WriteFile(job, []byte(jobOnFile), 0o600)).To(Succeed())

		core := plane.Clientset().CoreV1()
		_, err = core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cli", Labels: map[string]string{"team": "secret-project"}}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		for _, name := range []string{"cli-a", "cli-b"} {
			node, err := core.Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}}, metav1.CreateOptions{})
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(func(ctx SpecContext) { _ = core.Nodes().Delete(ctx, name, metav1.DeleteOptions{}) })
			node.Spec.Taints = nil
			node, err = core.Nodes().Update(ctx, node, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
			node.Status.Allocatable = corev1.ResourceList{"cpu": resource.MustParse("96"), "memory": resource.MustParse("1Ti"), "pods": resource.MustParse("110"), "nvidia.com/gpu": resource.MustParse("8")}
			node.Status.Capacity = node.Status.Allocatable
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			_, err = core.Nodes().UpdateStatus(ctx, node, metav1.UpdateOptions{})
			Expect(err).NotTo(HaveOccurred())
		}
		_, err = core.ServiceAccounts("cli").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
		Expect(err).To(Or(BeNil(), MatchError(ContainSubstring("already exists"))))
		_, err = core.Pods("cli").Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "notebook-ana", Annotations: map[string]string{"note": "annotation-of-ana"}},
			Spec: corev1.PodSpec{NodeName: "cli-b", Containers: []corev1.Container{{
				Name: "main", Image: "registry.example.com/image-of-ana", Command: []string{"command-of-ana"},
				Env:       []corev1.EnvVar{{Name: "PASSWORD", Value: "password-of-ana"}},
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}},
			}}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) {
			now := int64(0)
			_ = core.Pods("cli").Delete(ctx, "notebook-ana", metav1.DeleteOptions{GracePeriodSeconds: &now})
		})
	})

	It("says the same live and against the snapshot it takes", func() {
		for _, name := range []string{"cluster.yaml", "cluster.json", "cluster.yaml.gz"} {
			file := filepath.Join(dir, name)
			_, said := run(0, "snapshot", "-o", file)
			Expect(said).To(ContainSubstring("2 Nodes, "))
			live, _ := run(1, "check", "-f", job, "-o", "json")
			saved, _ := run(1, "check", "-f", job, "-o", "json", "--snapshot", file)
			Expect(saved).To(Equal(live), name)
			Expect(live).To(ContainSubstring("priority-class-missing"))
			Expect(live).To(ContainSubstring(`"verdict": "too-big"`))
		}
	})

	It("writes no snapshot for somebody who may list nothing", func() {
		file := filepath.Join(GinkgoT().TempDir(), "cluster.yaml")
		_, said := run(2, "snapshot", "-o", file, "--as", "nobody")
		Expect(said).To(ContainSubstring("nothing of the cluster could be listed, and no file is written"))
		Expect(file).NotTo(BeAnExistingFile())
	})

	It("keeps commands, environments, images and annotations out of a snapshot", func() {
		out, _ := run(0, "snapshot", "-o", "-")
		Expect(out).To(ContainSubstring("notebook-ana"))
		for _, secret := range []string{"password-of-ana", "command-of-ana", "image-of-ana", "annotation-of-ana"} {
			Expect(out).NotTo(ContainSubstring(secret))
		}
	})

	It("keeps the jobs in a snapshot where they are wanted, without secrets, for whoever audits them", func(ctx SpecContext) {
		Expect(plane.Apply(ctx, strings.Replace(plainJob, "{name: pytorch,", "{name: pytorch, env: [{name: HF_TOKEN, value: token-of-ana}],", 1))).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { _, _ = plane.Kubectl(ctx, "delete", "pytorchjob", "plain", "-n", "cli") })
		file := filepath.Join(dir, "jobs.yaml")
		run(0, "snapshot", "--jobs", "--plain", "-o", file)
		text, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(And(ContainSubstring("HF_TOKEN"), Not(ContainSubstring("token-of-ana"))))
		live, _ := run(0, "audit", "-n", "cli")
		saved, _ := run(0, "audit", "-n", "cli", "--snapshot", file)
		Expect(saved).To(Equal(live))
		listed, _ := run(0, "get", "jobs", "-n", "cli", "--snapshot", file, "-o", "name")
		Expect(listed).To(Equal("pytorchjob.kubeflow.org/plain\n"))
		_, said := run(2, "snapshot", "--jobs", "--pseudonymise", "-o", "-")
		Expect(said).To(ContainSubstring("expected one of them: --pseudonymise for a cluster without names"))
	})

	It("replaces names by the same pseudonyms for the same salt, and the fit does not change", func() {
		file := filepath.Join(dir, "nameless.yaml.gz")
		run(0, "snapshot", "--pseudonymise", "--salt", "a", "-o", file)
		text := unzipped(file)
		for _, name := range []string{"notebook-ana", "cli-a", "cli-b", "secret-project"} {
			Expect(text).NotTo(ContainSubstring(name))
		}
		again, _ := run(0, "snapshot", "--pseudonymise", "--salt", "a", "-o", "-")
		Expect(withoutTime(again)).To(Equal(withoutTime(text)))
		other, _ := run(0, "snapshot", "--pseudonymise", "-o", "-")
		Expect(withoutTime(other)).NotTo(Equal(withoutTime(text)))
		verdict := func(args ...string) any {
			GinkgoHelper()
			out, _ := run(1, append([]string{"fit", "-f", job, "-o", "json"}, args...)...)
			var d struct {
				Jobs []struct{ Fit struct{ Placed, Wanted int } }
			}
			Expect(json.Unmarshal([]byte(out), &d)).To(Succeed())
			return d.Jobs[0].Fit
		}
		Expect(verdict("--snapshot", file)).To(Equal(verdict()))
	})

	It("asks for what the job names, one by one, and reads nothing of it", func(ctx SpecContext) {
		core := plane.Clientset().CoreV1()
		_, err := core.Secrets("cli").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "hf-token"}, StringData: map[string]string{"token": "token-of-ana"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(dir, "names.yaml")
		Expect(os.WriteFile(file, []byte(namesObjects), 0o600)).To(Succeed())
		out, _ := run(0, "check", "-f", file)
		Expect(out).To(ContainSubstring(`variable WANDB of container main needs Secret "wandb", which does not exist in namespace cli`))
		Expect(out).To(ContainSubstring(`volume script needs ConfigMap "script", which does not exist in namespace cli`))
		Expect(out).To(ContainSubstring(`not checked: secret-key-missing (the view of the cluster does not hold the keys of Secret "hf-token")`))
		Expect(strings.Count(out, "hf-token")).To(Equal(1))
		out, _ = run(0, "check", "-f", file, "--as", "nobody")
		Expect(out).To(ContainSubstring("secrets in cli, configmaps in cli (you may not read them, so whether those that the jobs name exist is unknown; to ask for: get on them)"))
		Expect(out).To(ContainSubstring(`not checked: secret-key-missing, secret-missing (the view of the cluster does not hold Secret "hf-token", Secret "wandb")`))
		Expect(out).NotTo(ContainSubstring("[secret-missing]"))
	})

	It("asks the API server whether it would take the pods, and creates none", func(ctx SpecContext) {
		core := plane.Clientset().CoreV1()
		_, err := core.Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "strict", Labels: map[string]string{"pod-security.kubernetes.io/enforce": "baseline"}}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = core.ServiceAccounts("strict").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
		Expect(err).To(Or(BeNil(), MatchError(ContainSubstring("already exists"))))
		write := func(text string) string {
			GinkgoHelper()
			file := filepath.Join(dir, "server.yaml")
			Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
			return file
		}
		By("saying nothing about pods that it takes")
		out, _ := run(0, "check", "--server", "-f", write(plainJob))
		Expect(out).NotTo(ContainSubstring("server-dry-run"))
		By("naming the field that it refuses")
		out, _ = run(1, "check", "--server", "-f", write(strings.Replace(plainJob, "image:", "terminationMessagePolicy: Sometimes, image:", 1)))
		Expect(out).To(ContainSubstring(`the API server refuses the pods of Worker: Unsupported value: "Sometimes"`))
		By("passing on what admission says")
		quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"pods": resource.MustParse("0")}}}
		_, err = core.ResourceQuotas("cli").Create(ctx, quota, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { _ = core.ResourceQuotas("cli").Delete(ctx, "none", metav1.DeleteOptions{}) })
		Eventually(func() string {
			cmd := exec.Command(program, "check", "--server", "-f", write(plainJob))
			cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig())
			text, _ := cmd.Output()
			return string(text)
		}).Should(Or(ContainSubstring("exceeded quota: none"), ContainSubstring("quota-exceeded")))
		By("leaving out what a check of ours has said")
		out, _ = run(1, "check", "--server", "-f", write(strings.NewReplacer("namespace: cli", "namespace: strict", "containers:", "hostPID: true\n          containers:").Replace(plainJob)))
		Expect(out).To(ContainSubstring("2 pods break 1 rule of level baseline, which the namespace enforces: host namespaces"))
		Expect(out).NotTo(ContainSubstring("server-dry-run"))
		By("saying that it could not ask")
		out, _ = run(0, "check", "--server", "-f", write(plainJob), "--as", "nobody")
		Expect(out).To(ContainSubstring("not checked: server-dry-run (you may not create pods in namespace cli, so the API server was not asked; to ask for: create on pods there)"))
		By("creating nothing")
		pods, err := core.Pods("strict").List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(pods.Items).To(BeEmpty())
	})

	It("treats what the user may not list as unknown, and says so", func() {
		out, _ := run(0, "check", "-f", job, "--as", "nobody")
		Expect(out).To(ContainSubstring("you may not list them, so they are unknown"))
		Expect(out).NotTo(ContainSubstring("[priority-class-missing]"))
		Expect(out).To(ContainSubstring("you may not read ConfigMaps in signalbox-system"))
	})

	It("reviews a job of the cluster that an argument names as the file would be", func(ctx SpecContext) {
		Expect(plane.Apply(ctx, plainJob)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { _, _ = plane.Kubectl(ctx, "delete", "pytorchjob", "plain", "-n", "cli") })
		text, err := plane.Kubectl(ctx, "get", "pytorchjob", "plain", "-n", "cli", "-o", "yaml")
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(dir, "plain.yaml")
		Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		for _, command := range []string{"check", "fit"} {
			of, _ := run(0, command, file)
			for _, named := range [][]string{{"pytorchjob/plain"}, {"pytorchjobs", "plain"}} {
				out, _ := run(0, append([]string{command, "-n", "cli"}, named...)...)
				Expect(strings.ReplaceAll(out, "pytorchjob/plain:1", file+":1")).To(Equal(of))
			}
			_, said := run(2, command, "pytorchjob/plan", "-n", "cli")
			Expect(said).To(Equal("signalbox: PyTorchJob cli/plan: not found; did you mean \"plain\"?\n"))
		}
	})

	It("asks policies about a job of the cluster on behalf of anybody, with what the cluster shows to whoever runs it", func(ctx SpecContext) {
		Expect(plane.Apply(ctx, plainJob)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { _, _ = plane.Kubectl(ctx, "delete", "pytorchjob", "plain", "-n", "cli") })
		folder := filepath.Join(dir, "who-and-where")
		Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(folder, "who.rego"), []byte(whoAndWhere), 0o600)).To(Succeed())
		for _, asks := range [][]string{{"policy", "check", "pytorchjob/plain", "-n", "cli"}, {"policy", "audit", "-n", "cli"}} {
			out, _ := run(1, append(asks, "--policy", folder, "--as", "nobody", "--as-group", "guests")...)
			Expect(out).To(MatchRegexp(`CREATE by nobody of \["guests", "system:authenticated"\] on [1-9][0-9]* nodes`))
		}
	})

	It("names a job that is not there", func() {
		_, said := run(2, "diagnose", "pytorchjob/nosuch", "-n", "cli")
		Expect(said).To(Equal("signalbox: PyTorchJob cli/nosuch: not found\n"))
		By("or whose namespace is not")
		_, said = run(2, "diagnose", "pytorchjob/nosuch", "-n", "clj")
		Expect(said).To(Equal("signalbox: PyTorchJob clj/nosuch: not found; namespace \"clj\" does not exist; did you mean \"cli\"?\n"))
		for _, command := range [][]string{{"get", "jobs"}, {"audit"}} {
			_, said = run(2, append(command, "-n", "clj")...)
			Expect(said).To(Equal("signalbox: namespace \"clj\" does not exist; did you mean \"cli\"?\n"))
		}
		By("or whose node")
		_, said = run(2, "get", "jobs", "-A", "--node", "cli-x")
		Expect(said).To(MatchRegexp(`no node is called "cli-x", and no job failed on one of that name; did you mean "cli-[ab]"\?\n$`))
		By("and of which the kind stands before the name")
		_, said = run(2, "get", "jobs", "pytorchjob/nosuch", "-n", "cli")
		Expect(said).To(ContainSubstring("no training job called nosuch is in namespace cli"))
		_, said = run(2, "get", "jobs", "pytorchjob/nosuch", "other", "-n", "cli")
		Expect(said).To(ContainSubstring("expected KIND/NAME of one kind, or names alone"))
		By("and a cluster that does not answer in time")
		mute := httptest.NewServer(silentAbout("/namespaces/cli/"))
		DeferCleanup(mute.Close)
		config := filepath.Join(dir, "mute.kubeconfig")
		Expect(os.WriteFile(config, []byte(`{apiVersion: v1, kind: Config, current-context: m, contexts: [{name: m, context: {cluster: m}}],
clusters: [{name: m, cluster: {server: "`+mute.URL+`"}}]}`), 0o600)).To(Succeed())
		_, said = run(4, "get", "jobs", "-n", "cli", "--kubeconfig", config, "--request-timeout", "3s")
		Expect(said).To(MatchRegexp("the cluster does not answer(?: in time)?: "))
	})
})

// silentAbout passes on what is asked of the control plane, and never answers what has the text in its path.
func silentAbout(text string) http.Handler {
	GinkgoHelper()
	config := plane.Config()
	there, err := url.Parse(config.Host)
	Expect(err).NotTo(HaveOccurred())
	transport, err := rest.TransportFor(config)
	Expect(err).NotTo(HaveOccurred())
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(there) }}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, text) {
			<-r.Context().Done()
			return
		}
		proxy.ServeHTTP(w, r)
	})
}

func unzipped(file string) string {
	GinkgoHelper()
	f, err := os.Open(file)
	Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	z, err := gzip.NewReader(f)
	Expect(err).NotTo(HaveOccurred())
	text, err := io.ReadAll(z)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// withoutTime drops when a snapshot was taken.
func withoutTime(snapshot string) string {
	var out []string
	for line := range strings.Lines(snapshot) {
		if !strings.Contains(line, "signalbox.dev/taken") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "")
}
