package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// pki is the cluster's certificate authority and what it signed. One serving certificate for 127.0.0.1 does
// for every program: they all live there.
type pki struct {
	dir string
	CA  []byte // PEM

	ca    *x509.Certificate
	caKey *ecdsa.PrivateKey
}

// Files of the pki.
const (
	caCert, caKey           = "ca.crt", "ca.key"
	servingCert, servingKey = "tls.crt", "tls.key"
	accountKey, accountPub  = "service-account.key", "service-account.pub"
)

func (p *pki) file(name string) string { return filepath.Join(p.dir, name) }

func newPKI(dir string) (*pki, error) {
	p := &pki{dir: dir}
	for _, step := range []func() error{p.writeCA, p.writeServing, p.writeAccountKeys} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("make certificates: %w", err)
		}
	}
	return p, nil
}

func (p *pki) writeCA() (err error) {
	if p.caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "signalbox-test-ca"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, p.caKey.Public(), p.caKey)
	if err != nil {
		return err
	}
	if p.ca, err = x509.ParseCertificate(der); err != nil {
		return err
	}
	p.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return p.writePair(caCert, caKey, der, p.caKey)
}

func (p *pki) writeServing() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "127.0.0.1"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost", "kubernetes.default.svc"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, p.ca, key.Public(), p.caKey)
	if err != nil {
		return err
	}
	return p.writePair(servingCert, servingKey, der, key)
}

func (p *pki) writePair(certFile, keyFile string, cert []byte, key any) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := p.writePEM(keyFile, "PRIVATE KEY", der); err != nil {
		return err
	}
	return p.writePEM(certFile, "CERTIFICATE", cert)
}

// writeAccountKeys makes the pair that signs and checks ServiceAccount tokens.
func (p *pki) writeAccountKeys() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	pub, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := p.writePEM(accountPub, "PUBLIC KEY", pub); err != nil {
		return err
	}
	return p.writePEM(accountKey, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key))
}

func (p *pki) writePEM(name, kind string, der []byte) error {
	return os.WriteFile(p.file(name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// copyServing puts the serving certificate where a program insists on finding it.
func (p *pki) copyServing(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{servingCert, servingKey} {
		content, err := os.ReadFile(p.file(name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
