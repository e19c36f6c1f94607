//go:build integration

package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	sigyaml "sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/certs"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/test/cluster"
)

var (
	helmProgram = filepath.Join("..", "..", "bin", "tools", "helm")
	chartFolder = filepath.Join("..", "..", "config", "chart")
)

// helm runs helm's own program, with folders of its own.
func helm(ctx context.Context, kubeconfig string, args ...string) (string, error) {
	GinkgoHelper()
	home := GinkgoT().TempDir()
	cmd := exec.CommandContext(ctx, helmProgram, args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "KUBECONFIG=" + kubeconfig}
	text, err := cmd.CombinedOutput()
	if err != nil {
		return string(text), fmt.Errorf("helm %s: %w: %s", strings.Join(args, " "), err, text)
	}
	return string(text), nil
}

// plain are objects by kind and name, without what has to differ between helm and kustomize: helm's labels,
// the checksum and the hash by which either starts new pods, and how the settings are written.
func plain(text string) map[string]any {
	GinkgoHelper()
	out := map[string]any{}
	for document := range strings.SplitSeq(text, "\n---\n") {
		var o map[string]any
		Expect(sigyaml.Unmarshal([]byte(document), &o)).To(Succeed())
		if len(o) == 0 {
			continue
		}
		u := &unstructured.Unstructured{Object: o}
		labels := u.GetLabels()
		for _, key := range []string{"app.kubernetes.io/instance", "app.kubernetes.io/version", "app.kubernetes.io/managed-by", "helm.sh/chart"} {
			delete(labels, key)
		}
		u.SetLabels(labels)
		switch u.GetKind() {
		case "ConfigMap":
			settings, ok, _ := unstructured.NestedString(o, "data", "config.yaml")
			if !ok {
				break
			}
			u.SetName("signalbox-config")
			read, err := config.Read(strings.NewReader(settings))
			Expect(err).NotTo(HaveOccurred())
			o["data"] = read
		case "Deployment":
			unstructured.RemoveNestedField(o, "spec", "template", "metadata", "annotations")
			volumes, _, _ := unstructured.NestedSlice(o, "spec", "template", "spec", "volumes")
			for _, v := range volumes {
				if m, ok := v.(map[string]any)["configMap"].(map[string]any); ok {
					m["name"] = "signalbox-config"
				}
			}
			Expect(unstructured.SetNestedSlice(o, volumes, "spec", "template", "spec", "volumes")).To(Succeed())
		}
		key := u.GetKind() + " " + u.GetNamespace() + "/" + u.GetName()
		Expect(out).NotTo(HaveKey(key))
		out[key] = o
	}
	return out
}

// sortedMounts are objects whose volumes and mounts are in the order of their names: a patch puts its own first.
func sortedMounts(objects map[string]any) map[string]any {
	GinkgoHelper()
	byName := func(list any) {
		all, ok := list.([]any)
		Expect(ok).To(BeTrue())
		slices.SortFunc(all, func(a, b any) int {
			return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
		})
	}
	const deployment = "Deployment signalbox-system/signalbox"
	Expect(objects).To(HaveKey(deployment))
	pod, _, _ := unstructured.NestedFieldNoCopy(objects[deployment].(map[string]any), "spec", "template", "spec")
	byName(pod.(map[string]any)["volumes"])
	byName(pod.(map[string]any)["containers"].([]any)[0].(map[string]any)["volumeMounts"])
	return objects
}

var _ = Describe("The chart", func() {
	for folder, mode := range map[string]string{"default": "builtin", "cert-manager": "cert-manager"} {
		It("makes the objects of config/"+folder, func(ctx SpecContext) {
			text, err := helm(ctx, "", "template", "signalbox", chartFolder, "--namespace", "signalbox-system",
				"--set", "namespace.create=true", "--set", "certificates.mode="+mode)
			Expect(err).NotTo(HaveOccurred())
			Expect(cmp.Diff(plain(rendered(folder)), plain(text))).To(BeEmpty(), "-kustomize +helm")
		})
	}

	for folder, mode := range map[string]string{"closed": "builtin", "closed-cert-manager": "cert-manager"} {
		It("makes the objects of config/"+folder+" where it is asked to", func(ctx SpecContext) {
			text, err := helm(ctx, "", "template", "signalbox", chartFolder, "--namespace", "signalbox-system",
				"--set", "namespace.create=true,closed.enabled=true,certificates.mode="+mode)
			Expect(err).NotTo(HaveOccurred())
			Expect(cmp.Diff(plain(rendered(folder)), plain(text))).To(BeEmpty(), "-kustomize +helm")
		})
	}

	It("closes with two replicas or more, and kinds that there are", func(ctx SpecContext) {
		_, err := helm(ctx, "", "template", "signalbox", chartFolder, "--set", "closed.enabled=true,replicas=1")
		Expect(err).To(MatchError(ContainSubstring("closed.enabled takes replicas of 2 or more, and replicas is 1")))
		_, err = helm(ctx, "", "template", "signalbox", chartFolder, "--set", "closed.enabled=true,closed.kinds={pytorchjob.kubeflow.org}")
		Expect(err).To(MatchError(ContainSubstring(`closed.kinds names "pytorchjob.kubeflow.org"; known are`)))
	})

	It("mounts the key and the credentials of a bundle of policies, and makes the objects of config/with-bundle", func(ctx SpecContext) {
		text, err := helm(ctx, "", "template", "signalbox", chartFolder, "--namespace", "signalbox-system", "--set", "namespace.create=true",
			"--set", "policyBundle.reference=registry.example.com/team/policies:v3,policyBundle.keySecret=bundle-key,policyBundle.credentialsSecret=bundle-registry")
		Expect(err).NotTo(HaveOccurred())
		Expect(cmp.Diff(sortedMounts(plain(rendered("with-bundle"))), sortedMounts(plain(text)))).To(BeEmpty(), "-kustomize +helm")
		_, err = helm(ctx, "", "template", "signalbox", chartFolder, "--set", "policyBundle.key=bundle-key")
		Expect(err).To(MatchError(ContainSubstring("values don't meet the specifications of the schema")))
	})

	It("makes the objects of config/monitoring", func(ctx SpecContext) {
		text, err := helm(ctx, "", "template", "signalbox", chartFolder, "--namespace", "signalbox-system",
			"--set", "monitoring.podMonitor=true,monitoring.rules=true,monitoring.dashboard=true")
		Expect(err).NotTo(HaveOccurred())
		made := plain(text)
		for name, want := range plain(rendered("monitoring")) {
			Expect(made).To(HaveKey(name))
			Expect(cmp.Diff(want, made[name])).To(BeEmpty(), name+" -kustomize +helm")
		}
	})

	It("makes the objects of config/aegis where it is asked to, and else none", func(ctx SpecContext) {
		const settings = "ConfigMap signalbox-system/signalbox-config"
		text, err := helm(ctx, "", "template", "signalbox", chartFolder, "--namespace", "signalbox-system", "--set", "aegis.enabled=true")
		Expect(err).NotTo(HaveOccurred())
		made := plain(text)
		without, err := helm(ctx, "", "template", "signalbox", chartFolder, "--namespace", "signalbox-system")
		Expect(err).NotTo(HaveOccurred())
		for name, want := range plain(rendered("aegis")) {
			Expect(made).To(HaveKey(name))
			Expect(cmp.Diff(want, made[name])).To(BeEmpty(), name+" -kustomize +helm")
			Expect(plain(without)).NotTo(HaveKey(name))
		}
		Expect(made[settings].(map[string]any)["data"].(config.Config).Diagnosis.Aegis).To(BeTrue())
		Expect(plain(without)[settings].(map[string]any)["data"].(config.Config).Diagnosis.Aegis).To(BeFalse())
	})

	It("is installed in a namespace that YAML takes for a number, a word or nothing", func(ctx SpecContext) {
		for _, name := range []string{"123", "true", "null", "1e3", strings.Repeat("n", 63)} {
			_ = plane.CreateNamespace(ctx, name, nil)
			text, err := helm(ctx, "", "template", name[:min(len(name), 53)], chartFolder, "--namespace", name, "--set", "closed.enabled=true")
			Expect(err).NotTo(HaveOccurred())
			file := filepath.Join(GinkgoT().TempDir(), "chart.yaml")
			Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
			_, err = plane.Kubectl(ctx, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", file)
			Expect(err).NotTo(HaveOccurred(), name)
			made := plain(text)
			for _, configuration := range []string{"signalbox", "signalbox-closed"} {
				hooks, _, _ := unstructured.NestedSlice(made["ValidatingWebhookConfiguration /"+configuration].(map[string]any), "webhooks")
				where, _, _ := unstructured.NestedSlice(hooks[0].(map[string]any), "namespaceSelector", "matchExpressions")
				Expect(where[0]).To(HaveKeyWithValue("values", ContainElements("kube-system", name)), configuration+" leaves out our own namespace")
			}
		}
	})

	It("lets no setting say what its manifests hold, too", func(ctx SpecContext) {
		for _, wrong := range []string{
			"config.namespace=other", "config.webhook.exclude={a}", "config.webhook.closed.enabled=true", "config.certificates.service=other",
			"config.certificates.mode=files", "config.listen.webhook=:1", "config.listen.health=:1", "config.leaderElection.enabled=false", "config.diagnosis.aegis=true",
		} {
			path, _, _ := strings.Cut(wrong, "=")
			_, err := helm(ctx, "", "template", "signalbox", chartFolder, "--namespace", "signalbox-system", "--set", wrong)
			Expect(err).To(MatchError(ContainSubstring(strings.TrimSuffix(path, ".enabled"))), wrong)
			Expect(err).To(MatchError(ContainSubstring("is set, and is for")), wrong)
		}
		_, err := helm(ctx, "", "template", "signalbox", chartFolder, "--namespace", "signalbox-system", "--set",
			"config.namespace=signalbox-system,config.leaderElection.enabled=true,config.listen.debug=127.0.0.1:1,config.webhook.deadline=150ms")
		Expect(err).NotTo(HaveOccurred())
	})

	It("refuses values that it does not know", func(ctx SpecContext) {
		for _, wrong := range []string{
			"replica=3", "certificates.mode=vault", "config.webhok.deadline=1s", "config.webhook.dedline=1s", "image.digest=latest",
			"resources.limits.memory=lots", "resources.limits.memory=-1Gi", "resources.limit.memory=1Gi", "priorityClassName=Very High",
			"image.repository=registry.example/signalbox@sha256", "image.repository=null", "image.tag=1 2", "imagePullSecrets[0].name=A_B",
			"namespaces.exclude={" + strings.Repeat("n", 64) + "}", "closed=null", "certificates.mode=null", "replicas=null", "replicas=2147483648",
			"model.apiKeySecret=A_B", "model.apiKeySecretKey=../key", "notifications.secret=a/b", "policyBundle.keySecretKey=", "policies.\\.\\.rego=x",
		} {
			text, err := helm(ctx, "", "template", "signalbox", chartFolder, "--set", wrong)
			Expect(err).To(HaveOccurred(), wrong+": "+text)
			Expect(err.Error()).To(ContainSubstring("values don't meet the specifications of the schema"))
		}
	})
})

var _ = Describe("A release of the chart", Ordered, func() {
	const namespace = "signals"
	var own *cluster.Cluster // what it installs is of the whole cluster
	run := func(ctx context.Context, args ...string) {
		GinkgoHelper()
		_, err := helm(ctx, own.Kubeconfig(), append(args, "--namespace", namespace)...)
		Expect(err).NotTo(HaveOccurred())
	}
	bundle := func(ctx context.Context) []byte {
		GinkgoHelper()
		got, err := own.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "signalbox", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		return got.Webhooks[0].ClientConfig.CABundle
	}
	excluded := func(ctx context.Context) []string {
		GinkgoHelper()
		got, err := own.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "signalbox", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		return got.Webhooks[0].NamespaceSelector.MatchExpressions[0].Values
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		own, err = cluster.Start(context.Background(), cluster.Options{Progress: GinkgoWriter})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() error { return own.Stop() })
	})

	It("installs as the README prints it, both ways", func(ctx SpecContext) {
		root, err := filepath.Abs(filepath.Join("..", ".."))
		Expect(err).NotTo(HaveOccurred())
		bin := GinkgoT().TempDir() // the programs of the control plane and helm, as on somebody's machine
		for name, program := range map[string]string{"kubectl": own.Program("kubectl"), "helm": filepath.Join(root, "bin", "tools", "helm")} {
			Expect(os.Symlink(program, filepath.Join(bin, name))).To(Succeed())
		}
		shell := func(line string) {
			GinkgoHelper()
			cmd := exec.CommandContext(ctx, "bash", "-euc", line)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+GinkgoT().TempDir(), "KUBECONFIG="+own.Kubeconfig())
			text, err := cmd.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), "%s\n%s", line, text)
		}
		readme, err := os.ReadFile(filepath.Join(root, "README.md"))
		Expect(err).NotTo(HaveOccurred())
		_, section, _ := strings.Cut(string(readme), "## Install\n")
		offline := regexp.MustCompile(`(?m)^\$ make build && (.*)$`).FindStringSubmatch(section) // make e2e builds before
		Expect(offline).NotTo(BeNil())
		shell("unset KUBECONFIG; " + strings.Replace(offline[1], "job.yaml", "config/samples/pytorchjob.yaml", 1))
		byHelm := regexp.MustCompile(`(?m)^\$ (helm install .*)$`).FindStringSubmatch(section)
		byMake := regexp.MustCompile("`(make install [^`]*)`").FindStringSubmatch(section)
		Expect(byHelm).NotTo(BeNil())
		Expect(byMake).NotTo(BeNil())
		image := func() string {
			GinkgoHelper()
			deployment, err := own.Clientset().AppsV1().Deployments("signalbox-system").Get(ctx, "signalbox", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			return deployment.Spec.Template.Spec.Containers[0].Image
		}
		shell(byHelm[1])
		Expect(image()).To(Equal("registry.example/signalbox:0.1.0"))
		shell("helm uninstall signalbox --namespace signalbox-system")
		shell(byMake[1])
		Expect(image()).To(Equal("registry.example/signalbox:0.1.0"))
		shell("kubectl delete -k config/default --wait=false")
	})

	It("installs into a namespace of any name, whose account issues the certificate", func(ctx SpecContext) {
		run(ctx, "install", "trains", chartFolder, "--create-namespace", "--set", "image.repository=registry.example/signalbox")
		deployment, err := own.Clientset().AppsV1().Deployments(namespace).Get(ctx, "signalbox", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(deployment.Spec.Template.Spec.Containers[0].Image).To(Equal("registry.example/signalbox:0.1.0"))
		settings, err := own.Clientset().CoreV1().ConfigMaps(namespace).Get(ctx, "signalbox-config", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		read, err := config.Read(strings.NewReader(settings.Data["config.yaml"]))
		Expect(err).NotTo(HaveOccurred())
		Expect(read.Namespace).To(Equal(namespace))

		account, err := own.ConfigFor(ctx, namespace, "signalbox")
		Expect(err).NotTo(HaveOccurred())
		client, err := kubernetes.NewForConfig(account)
		Expect(err).NotTo(HaveOccurred())
		issuer := certs.NewAuthority(certs.Options{
			Client: client, Namespace: namespace, Secret: "signalbox-webhook-cert", Configurations: []string{"signalbox"},
			Hosts: []string{"signalbox-webhook." + namespace + ".svc"}, Log: GinkgoLogr,
		})
		Expect(issuer.Step(ctx)).To(Succeed())
		Expect(bundle(ctx)).NotTo(BeEmpty())
	})

	It("is upgraded and rolled back, and keeps the CA that it did not install", func(ctx SpecContext) {
		before := bundle(ctx)
		run(ctx, "upgrade", "trains", chartFolder, "--reuse-values", "--set", "replicas=3", "--set", "namespaces.exclude={sandbox}",
			"--set-string", `policies.never\.rego=package signalbox.never`)
		Expect(excluded(ctx)).To(ConsistOf("kube-system", namespace, "sandbox"))
		policies, err := own.Clientset().CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{LabelSelector: "signalbox.dev/policy=true"})
		Expect(err).NotTo(HaveOccurred())
		Expect(policies.Items).To(HaveLen(1))
		Expect(bundle(ctx)).To(Equal(before))

		run(ctx, "rollback", "trains", "1")
		Expect(excluded(ctx)).To(ConsistOf("kube-system", namespace))
		deployment, err := own.Clientset().AppsV1().Deployments(namespace).Get(ctx, "signalbox", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(*deployment.Spec.Replicas).To(BeEquivalentTo(2))
		Expect(bundle(ctx)).To(Equal(before))
	})

	It("is uninstalled, and leaves nothing that blocks and no right", func(ctx SpecContext) {
		run(ctx, "uninstall", "trains")
		admission, rbac := own.Clientset().AdmissionregistrationV1(), own.Clientset().RbacV1()
		webhooks, err := admission.ValidatingWebhookConfigurations().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(webhooks.Items).To(BeEmpty())
		bounds, err := admission.ValidatingAdmissionPolicies().List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(bounds.Items).To(BeEmpty())
		roles, err := rbac.ClusterRoles().List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=signalbox"})
		Expect(err).NotTo(HaveOccurred())
		Expect(roles.Items).To(BeEmpty())
		_, err = rbac.Roles("kube-system").Get(ctx, "signalbox-autoscaler", metav1.GetOptions{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)

		// What the notes say is left, is.
		_, err = own.Clientset().CoreV1().Secrets(namespace).Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
	})
})
