package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	clocktesting "k8s.io/utils/clock/testing"
)

func configuration() *admissionregistrationv1.ValidatingWebhookConfiguration {
	url, none := "https://127.0.0.1:9443/validate", admissionregistrationv1.SideEffectClassNone
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "signalbox"},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "validate.signalbox.dev", SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url},
		}},
	}
}

func options(c *fake.Clientset, clock *clocktesting.FakeClock) Options {
	return Options{
		Client: c, Namespace: "signalbox-system", Secret: "signalbox-webhook-certificate",
		Configurations: []string{"signalbox"}, Hosts: hosts, Clock: clock, Log: logr.Discard(),
	}
}

func TestManyReplicasAtOnceEndWithOneCA(t *testing.T) {
	api := fake.NewClientset(configuration())
	clock := clocktesting.NewFakeClock(begin)
	replicas := make([]*Authority, 8)
	var wait sync.WaitGroup
	for i := range replicas {
		replicas[i] = NewAuthority(options(api, clock))
		wait.Go(func() {
			if err := replicas[i].Step(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	// One more look: the injection of the slowest may have been overtaken.
	for _, r := range replicas {
		if err := r.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := api.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), "signalbox", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bundle := got.Webhooks[0].ClientConfig.CABundle
	if n := len(parseCerts(bundle)); n != 1 {
		t.Errorf("%d CAs are trusted; want 1", n)
	}
	if url := got.Webhooks[0].ClientConfig.URL; url == nil {
		t.Error("injecting the CA removed the url")
	}
	for i, r := range replicas {
		c, err := r.Certificate(nil)
		if err != nil {
			t.Fatalf("replica %d: %v", i, err)
		}
		if err := accepts(t, bundle, c.Leaf, begin); err != nil {
			t.Errorf("replica %d serves what the API server refuses: %v", i, err)
		}
	}
}

func TestACAThatSomebodyRemovedComesBack(t *testing.T) {
	api := fake.NewClientset(configuration())
	a := NewAuthority(options(api, clocktesting.NewFakeClock(begin)))
	if err := a.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	configs := api.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if _, err := configs.Update(t.Context(), configuration(), metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := configs.Get(t.Context(), "signalbox", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Webhooks[0].ClientConfig.CABundle) == 0 {
		t.Error("the CA is missing from the webhook configuration")
	}
}

func TestReadinessAndExpiryFollowTheCertificate(t *testing.T) {
	clock := clocktesting.NewFakeClock(begin)
	o := options(fake.NewClientset(), clock) // no webhook configuration: it may come later
	o.Expiry = Expiry()
	a := NewAuthority(o)
	if err := a.Ready(); !errors.Is(err, ErrNone) {
		t.Errorf("ready before a certificate: %v; want %v", err, ErrNone)
	}
	if _, err := a.Certificate(nil); !errors.Is(err, ErrNone) {
		t.Errorf("certificate: %v; want %v", err, ErrNone)
	}
	if err := a.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Ready(); err != nil {
		t.Errorf("ready: %v", err)
	}
	want := float64(begin.Add(DefaultLives().Serving).Unix())
	if got := gauge(t, o.Expiry, "serving"); got != want {
		t.Errorf("expiry of the certificate %v; want %v", got, want)
	}
	want = float64(begin.Add(DefaultLives().CA).Unix())
	if got := gauge(t, o.Expiry, "ca"); got != want {
		t.Errorf("expiry of the CA %v; want %v", got, want)
	}
	clock.SetTime(begin.Add(DefaultLives().Serving + time.Second))
	if err := a.Ready(); err == nil {
		t.Error("ready with an expired certificate")
	}
}

// A certificate that renewing should have replaced is named 30 days before it ends, and not before.
func TestWhatEndsSoonIsNamed(t *testing.T) {
	clock := clocktesting.NewFakeClock(begin)
	o := options(fake.NewClientset(), clock)
	a := NewAuthority(o)
	if got := a.EndsSoon(); got != "" {
		t.Errorf("before there is one: %q", got)
	}
	if err := a.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	day := 24 * time.Hour
	for _, step := range []struct {
		at   time.Time
		want string
	}{
		{begin, ""},
		{begin.Add(60*day + time.Hour), ""}, // it is being renewed
		{begin.Add(62 * day), "the certificate of the webhook ends in 28 days, at 2026-04-01T00:00:00Z"},
		{begin.Add(90*day - time.Hour), "the certificate of the webhook ends in 1h0m0s, at 2026-04-01T00:00:00Z"},
		{begin.Add(91 * day), "the certificate of the webhook ended at 2026-04-01T00:00:00Z"},
	} {
		clock.SetTime(step.at)
		if got := a.EndsSoon(); got != step.want {
			t.Errorf("at %s: %q; want %q", step.at, got, step.want)
		}
	}
	if err := a.Step(t.Context()); err != nil { // renewed
		t.Fatal(err)
	}
	if got := a.EndsSoon(); got != "" {
		t.Errorf("once it is renewed: %q", got)
	}
	ca := a.ca.Load().NotAfter
	clock.SetTime(ca.Add(-29 * day))
	a.hold(&tls.Certificate{Leaf: &x509.Certificate{NotBefore: ca.Add(-30 * day), NotAfter: ca.Add(60 * day)}})
	if got, want := a.EndsSoon(), "the CA of the webhook ends in 29 days, at 2027-01-01T00:00:00Z"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

func gauge(t *testing.T, of *prometheus.GaugeVec, label string) float64 {
	t.Helper()
	var m dto.Metric
	if err := of.WithLabelValues(label).Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetGauge().GetValue()
}

// The loop renews while a server is up: the next handshake gets the new certificate.
func TestAServerTakesARenewedCertificateWithoutARestart(t *testing.T) {
	clock := clocktesting.NewFakeClock(time.Now())
	api := fake.NewClientset()
	a := NewAuthority(options(api, clock))
	if err := a.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: a.Certificate})
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	defer server.Close()
	go server.Serve(listener)
	serial := func() string {
		secret, err := a.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(secret.Data[keyBundle])
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", Time: clock.Now}}
		conn, err := dialer.DialContext(t.Context(), "tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	before := serial()
	clock.Step(61 * 24 * time.Hour)
	if err := a.Step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := serial(); after == before {
		t.Error("after 61 of 90 days the server still shows the first certificate")
	}
}

func TestFilesKeepTheLastGoodPair(t *testing.T) {
	dir := t.TempDir()
	f := NewFiles(dir, clocktesting.NewFakeClock(begin), nil, logr.Discard())
	if err := f.read(); err == nil {
		t.Fatal("an empty folder was read")
	}
	s, _ := mustNext(t, state{}, begin, DefaultLives(), false)
	data, err := s.data()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("tls.crt", data[keyServing])
	write("tls.key", data[keyKey])
	if err := f.read(); err != nil {
		t.Fatal(err)
	}
	write("tls.key", []byte("half a"))
	if err := f.read(); err == nil {
		t.Error("a broken key was read")
	}
	if err := f.Ready(); err != nil {
		t.Errorf("the good pair was dropped: %v", err)
	}
}

// Whoever takes back each write of the Secret is answered as often as is needed at once, and then once in five seconds.
func TestWhoeverTakesTheSecretBackIsNotAnsweredAllTheTime(t *testing.T) {
	clock := clocktesting.NewFakeClock(begin)
	api := fake.NewClientset(configuration())
	a := NewAuthority(options(api, clock))
	takeBack := func() error {
		err := a.Step(t.Context())
		if deleted := api.CoreV1().Secrets("signalbox-system").Delete(t.Context(), "signalbox-webhook-certificate", metav1.DeleteOptions{}); err == nil && deleted != nil {
			t.Fatal(deleted)
		}
		return err
	}
	for i := range mostWrites {
		if err := takeBack(); err != nil {
			t.Fatalf("write %d: %v", i+1, err)
		}
	}
	if err := takeBack(); !errors.Is(err, errWrites) {
		t.Errorf("one more at once: %v; want %v", err, errWrites)
	}
	if err := a.Ready(); err != nil {
		t.Errorf("what is served went: %v", err)
	}
	clock.Step(retry)
	if err := takeBack(); err != nil {
		t.Errorf("five seconds later: %v", err)
	}
	if err := takeBack(); !errors.Is(err, errWrites) {
		t.Errorf("and one more: %v; want %v", err, errWrites)
	}
}
