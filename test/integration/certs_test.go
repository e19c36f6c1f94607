//go:build integration

package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/certs"
)

// leaf is the first certificate of a PEM text.
func leaf(text []byte) *x509.Certificate {
	GinkgoHelper()
	block, _ := pem.Decode(text)
	Expect(block).NotTo(BeNil())
	c, err := x509.ParseCertificate(block.Bytes)
	Expect(err).NotTo(HaveOccurred())
	return c
}

var _ = Describe("Certificates", Ordered, ContinueOnFailure, func() {
	const service = "signalbox-webhook.signalbox-system.svc"
	var original []byte // the configuration under test has its name from the manifests

	BeforeAll(func(ctx SpecContext) {
		// The specs of the webhook install a configuration of the same name.
		all := plane.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations()
		_ = all.Delete(ctx, "signalbox", metav1.DeleteOptions{})
		original = []byte(rendered("cert-manager"))
	})
	AfterAll(func(ctx SpecContext) {
		_, err := plane.Kubectl(ctx, "delete", "validatingwebhookconfiguration", "signalbox", "--ignore-not-found")
		Expect(err).NotTo(HaveOccurred())
	})

	It("are issued by cert-manager, and the CA is injected", func(ctx SpecContext) {
		Expect(plane.Apply(ctx, string(original))).To(Succeed())
		var bundle, served []byte
		Eventually(func(g Gomega) {
			secret, err := plane.Clientset().CoreV1().Secrets("signalbox-system").Get(ctx, "signalbox-webhook-tls", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			served = secret.Data["tls.crt"]
			config, err := plane.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "signalbox", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			bundle = config.Webhooks[0].ClientConfig.CABundle
			g.Expect(bundle).NotTo(BeEmpty())
			g.Expect(served).NotTo(BeEmpty())
		}).Should(Succeed())
		roots := x509.NewCertPool()
		Expect(roots.AppendCertsFromPEM(bundle)).To(BeTrue())
		_, err := leaf(served).Verify(x509.VerifyOptions{Roots: roots, DNSName: service})
		Expect(err).NotTo(HaveOccurred())
	})

	It("are one for all replicas that start at once, with the rights of the manifests", func(ctx SpecContext) {
		Expect(plane.Apply(ctx, rendered("default"))).To(Succeed())
		secrets := plane.Clientset().CoreV1().Secrets("signalbox-system")
		_ = secrets.Delete(ctx, "signalbox-webhook-cert", metav1.DeleteOptions{})
		config, err := plane.ConfigFor(ctx, "signalbox-system", "signalbox")
		Expect(err).NotTo(HaveOccurred())
		replicas := make([]*certs.Authority, 4)
		var wait sync.WaitGroup
		errs := make([]error, len(replicas))
		for i := range replicas {
			client, err := kubernetes.NewForConfig(config)
			Expect(err).NotTo(HaveOccurred())
			replicas[i] = certs.NewAuthority(certs.Options{
				Client: client, Namespace: "signalbox-system", Secret: "signalbox-webhook-cert",
				Configurations: []string{"signalbox"}, Hosts: []string{service}, Log: GinkgoLogr,
			})
			wait.Go(func() { errs[i] = replicas[i].Step(ctx) })
		}
		wait.Wait()
		secret, err := secrets.Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		want := leaf(secret.Data["tls.crt"])
		for i, r := range replicas {
			Expect(errs[i]).NotTo(HaveOccurred())
			c, err := r.Certificate(nil)
			Expect(err).NotTo(HaveOccurred())
			Expect(c.Leaf.Equal(want)).To(BeTrue(), "replica %d serves another certificate", i)
		}
		got, err := plane.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "signalbox", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Webhooks[0].ClientConfig.CABundle).To(Equal(secret.Data["ca.crt"]))
		Expect(got.Webhooks[0].ClientConfig.Service.Name).To(Equal("signalbox-webhook"), "injecting must leave the rest alone")
	})
})

var _ = Describe("Rotation", Ordered, func() {
	It("replaces CA and certificate several times, and no call fails", func(ctx SpecContext) {
		const namespace = "rotation"
		Expect(plane.CreateNamespace(ctx, namespace, nil)).To(Succeed())
		// What the other specs issued lives for a year.
		forget := func(ctx SpecContext) {
			_ = plane.Clientset().CoreV1().Secrets("signalbox-system").Delete(ctx, "signalbox-webhook-cert", metav1.DeleteOptions{})
		}
		forget(ctx)
		DeferCleanup(forget)
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		s := serve(address, fixed{}, func(o *certs.Options) {
			o.Secret = "signalbox-webhook-cert"
			o.Lives = certs.Lives{CA: 9 * time.Second, Serving: 6 * time.Second, Overlap: time.Second}
		})
		defer s.stop()
		secrets := plane.Clientset().CoreV1().Secrets("signalbox-system")
		cas, leaves := map[string]bool{}, map[string]bool{}
		job := sample("pytorchjob.yaml", namespace, "asked")
		for len(cas) < 4 {
			secret, err := secrets.Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			cas[leaf(secret.Data["ca.crt"]).SerialNumber.String()] = true
			leaves[leaf(secret.Data["tls.crt"]).SerialNumber.String()] = true
			got := write(ctx, job.DeepCopy(), metav1.DryRunAll)
			Expect(got.err).NotTo(HaveOccurred())
			Expect(got.open).To(BeFalse(), "a call failed after %d CAs and %d certificates", len(cas), len(leaves))
			Expect(got.audit).To(HaveKey("decision"))
		}
		Expect(len(leaves)).To(BeNumerically(">=", 3))
	}, SpecTimeout(2*time.Minute))

	// 200 a second is more than the largest cluster of the corpus creates.
	It("fails no call of 200 a second while the certificate is replaced three times and the CA once", func(ctx SpecContext) {
		const namespace, perSecond = "rotation-load", 200
		Expect(plane.CreateNamespace(ctx, namespace, nil)).To(Succeed())
		secrets := plane.Clientset().CoreV1().Secrets("signalbox-system")
		_ = secrets.Delete(ctx, "signalbox-webhook-cert", metav1.DeleteOptions{})
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		s := serve(address, fixed{}, func(o *certs.Options) {
			// The overlap covers what a busy API server takes to hear of a new CA, and is less than what is left of a
			// certificate that is due.
			o.Lives = certs.Lives{CA: 45 * time.Second, Serving: 15 * time.Second, Overlap: 2 * time.Second}
		})
		defer s.stop()
		config := plane.Config()
		config.QPS, config.Timeout = -1, 10*time.Second
		client, err := dynamic.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		api := client.Resource(pytorchJobs).Namespace(namespace)
		before, err := os.Stat(auditLog)
		Expect(err).NotTo(HaveOccurred())
		serverLog := filepath.Join(plane.LogDir(), "kube-apiserver.log")
		logged, err := os.Stat(serverLog)
		Expect(err).NotTo(HaveOccurred())

		var all sync.WaitGroup
		var done, failed atomic.Int64
		begun := time.Now()
		cas, leaves := map[string]bool{}, map[string]bool{}
		job := sample("pytorchjob.yaml", namespace, "")
		tick := time.NewTicker(time.Second / perSecond)
		defer tick.Stop()
		for i := 0; len(leaves) < 4 || len(cas) < 2; i++ {
			<-tick.C
			if i%perSecond == 0 {
				secret, err := secrets.Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
				Expect(err).NotTo(HaveOccurred())
				cas[leaf(secret.Data["ca.crt"]).SerialNumber.String()] = true
				leaves[leaf(secret.Data["tls.crt"]).SerialNumber.String()] = true
				Expect(time.Since(begun)).To(BeNumerically("<", 2*time.Minute), "%d CAs and %d certificates", len(cas), len(leaves))
			}
			u := job.DeepCopy()
			u.SetName(fmt.Sprintf("asked-%d", i))
			all.Go(func() {
				if _, err := api.Create(ctx, u, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
					failed.Add(1)
				}
				done.Add(1)
			})
		}
		all.Wait()
		took := time.Since(begun)
		asked, open := 0, 0
		for _, e := range audited(&unstructured.Unstructured{Object: map[string]any{"kind": "PyTorchJob", "metadata": map[string]any{"namespace": namespace}}}, before.Size()) {
			asked++
			for key := range e.Annotations {
				if strings.HasPrefix(key, "failed-open.validating.webhook.admission.k8s.io/") {
					open++
				}
			}
		}
		AddReportEntry("rotation under load", fmt.Sprintf("%d jobs in %s, %.0f a second; %d certificates and %d CAs; %d refused, %d of %d not asked about",
			done.Load(), took.Round(time.Second), float64(done.Load())/took.Seconds(), len(leaves), len(cas), failed.Load(), open, asked))
		Expect(failed.Load()).To(BeZero(), "jobs that were refused")
		// Only the API server says why. A machine that has no time for a call has not shown a certificate
		// that somebody refused.
		late := 0
		if open > 0 {
			said, err := os.ReadFile(serverLog)
			Expect(err).NotTo(HaveOccurred())
			for line := range strings.Lines(string(said[logged.Size():])) {
				if !strings.Contains(line, "failing open") {
					continue
				}
				AddReportEntry("not asked about, because", strings.TrimSpace(line))
				if strings.Contains(line, "context deadline exceeded") || strings.Contains(line, "too much is being reviewed") {
					late++
				}
			}
		}
		Expect(open-late).To(BeZero(), "calls that failed for another reason than time, and were ignored")
		Expect(late).To(BeNumerically("<=", asked/10), "calls that came too late: more than a machine that stands still for a second makes")
		Expect(asked).To(BeNumerically("==", done.Load()))
	}, SpecTimeout(4*time.Minute))

	It("recovers where the CA expired while nobody ran", func(ctx SpecContext) {
		const namespace = "rotation-expired"
		Expect(plane.CreateNamespace(ctx, namespace, nil)).To(Succeed())
		secrets := plane.Clientset().CoreV1().Secrets("signalbox-system")
		_ = secrets.Delete(ctx, "signalbox-webhook-cert", metav1.DeleteOptions{})
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		lives := func(o *certs.Options) {
			o.Lives = certs.Lives{CA: 6 * time.Second, Serving: 6 * time.Second, Overlap: time.Second}
		}
		s := serve(address, fixed{}, lives)
		s.stop()
		secret, err := secrets.Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		expired := leaf(secret.Data["ca.crt"])
		Eventually(time.Now).Should(BeTemporally(">", expired.NotAfter.Add(time.Second)))

		again := serve(address, fixed{}, lives) // it returns when the API server hears it
		defer again.stop()
		secret, err = secrets.Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(leaf(secret.Data["ca.crt"]).SerialNumber).NotTo(Equal(expired.SerialNumber))
		got := write(ctx, sample("pytorchjob.yaml", namespace, "asked"), metav1.DryRunAll)
		Expect(got.err).NotTo(HaveOccurred())
		Expect(got.open).To(BeFalse())
	}, SpecTimeout(2*time.Minute))

	// By who may write the Secret, by a backup that is brought back, or by a replica whose clock was a year ahead.
	DescribeTable("recovers where other certificates lie in the Secret", func(ctx SpecContext, begins time.Duration, usage x509.KeyUsage, isCA bool) {
		const namespace = "rotation-other"
		_ = plane.CreateNamespace(ctx, namespace, nil) // another entry may have made it
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		s := serve(address, fixed{})
		defer s.stop()
		secrets := plane.Clientset().CoreV1().Secrets("signalbox-system")
		secret, err := secrets.Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		secret.Data = forged(begins, usage, isCA)
		other, err := secrets.Update(ctx, secret, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Eventually(func(g Gomega) {
			got := write(ctx, sample("pytorchjob.yaml", namespace, "asked"), metav1.DryRunAll)
			g.Expect(got.open).To(BeFalse())
			g.Expect(got.audit).To(HaveKey("decision"))
			now, err := secrets.Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(now.ResourceVersion).NotTo(Equal(other.ResourceVersion))
			g.Expect(leaf(now.Data["tls.crt"]).SerialNumber).NotTo(Equal(leaf(other.Data["tls.crt"]).SerialNumber))
		}).Should(Succeed())
		version := func() string {
			now, err := secrets.Get(ctx, "signalbox-webhook-cert", metav1.GetOptions{})
			Expect(err).NotTo(HaveOccurred())
			return now.ResourceVersion
		}
		Consistently(version).WithTimeout(3 * time.Second).Should(Equal(version()))
	},
		Entry("that begin in a year", SpecTimeout(2*time.Minute), 365*24*time.Hour, x509.KeyUsageCertSign|x509.KeyUsageDigitalSignature, true),
		Entry("of which the CA is none", SpecTimeout(2*time.Minute), -time.Hour, x509.KeyUsageDigitalSignature, false),
		Entry("of which the CA may not sign", SpecTimeout(2*time.Minute), -time.Hour, x509.KeyUsageDigitalSignature, true),
	)
})

// forged is a Secret with what is called a CA, and a certificate of the webhook's address that it signed.
func forged(begins time.Duration, usage x509.KeyUsage, isCA bool) map[string][]byte {
	GinkgoHelper()
	out := map[string][]byte{}
	var parent *x509.Certificate
	var signer *ecdsa.PrivateKey
	for _, name := range []string{"ca", "tls"} {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		of := &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "other " + name}, NotBefore: time.Now().Add(begins), NotAfter: time.Now().Add(begins).AddDate(1, 0, 0),
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		if parent == nil {
			of.KeyUsage, of.IsCA = usage, isCA
			parent, signer = of, key
		}
		der, err := x509.CreateCertificate(rand.Reader, of, parent, key.Public(), signer)
		Expect(err).NotTo(HaveOccurred())
		pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
		Expect(err).NotTo(HaveOccurred())
		out[name+".crt"] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		out[name+".key"] = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
	}
	return out
}
