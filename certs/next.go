package certs

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"time"
)

// Keys of the Secret. tls.crt and tls.key are those of the Secret type kubernetes.io/tls.
const (
	keyBundle  = "ca.crt"  // every CA that callers must trust, newest first
	keyCA      = "ca.key"  // of the newest CA
	keyServing = "tls.crt" // the serving certificate
	keyKey     = "tls.key"
)

// Lives says how long certificates live. Both are renewed after two thirds.
type Lives struct {
	CA, Serving time.Duration
	// Overlap is how long a new CA is trusted before anything signed by it is served, and how
	// long the old one stays trusted afterwards. It has to cover the time in which every
	// replica and every API server learns of a change, which is seconds.
	Overlap time.Duration
}

// DefaultLives are a year, ninety days and an hour.
func DefaultLives() Lives {
	return Lives{CA: 365 * 24 * time.Hour, Serving: 90 * 24 * time.Hour, Overlap: time.Hour}
}

// state is what the Secret holds.
type state struct {
	ca      pair                // key is nil where it cannot be read
	older   []*x509.Certificate // CAs that are still trusted, newest first
	serving pair
}

// parseState reads a Secret. What cannot be read is missing, and next replaces it.
func parseState(data map[string][]byte) state {
	var s state
	if all := parseCerts(data[keyBundle]); len(all) > 0 {
		s.ca.cert, s.older = all[0], all[1:]
		s.ca.key, _ = parseKey(data[keyCA], s.ca.cert)
	}
	if all := parseCerts(data[keyServing]); len(all) > 0 {
		if key, err := parseKey(data[keyKey], all[0]); err == nil {
			s.serving = pair{all[0], key}
		}
	}
	return s
}

// data is the Secret's content.
func (s state) data() (map[string][]byte, error) {
	caKey, err := keyPEM(s.ca.key)
	if err != nil {
		return nil, err
	}
	key, err := keyPEM(s.serving.key)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{keyBundle: s.bundle(), keyCA: caKey, keyServing: certPEM(s.serving.cert), keyKey: key}, nil
}

// bundle is what callers must trust.
func (s state) bundle() []byte {
	return certPEM(append([]*x509.Certificate{s.ca.cert}, s.older...)...)
}

// certificate is the serving certificate as crypto/tls wants it; nil if there is none.
func (s state) certificate() *tls.Certificate {
	if s.serving.cert == nil {
		return nil
	}
	return &tls.Certificate{Certificate: [][]byte{s.serving.cert.Raw}, PrivateKey: s.serving.key, Leaf: s.serving.cert}
}

// next is the state after whatever is due now, and whether that is a change. trusted
// says that callers trust the bundle of s already; without it nothing is served that
// only a newer CA vouches for, and no CA is dropped.
//
// A rotation of the CA takes three steps, each a change of the Secret of its own:
//
//	CA after 2/3 of its life    new CA joins the bundle; the serving certificate stays
//	one overlap later           the serving certificate is signed by the new CA
//	one overlap later           the old CA leaves the bundle
//
// What no API server accepts is replaced at once, whoever wrote it: a CA that begins in a year, by a clock that was ahead,
// or one that may not sign for our names.
func next(s state, now time.Time, lives Lives, hosts []string, trusted bool) (state, bool, error) {
	changed := false
	if s.ca.cert == nil || s.ca.key == nil || !within(now, s.ca.cert) || now.After(renewal(s.ca.cert)) {
		if err := s.join(now, lives); err != nil {
			return s, false, err
		}
		changed, trusted = true, false
	}
	if s.servingDue(now, lives, hosts, trusted) {
		serving, err := newServing(now, lives.Serving, hosts, s.ca)
		if err == nil && !accepted(serving.cert, []*x509.Certificate{s.ca.cert}, hosts, now) {
			if err = s.join(now, lives); err == nil { // what was called a CA is none for us
				serving, err = newServing(now, lives.Serving, hosts, s.ca)
			}
			trusted = false
		}
		if err != nil {
			return s, false, err
		}
		s.serving, changed = serving, true
	}
	kept := s.keep(now, lives, trusted)
	changed = changed || len(kept) != len(s.older)
	s.older = kept
	return s, changed, nil
}

// join makes a new CA, beside which the one before stays trusted.
func (s *state) join(now time.Time, lives Lives) error {
	ca, err := newCA(now, lives.CA)
	if err != nil {
		return err
	}
	if s.ca.cert != nil {
		s.older = append([]*x509.Certificate{s.ca.cert}, s.older...)
	}
	s.ca = ca
	return nil
}

// servingDue says whether a new serving certificate is to be signed by the newest CA.
func (s state) servingDue(now time.Time, lives Lives, hosts []string, trusted bool) bool {
	c := s.serving.cert
	switch {
	case c == nil, !accepted(c, append(slices.Clone(s.older), s.ca.cert), hosts, now):
		return true // no API server accepts what we have
	case c.CheckSignatureFrom(s.ca.cert) != nil:
		return trusted && !now.Before(s.ca.made().Add(lives.Overlap))
	}
	return now.After(renewal(c))
}

// keep is the older CAs that must stay trusted.
func (s state) keep(now time.Time, lives Lives, trusted bool) []*x509.Certificate {
	moved := s.serving.cert.CheckSignatureFrom(s.ca.cert) == nil && !now.Before(s.serving.made().Add(lives.Overlap))
	var out []*x509.Certificate
	for _, c := range s.older {
		if now.Before(c.NotAfter) && (!moved || !trusted) {
			out = append(out, c)
		}
	}
	return out
}

// renewal is two thirds through the life of a certificate: a third is left to notice
// that renewing fails.
func renewal(c *x509.Certificate) time.Time {
	made := pair{cert: c}.made()
	return made.Add(c.NotAfter.Sub(made) * 2 / 3)
}

// accepted says whether whoever trusts some CAs, as an API server does, takes a certificate for that of a server at each of the hosts.
func accepted(c *x509.Certificate, by []*x509.Certificate, hosts []string, now time.Time) bool {
	roots := x509.NewCertPool()
	for _, ca := range by {
		roots.AddCert(ca)
	}
	for _, h := range hosts {
		if _, err := c.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: h}); err != nil {
			return false
		}
	}
	return within(now, c)
}

// within says whether a certificate has begun and has not ended.
func within(now time.Time, c *x509.Certificate) bool {
	return !now.Before(c.NotBefore) && now.Before(c.NotAfter)
}
