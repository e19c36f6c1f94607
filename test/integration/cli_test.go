//go:build integration

package integration

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
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
			Expect(said).To(ContainSubstring("2 Node, "))
			live, _ := run(1, "check", "-f", job, "-o", "json")
			saved, _ := run(1, "check", "-f", job, "-o", "json", "--snapshot", file)
			Expect(saved).To(Equal(live), name)
			Expect(live).To(ContainSubstring("priority-class-missing"))
			Expect(live).To(ContainSubstring(`"verdict": "too-big"`))
		}
	})

	It("keeps commands, environments, images and annotations out of a snapshot", func() {
		out, _ := run(0, "snapshot", "-o", "-")
		Expect(out).To(ContainSubstring("notebook-ana"))
		for _, secret := range []string{"password-of-ana", "command-of-ana", "image-of-ana", "annotation-of-ana"} {
			Expect(out).NotTo(ContainSubstring(secret))
		}
	})

	It("replaces names by the same pseudonyms every time, and the fit does not change", func() {
		file := filepath.Join(dir, "nameless.yaml.gz")
		run(0, "snapshot", "--pseudonyms", "-o", file)
		text := unzipped(file)
		for _, name := range []string{"notebook-ana", "cli-a", "cli-b", "secret-project"} {
			Expect(text).NotTo(ContainSubstring(name))
		}
		again, _ := run(0, "snapshot", "--pseudonyms", "-o", "-")
		Expect(withoutTime(again)).To(Equal(withoutTime(text)))
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

	It("treats what the user may not list as unknown, and says so", func() {
		out, _ := run(0, "check", "-f", job, "--as", "nobody")
		Expect(out).To(ContainSubstring("you may not list them, so they are unknown"))
		Expect(out).NotTo(ContainSubstring("priority-class-missing] "))
		Expect(out).To(ContainSubstring("you may not read ConfigMaps in signalbox-system"))
	})

	It("names a job that is not there", func() {
		_, said := run(2, "diagnose", "pytorchjob/nosuch", "-n", "cli")
		Expect(said).To(Equal("signalbox: PyTorchJob cli/nosuch: not found\n"))
	})
})

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
