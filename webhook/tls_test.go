package webhook

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/certs"
)

// signed is a certificate that signs itself.
func signed(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

type serving struct {
	certs.Source
	certificate tls.Certificate
}

func (o serving) Certificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return &o.certificate, nil
}

// Where the configuration names who signs callers, no other gets as far as a request.
func TestCallersShowACertificate(t *testing.T) {
	server, apiServer, other := signed(t, "webhook"), signed(t, "kube-apiserver"), signed(t, "pod")
	file := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: apiServer.Certificate[0]}), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &Webhook{o: Options{Certificates: serving{certificate: server}, ClientCAFile: file}}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", w.tls())
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), ReadHeaderTimeout: time.Minute, ErrorLog: nil}
	go func() { _ = s.Serve(listener) }()
	defer s.Close()
	trusted := x509.NewCertPool()
	own, err := x509.ParseCertificate(server.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	trusted.AddCert(own)
	call := func(shows ...tls.Certificate) error {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, Certificates: shows, MinVersion: tls.VersionTLS13}}}
		defer client.CloseIdleConnections()
		resp, err := client.Get("https://" + listener.Addr().String())
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if err := call(apiServer); err != nil {
		t.Errorf("the API server: %v", err)
	}
	if err := call(other); err == nil {
		t.Error("a certificate that nobody signed is taken")
	}
	if err := call(); err == nil {
		t.Error("nobody shows a certificate and is let in")
	}
	if _, err := New(t.Context(), Options{Address: "127.0.0.1:0", ClientCAFile: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a file that is not there names callers")
	}
}
