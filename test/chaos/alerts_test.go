//go:build chaos

package chaos

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/test/cluster"
	"github.com/signalbox-dev/signalbox/test/line"
)

// slowly is a policy that takes all the time that there is: a loop is ended by time, where one large value is refused at once.
const slowly = `# METADATA
# title: a policy that looks for a long while
# description: It never denies.
# custom: {remedy: Do nothing.}
package signalbox.slowly

deny contains "never" if {
	some i in numbers.range(1, 10000)
	some j in numbers.range(1, 10000)
	i * j == 0
}
`

// Each alert of config/monitoring fires in a real Prometheus that scrapes the replicas, by the fault that it is for. Its
// minutes are seconds here.
var _ = Describe("In Prometheus", Ordered, func() {
	var p *prometheus
	fires := func(names ...string) {
		GinkgoHelper()
		for _, name := range names {
			Eventually(p.firing).WithTimeout(2*time.Minute).WithPolling(500*time.Millisecond).Should(HaveKey(name), "the fault has come, and it does not fire")
			p.fired[name] = true
		}
	}
	BeforeAll(func(ctx SpecContext) { p = newPrometheus(ctx) })

	It("nothing fires while all is well", func(ctx SpecContext) {
		l := begin("chaos-alerts-well")
		l.fail(ctx, "failed-before")
		wait(10 * time.Second)
		l.stop()
		l.all.Wait()
		Expect(p.firing()).To(Or(BeEmpty(), HaveLen(1)), "but for the model, of which there is none")
	})

	It("SignalboxCertificateEnds and SignalboxClosedOff fire on a certificate of ten days and a closed configuration that is gone", func(ctx SpecContext) {
		p.lame(ctx)
		fires("SignalboxClosedOff")
		// An hour is a minute: it has fired by the end of these specs.
	})

	It("those of policies and signatures that do not load fire", func(ctx SpecContext) {
		maps := plane.Clientset().CoreV1().ConfigMaps("signalbox-system")
		setPolicy(ctx, "signalbox: {gpu_limit: [")
		_, err := maps.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "broken", Labels: map[string]string{controller.SignatureLabel: "true"}},
			Data:       map[string]string{"broken.yaml": "id: broken\npattern: '('"},
		}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		fires("SignalboxPoliciesBroken", "SignalboxSignaturesBroken")
		setPolicy(ctx, limits)
		Expect(maps.Delete(ctx, "broken", metav1.DeleteOptions{})).To(Succeed())
	})

	It("those of what cannot be written, told or explained fire", func(ctx SpecContext) {
		for _, refused := range []struct{ group, resource, rule string }{
			{"kubeflow.org", "pytorchjobs", `!object.metadata.name.startsWith('failed-unwritten')`}, {"", "configmaps", `!object.metadata.name.startsWith('signalbox-evidence')`},
		} {
			Expect(plane.Apply(ctx, fmt.Sprintf(`
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: chaos-%[2]s}
spec:
  matchConstraints: {resourceRules: [{apiGroups: [%[1]q], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [%[2]q]}]}
  matchConditions: [{name: ours, expression: "request.userInfo.username == 'system:serviceaccount:signalbox-system:signalbox'"}]
  validations: [{expression: %[3]q}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: chaos-%[2]s}
spec: {policyName: chaos-%[2]s, validationActions: [Deny]}
`, refused.group, refused.resource, refused.rule))).To(Succeed())
			DeferCleanup(func(ctx SpecContext) {
				_, _ = plane.Kubectl(ctx, "delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", "chaos-"+refused.resource)
			})
		}
		l := (*load)(nil).in(ctx, "chaos-alerts-write")
		run, stop := context.WithCancel(context.WithoutCancel(ctx))
		var all sync.WaitGroup
		defer all.Wait()
		defer stop()
		all.Go(func() {
			defer GinkgoRecover()
			for i := 0; run.Err() == nil; i++ {
				name := fmt.Sprintf("failed-%d", i)
				if i%5 == 0 { // again and again: the admission policy needs a moment, and what fails is tried ever later
					name = fmt.Sprintf("failed-unwritten-%d", i)
				}
				l.fail(run, name)
				wait(time.Second)
			}
		})
		fires("SignalboxNotificationsLost", "SignalboxEvidenceNotWritten", "SignalboxModelFails", "SignalboxDiagnosesFail")
	})

	It("those of reviews that are slow or not whole fire", func(ctx SpecContext) {
		maps := plane.Clientset().CoreV1().ConfigMaps("signalbox-system")
		cm := policyMap(limits)
		cm.Name, cm.Data = "slowly", map[string]string{"slowly.rego": slowly}
		_, err := maps.Create(ctx, cm, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func(ctx SpecContext) { // whatever becomes of this: all that follows would be slow
			Expect(maps.Delete(ctx, cm.Name, metav1.DeleteOptions{})).To(Succeed())
		})
		l := (*load)(nil).in(ctx, "chaos-alerts-slow")
		run, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		for i := range 32 {
			all.Go(func() {
				for run.Err() == nil {
					if _, err := l.jobs.Create(run, l.job(fmt.Sprintf("small-%d", i), 2), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil && run.Err() == nil {
						l.note(err)
					}
				}
			})
		}
		defer all.Wait()
		defer stop()
		fires("SignalboxReviewsNotWhole", "SignalboxReviewsSlow")
		stop()
		all.Wait()
		Expect(l.refused).To(BeEmpty())
	})

	It("SignalboxNobodyLeads fires where somebody else holds the Lease", func(ctx SpecContext) {
		leases := plane.Clientset().CoordinationV1().Leases("signalbox-system")
		run, stop := context.WithCancel(ctx)
		var all sync.WaitGroup
		defer all.Wait()
		defer stop()
		all.Go(func() {
			for run.Err() == nil {
				if lease, err := leases.Get(run, "signalbox-controller", metav1.GetOptions{}); err == nil {
					now := metav1.NowMicro()
					lease.Spec.HolderIdentity, lease.Spec.RenewTime = new("somebody else"), &now
					_, _ = leases.Update(run, lease, metav1.UpdateOptions{})
				}
				wait(time.Second)
			}
		})
		fires("SignalboxNobodyLeads")
	})

	It("SignalboxAway fires, and then those of what came meanwhile", func(ctx SpecContext) {
		l := begin("chaos-alerts-away")
		for _, r := range append(replicas, p.third) {
			r.kill()
		}
		l.kills = 2
		fires("SignalboxAway")
		for _, r := range replicas {
			r.again()
		}
		fires("SignalboxJobsAdmittedUnreviewed", "SignalboxPolicyPassedBy")
		p.third.start()
		l.end(ctx)
	})

	It("each alert has fired", func() {
		fires("SignalboxCertificateEnds")
		for _, name := range p.alerts {
			Expect(p.fired).To(HaveKey(name), "no fault makes it fire")
		}
		AddReportEntry("alerts that fired", len(p.fired))
	})
})

// prometheus is a real one, with the alerts of config/monitoring.
type prometheus struct {
	address string
	alerts  []string
	fired   map[string]bool
	third   *replica // that has a certificate of ten days
}

var (
	minutes = regexp.MustCompile(`\b(\d+)m\b`)
	anHour  = regexp.MustCompile(`\b1h\b`)
)

func newPrometheus(ctx context.Context) *prometheus {
	GinkgoHelper()
	program := plane.Program("prometheus")
	if _, err := os.Stat(program); err != nil {
		Skip("there is no Prometheus; make prometheus builds one")
	}
	root, err := line.Repository()
	Expect(err).NotTo(HaveOccurred())
	text, err := os.ReadFile(filepath.Join(root, "config", "monitoring", "rules.yaml"))
	Expect(err).NotTo(HaveOccurred())
	var rules struct {
		Spec struct {
			Groups []struct {
				Name  string           `json:"name"`
				Rules []map[string]any `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	Expect(yaml.Unmarshal(text, &rules)).To(Succeed())
	p := &prometheus{address: free(), fired: map[string]bool{}}
	for _, rule := range rules.Spec.Groups[0].Rules {
		p.alerts = append(p.alerts, rule["alert"].(string))
		for _, key := range []string{"expr", "for"} {
			before, ok := rule[key].(string)
			if ok && key == "expr" && rule["alert"] == "SignalboxModelFails" {
				continue // a model that fails is asked again after minutes
			}
			if ok {
				rule[key] = anHour.ReplaceAllString(minutes.ReplaceAllString(before, "${1}s"), "1m")
			}
		}
	}
	dir := GinkgoT().TempDir()
	out, err := yaml.Marshal(rules.Spec)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(dir, "rules.yml"), out, 0o600)).To(Succeed())
	p.third = newReplica(replicas[0].program, replicas[0].kubeconfig, filepath.Join(plane.Dir(), "replica-2"), model.address())
	Expect(os.WriteFile(filepath.Join(dir, "prometheus.yml"), fmt.Appendf(nil, `
global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yml]
scrape_configs: [{job_name: signalbox, static_configs: [{targets: [%q, %q, %q]}]}]
`, replicas[0].metrics, replicas[1].metrics, p.third.metrics), 0o600)).To(Succeed())
	c := exec.Command(program, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.address)
	c.Stdout, c.Stderr = GinkgoWriter, GinkgoWriter
	Expect(c.Start()).To(Succeed())
	DeferCleanup(func() {
		Expect(c.Process.Kill()).To(Succeed())
		_ = c.Wait() // it was killed
	})
	Eventually(func() error { return cluster.Answers(ctx, "http://"+p.address+"/-/ready") }).Should(Succeed())
	return p
}

// firing are the alerts that fire now.
func (p *prometheus) firing() (map[string]bool, error) {
	answer, err := http.Get("http://" + p.address + "/api/v1/alerts")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var found struct {
		Data struct {
			Alerts []struct {
				Labels map[string]string
				State  string
			}
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, a := range found.Data.Alerts {
		if a.State == "firing" {
			out[a.Labels["alertname"]] = true
		}
	}
	return out, nil
}

// lame starts a replica with a certificate of its own that ends in ten days, whose settings want a configuration that
// is not there.
func (p *prometheus) lame(ctx context.Context) {
	GinkgoHelper()
	dir := filepath.Join(plane.Dir(), "ten-days")
	Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-time.Hour), NotAfter: now.Add(10 * 24 * time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	Expect(err).NotTo(HaveOccurred())
	private, err := x509.MarshalPKCS8PrivateKey(key)
	Expect(err).NotTo(HaveOccurred())
	for name, block := range map[string]*pem.Block{"tls.crt": {Type: "CERTIFICATE", Bytes: der}, "tls.key": {Type: "PRIVATE KEY", Bytes: private}} {
		Expect(os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600)).To(Succeed())
	}
	text, err := os.ReadFile(p.third.settings)
	Expect(err).NotTo(HaveOccurred())
	changed := strings.Replace(string(text), "certificates: {hosts: [127.0.0.1]}", fmt.Sprintf("certificates: {mode: files, dir: %q}\nwebhook: {closed: {enabled: true, replicas: 2}}", dir), 1)
	Expect(changed).NotTo(Equal(string(text)))
	Expect(os.WriteFile(p.third.settings, []byte(changed), 0o600)).To(Succeed())
	p.third.flags = []string{"--webhook"} // it neither leads nor sweeps
	p.third.start()
	Eventually(func() error { return cluster.Answers(ctx, "http://"+p.third.metrics+"/metrics") }).Should(Succeed())
}
