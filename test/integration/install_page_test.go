//go:build integration

package integration

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/webhook"
)

// notRunHere are the page's commands that a bare API server cannot show, and what does.
var notRunHere = map[string]string{
	"make push IMAGE=registry.example/signalbox:0.1.0": "test/tools/release pushes into a registry in process",
	"make images":       "test/tools/release",
	"make build":        "what runs these specs",
	"ctr images import": "of another project",
	"kubectl port-forward -n signalbox-system deploy/signalbox 8082 &":                 "no pod runs; TestTheLogsLevelChangesWhileTheServerRuns",
	"curl -X PUT -d debug localhost:8082/debug/log":                                    "the same",
	"go tool pprof http://localhost:8082/debug/pprof/profile":                          "the same",
	"--set image.digest=sha256:…":                                                      "an ellipsis; the chart's schema takes it",
	"make install CERTS=cert-manager IMAGE=…":                                          "an ellipsis; certs_test.go runs cert-manager",
	"make install IMAGE=registry.example/signalbox:0.1.0":                              "the README has it, which chart_test.go runs",
	"--set certificates.mode=cert-manager":                                             "certs_test.go; these specs have no CRDs of cert-manager",
	"kubectl apply -k config/monitoring":                                               "no CRDs of the operator of Prometheus; chart_test.go compares the objects",
	"--set monitoring.podMonitor=true,monitoring.rules=true,monitoring.dashboard=true": "the same",
}

var (
	fencedBlock = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```")
	inlineCode  = regexp.MustCompile("`((?:helm|kubectl|make|go tool|curl|ctr|signalbox|--set)\\s[^`]*)`")
)

// commandsOf are the commands that a page prints, in blocks and in its text, once each. YAML is a file: what it makes is
// tested where the manifests are.
func commandsOf(page string) (out []string) {
	for _, block := range fencedBlock.FindAllStringSubmatch(page, -1) {
		if block[1] == "yaml" {
			continue
		}
		for line := range strings.Lines(block[2]) {
			if line = strings.TrimSpace(strings.TrimPrefix(line, "$ ")); line != "" {
				out = append(out, line)
			}
		}
	}
	for _, code := range inlineCode.FindAllStringSubmatch(fencedBlock.ReplaceAllString(page, ""), -1) {
		out = append(out, strings.Join(strings.Fields(code[1]), " "))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// What the page about installing prints works as printed, from the chart as it was first on: an upgrade takes values
// that an older chart did not have.
var _ = Describe("The page about installing", Ordered, func() {
	const namespace = "signalbox-system"
	var own *cluster.Cluster
	var root, bin string
	left := map[string]bool{}
	run := func(ctx context.Context, line string) string {
		GinkgoHelper()
		cmd := exec.CommandContext(ctx, "bash", "-euc", line)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+GinkgoT().TempDir(), "KUBECONFIG="+own.Kubeconfig())
		text, err := cmd.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s\n%s", line, text)
		return string(text)
	}
	// printed runs a command that stands on the page, perhaps with more behind it.
	printed := func(ctx context.Context, line string, more ...string) string {
		GinkgoHelper()
		Expect(left).To(HaveKey(line), "the page does not print it (any more)")
		left[line] = false
		return run(ctx, strings.Join(append([]string{line}, more...), " "))
	}
	values := func(ctx context.Context) string { return run(ctx, "helm get values signalbox -n "+namespace+" -a") }

	BeforeAll(func(ctx SpecContext) {
		var err error
		own, err = cluster.Start(context.Background(), cluster.Options{Progress: GinkgoWriter, Parts: cluster.ControllerManager}) // namespaces end
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() error { return own.Stop() })
		root, err = filepath.Abs(filepath.Join("..", ".."))
		Expect(err).NotTo(HaveOccurred())
		bin = GinkgoT().TempDir()
		for name, program := range map[string]string{"kubectl": own.Program("kubectl"), "helm": filepath.Join(root, "bin", "tools", "helm"), "signalbox": filepath.Join(root, "bin", "signalbox")} {
			Expect(os.Symlink(program, filepath.Join(bin, name))).To(Succeed())
		}
		page, err := os.ReadFile(filepath.Join(root, "docs", "how-to", "install.md"))
		Expect(err).NotTo(HaveOccurred())
		for _, line := range commandsOf(string(page)) {
			left[line] = true
		}
		for line := range notRunHere {
			Expect(left).To(HaveKey(line), "the page does not print it any more")
			left[line] = false
		}
	})

	It("upgrades a release of the first chart, and rolls it back", func(ctx SpecContext) {
		run(ctx, "helm install signalbox test/integration/testdata/signalbox-0.1.0.tgz --namespace "+namespace+
			" --create-namespace --set image.repository=registry.example/signalbox,namespaces.exclude={sandbox},config.webhook.deadline=150ms")
		_, err := helm(ctx, own.Kubeconfig(), "upgrade", "signalbox", chartFolder, "-n", namespace, "--reuse-values")
		Expect(err).To(MatchError(ContainSubstring("UPGRADE FAILED")), "as the page says")
		before := run(ctx, "kubectl get clusterroles,validatingwebhookconfigurations,validatingadmissionpolicies -o name -l app.kubernetes.io/part-of=signalbox")
		printed(ctx, "helm upgrade signalbox config/chart -n signalbox-system --reset-then-reuse-values")
		Expect(values(ctx)).To(And(ContainSubstring("- sandbox"), ContainSubstring("deadline: 150ms"), ContainSubstring("repository: registry.example/signalbox"), ContainSubstring("podMonitor: false")))
		printed(ctx, "helm rollback signalbox -n signalbox-system")
		Expect(run(ctx, "kubectl get clusterroles,validatingwebhookconfigurations,validatingadmissionpolicies -o name -l app.kubernetes.io/part-of=signalbox")).To(Equal(before))
		printed(ctx, "helm uninstall signalbox -n signalbox-system")
	})

	It("installs, is closed on failure and opened, and goes", func(ctx SpecContext) {
		closed := func() bool {
			_, err := own.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, webhook.ClosedConfigurationName, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return false
			}
			Expect(err).NotTo(HaveOccurred())
			return true
		}
		run(ctx, "kubectl delete namespace --ignore-not-found --wait=false signalbox-none; kubectl create namespace ml")
		printed(ctx, "helm install signalbox config/chart --namespace signalbox-system --create-namespace --set image.repository=registry.example/signalbox")
		printed(ctx, "kubectl label namespace signalbox-system pod-security.kubernetes.io/enforce=restricted signalbox.dev/mode=off")
		const doctor = "signalbox doctor      # whether all of it works, and what mends what does not"
		Expect(left).To(HaveKey(doctor))
		left[doctor] = false
		Expect(run(ctx, "signalbox doctor || true")).To(ContainSubstring("signalbox-system"), "no kubelet starts its pods, and doctor says so")
		run(ctx, `for c in east west; do kubectl config set-context $c --cluster="$(kubectl config view --minify -o jsonpath='{.contexts[0].context.cluster}')" --user="$(kubectl config view --minify -o jsonpath='{.contexts[0].context.user}')"; done`)
		Expect(printed(ctx, `for c in east west; do signalbox doctor --context $c || echo "$c: exit code $?"; done`)).To(And(ContainSubstring("east: exit code"), ContainSubstring("west: exit code")))
		printed(ctx, "signalbox get jobs -A --healthy No --context east,west")
		printed(ctx, "kubectl label namespace ml signalbox.dev/mode=enforce signalbox.dev/failure=closed")
		Expect(printed(ctx, "signalbox list namespaces")).To(And(MatchRegexp(`(?m)^ml +enforce +signalbox.dev/mode`), MatchRegexp(`(?m)^signalbox-system +off +signalbox.dev/mode`)))
		Expect(closed()).To(BeFalse())
		const upgrade = "helm upgrade signalbox config/chart -n signalbox-system --reset-then-reuse-values"
		for _, more := range []string{"--set closed.enabled=true", "--set config.tracing.endpoint=http://collector.monitoring:4318/v1/traces"} {
			Expect(left).To(HaveKey(more))
			left[more] = false
			run(ctx, upgrade+" "+more)
		}
		Expect(closed()).To(BeTrue())
		printed(ctx, "kubectl delete validatingwebhookconfiguration signalbox-closed")
		Expect(closed()).To(BeFalse())
		run(ctx, upgrade) // as the page says of helm upgrade
		left["helm upgrade"] = false
		Expect(closed()).To(BeTrue())
		run(ctx, "helm uninstall signalbox -n signalbox-system")

		const install = "make install CERTS=closed IMAGE=…"
		Expect(left).To(HaveKey(install))
		left[install] = false
		run(ctx, strings.ReplaceAll(install, "…", "registry.example/signalbox:0.1.0"))
		Expect(closed()).To(BeTrue())
		printed(ctx, "make uninstall CERTS=closed", "</dev/null")
		Expect(closed()).To(BeFalse())
		printed(ctx, "make uninstall")
	})

	It("says what is wrong with settings", func(ctx SpecContext) {
		const command = "signalbox config check FILE"
		Expect(left).To(HaveKey(command))
		left[command] = false
		run(ctx, strings.ReplaceAll(command, "FILE", "config/config.yaml"))
	})

	It("prints nothing else", func() {
		for line, open := range left {
			Expect(open).To(BeFalse(), "nothing runs `%s`, which docs/how-to/install.md prints", line)
		}
	})
})
