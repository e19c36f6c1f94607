package certs

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"
)

// signedBy is a certificate of a template, and its key.
func signedBy(t *testing.T, by *pair, change func(*x509.Certificate)) pair {
	t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "foreign"}, NotBefore: begin.Add(-skew), NotAfter: begin.AddDate(1, 0, 0), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: hosts[:1], IPAddresses: nil,
	}
	change(template)
	out, err := sign(template, by)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The Secret may hold what somebody else put there, or a replica whose clock is wrong. What no API server accepts is replaced,
// once, and what it is replaced by is accepted.
func TestWhatNoAPIServerAcceptsIsReplacedOnce(t *testing.T) {
	lives := DefaultLives()
	good, _ := mustNext(t, state{}, begin, lives, false)
	ahead, _ := mustNext(t, state{}, begin.AddDate(3, 0, 0), lives, false)
	onlyAhead := good
	var err error
	if onlyAhead.serving, err = newServing(begin.AddDate(0, 6, 0), lives.Serving, hosts, good.ca); err != nil {
		t.Fatal(err)
	}
	leaf := signedBy(t, nil, func(*x509.Certificate) {})
	noSign := signedBy(t, nil, func(c *x509.Certificate) { c.IsCA = true })
	elsewhere := signedBy(t, nil, func(c *x509.Certificate) {
		c.IsCA, c.KeyUsage, c.ExtKeyUsage = true, x509.KeyUsageCertSign, nil
		c.PermittedDNSDomainsCritical, c.PermittedDNSDomains = true, []string{"example.com"}
	})
	forClients := signedBy(t, nil, func(c *x509.Certificate) {
		c.IsCA, c.KeyUsage, c.ExtKeyUsage = true, x509.KeyUsageCertSign, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	})
	client := good
	client.serving = signedBy(t, &good.ca, func(c *x509.Certificate) {
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
		c.IPAddresses = good.serving.cert.IPAddresses
	})
	of := func(ca pair) state {
		serving, err := newServing(begin, lives.Serving, hosts, ca)
		if err != nil {
			t.Fatal(err)
		}
		return state{ca: ca, serving: serving}
	}
	cases := map[string]struct {
		have       state
		wantSameCA bool
	}{
		"both begin in three years, by a clock that was ahead": {ahead, false},
		"the certificate begins in half a year":                {onlyAhead, true},
		"the CA is a server's certificate":                     {of(leaf), false},
		"the CA may not sign":                                  {of(noSign), false},
		"the CA is one for the names of somebody else":         {of(elsewhere), false},
		"the CA is one for clients":                            {of(forClients), false},
		"the certificate is a client's":                        {client, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			data, err := tc.have.data()
			if err != nil {
				t.Fatal(err)
			}
			got, changed := mustNext(t, parseState(data), begin, lives, true)
			if !changed {
				t.Error("it stays")
			}
			if err := accepts(t, got.bundle(), got.serving.cert, begin); err != nil {
				t.Errorf("what it is replaced by is refused: %v", err)
			}
			if same := got.ca.cert.Equal(tc.have.ca.cert); same != tc.wantSameCA {
				t.Errorf("same CA: %v; want %v", same, tc.wantSameCA)
			}
			if data, err = got.data(); err != nil {
				t.Fatal(err)
			}
			if _, changed := mustNext(t, parseState(data), begin.Add(time.Second), lives, true); changed {
				t.Error("it is replaced again a second later")
			}
		})
	}
}
