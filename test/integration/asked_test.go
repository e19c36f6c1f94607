//go:build integration

package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
)

// A shell asks the installation by one dry run of the job. The account of the installation asks the API server whether
// who asks may list nodes: only then their names are in the answer.
var _ = Describe("A shell where Signalbox is installed", Ordered, func() {
	var own *line.Line
	var program, job string

	run := func(args ...string) (int, string) {
		GinkgoHelper()
		var said bytes.Buffer
		cmd := exec.Command(program, args...)
		cmd.Stdout, cmd.Stderr = &said, &said
		cmd.Env = append(os.Environ(), "KUBECONFIG="+own.Kubeconfig())
		_ = cmd.Run() // the exit code is looked at
		return cmd.ProcessState.ExitCode(), said.String()
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		program, err = gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		own, err = line.Start(context.Background(), line.Options{Parts: cluster.TrainingOperator, Nodes: line.Pools(), Progress: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() error { return own.Stop() })
		Expect(own.CreateNamespace(ctx, "cli", nil)).To(Succeed())
		job = filepath.Join(GinkgoT().TempDir(), "job.yaml")
		Expect(os.WriteFile(job, []byte(plainJob), 0o600)).To(Succeed())
		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "authors"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"kubeflow.org"}, Resources: []string{"pytorchjobs"}, Verbs: []string{"create"}}}}
		_, err = own.Clientset().RbacV1().Roles("cli").Create(ctx, role, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		_, err = own.Clientset().RbacV1().RoleBindings("cli").Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "authors"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "authors"},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "author"}},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
	})

	It("names nodes to who may list them", func() {
		code, said := run("fit", job)
		Expect(code).To(Equal(0), said)
		Expect(said).To(ContainSubstring("what Signalbox in the cluster answers; --ask=never lists nodes and pods instead"))
		Expect(said).To(MatchRegexp(`plan +2 Workers on `))
		Expect(said).NotTo(ContainSubstring("the cluster is listed"))
	})

	It("answers who may only create the job, and names no node", func() {
		code, said := run("fit", job, "--as", "author")
		Expect(code).To(Equal(0), said)
		Expect(said).To(ContainSubstring("without the names of nodes, which only those see who may list them"))
		Expect(said).NotTo(ContainSubstring("plan"))
	})

	It("does not know where the job may not even be created", func() {
		code, said := run("fit", job, "--as", "stranger")
		Expect(code).To(Equal(4), said)
		Expect(said).To(ContainSubstring("you may not create a PyTorchJob in namespace cli"))
	})

	// kubectl apply changes what the file says and leaves what the API server has filled in.
	It("takes a file that is applied already, as kubectl does", func(ctx SpecContext) {
		file := filepath.Join(GinkgoT().TempDir(), "batch.yaml")
		text := `apiVersion: batch/v1
kind: Job
metadata: {name: applied, namespace: cli, labels: {team: a, tier: x}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: train, image: "registry.example.com/train:1", command: [python, train.py], resources: {limits: {memory: 1Gi}}}]}}}
`
		Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		_, err := own.Kubectl(ctx, "apply", "-f", file)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(file, []byte(strings.ReplaceAll(text, ", tier: x", "")), 0o600)).To(Succeed())
		for _, args := range [][]string{{"check", file}, {"check", "job/applied", "-n", "cli"}} {
			code, said := run(args...)
			Expect(code).To(Equal(0), said)
			Expect(said).NotTo(ContainSubstring("server-dry-run"), said)
			Expect(said).NotTo(ContainSubstring("selector"), said)
		}
		Expect(os.WriteFile(file, []byte(strings.ReplaceAll(text, "train:1", "train:2")), 0o600)).To(Succeed())
		code, said := run("check", file)
		Expect(code).To(Equal(1), said)
		Expect(said).To(ContainSubstring("field is immutable"))
	})
})
