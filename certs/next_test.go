package certs

import (
	"crypto/x509"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	begin = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	hosts = []string{"signalbox-webhook.signalbox-system.svc", "127.0.0.1"}
)

// accepts says whether a caller that trusts the bundle accepts the certificate.
func accepts(t *testing.T, bundle []byte, c *x509.Certificate, now time.Time) error {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		t.Fatalf("bundle holds no certificate")
	}
	for _, h := range hosts {
		if _, err := c.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: h}); err != nil {
			return err
		}
	}
	return nil
}

func mustNext(t *testing.T, s state, now time.Time, lives Lives, trusted bool) (state, bool) {
	t.Helper()
	out, changed, err := next(s, now, lives, hosts, trusted)
	if err != nil {
		t.Fatal(err)
	}
	return out, changed
}

// Whoever still trusts yesterday's bundle accepts today's certificate, and whoever still
// serves yesterday's certificate is accepted by today's bundle: at every change in three
// years.
func TestNoCallFailsWhileCertificatesRotate(t *testing.T) {
	lives := DefaultLives()
	lives.Overlap = 24 * time.Hour
	now := begin
	s, _ := mustNext(t, state{}, now, lives, false)
	cas, servings := map[string]bool{}, map[string]bool{}
	for end := begin.AddDate(3, 0, 0); now.Before(end); now = now.Add(6 * time.Hour) {
		after, changed := mustNext(t, s, now, lives, true)
		if changed {
			if err := accepts(t, s.bundle(), after.serving.cert, now); err != nil {
				t.Fatalf("at %s: the old bundle refuses the new certificate: %v", now, err)
			}
			if err := accepts(t, after.bundle(), s.serving.cert, now); err != nil {
				t.Fatalf("at %s: the new bundle refuses the old certificate: %v", now, err)
			}
		}
		if left := after.serving.cert.NotAfter.Sub(now); left < 29*24*time.Hour {
			t.Fatalf("at %s: only %s left on the serving certificate", now, left)
		}
		if n := len(after.older); n > 1 {
			t.Fatalf("at %s: %d old CAs are trusted; want at most 1", now, n)
		}
		s = after
		cas[s.ca.cert.SerialNumber.String()], servings[s.serving.cert.SerialNumber.String()] = true, true
	}
	// 36 months in steps of 2/3 of 12 months, and of 2/3 of 90 days.
	if got := len(cas); got != 5 {
		t.Errorf("%d CAs in three years; want 5", got)
	}
	if got := len(servings); got < 18 || got > 24 {
		t.Errorf("%d serving certificates in three years; want about 20", got)
	}
}

func TestTheStepsOfARotation(t *testing.T) {
	lives := DefaultLives()
	first, _ := mustNext(t, state{}, begin, lives, false)
	due := begin.Add(lives.CA*2/3 + time.Hour)
	fresh, err := newServing(due.Add(-time.Hour), lives.Serving, hosts, first.ca)
	if err != nil {
		t.Fatal(err)
	}
	first.serving = fresh // so that only the CA is due

	joined, changed := mustNext(t, first, due, lives, true)
	if !changed || len(joined.older) != 1 || joined.serving.cert != fresh.cert {
		t.Fatalf("changed %v, %d old CAs, same certificate %v; want a second CA and the old certificate", changed, len(joined.older), joined.serving.cert == fresh.cert)
	}
	if _, changed := mustNext(t, joined, due.Add(lives.Overlap-time.Second), lives, true); changed {
		t.Error("the certificate moved to the new CA before the overlap was over")
	}
	if _, changed := mustNext(t, joined, due.Add(10*lives.Overlap), lives, false); changed {
		t.Error("the certificate moved to a CA that nobody trusts yet")
	}
	moved, changed := mustNext(t, joined, due.Add(lives.Overlap), lives, true)
	if !changed || moved.serving.cert.CheckSignatureFrom(joined.ca.cert) != nil || len(moved.older) != 1 {
		t.Fatal("after the overlap the new CA must have signed the certificate, with the old one still trusted")
	}
	alone, changed := mustNext(t, moved, due.Add(2*lives.Overlap), lives, true)
	if !changed || len(alone.older) != 0 {
		t.Fatal("one overlap later the old CA must be gone")
	}
}

func TestWhatIsBrokenIsReplaced(t *testing.T) {
	lives := DefaultLives()
	good, _ := mustNext(t, state{}, begin, lives, false)
	data, err := good.data()
	if err != nil {
		t.Fatal(err)
	}
	without := func(keys ...string) map[string][]byte {
		out := maps.Clone(data)
		for _, k := range keys {
			out[k] = []byte("-----BEGIN NOTHING-----")
		}
		return out
	}
	cases := map[string]struct {
		have                       map[string][]byte
		at                         time.Time
		wantSameCA, wantSameServed bool
	}{
		"a whole secret stays":                            {data, begin, true, true},
		"an empty secret is filled":                       {nil, begin, false, false},
		"the CA's key is lost: old certificate stays":     {without(keyCA), begin, false, true},
		"the serving key is lost":                         {without(keyKey), begin, true, false},
		"everything is lost":                              {without(keyBundle, keyCA, keyServing, keyKey), begin, false, false},
		"nobody looked for two years: both have expired":  {data, begin.AddDate(2, 0, 0), false, false},
		"nobody looked for 70 days: the certificate only": {data, begin.AddDate(0, 0, 70), true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, _ := mustNext(t, parseState(tc.have), tc.at, lives, true)
			if err := accepts(t, got.bundle(), got.serving.cert, tc.at); err != nil {
				t.Errorf("the result is refused: %v", err)
			}
			if same := got.ca.cert.Equal(good.ca.cert); same != tc.wantSameCA {
				t.Errorf("same CA: %v; want %v", same, tc.wantSameCA)
			}
			if same := got.serving.cert.Equal(good.serving.cert); same != tc.wantSameServed {
				t.Errorf("same certificate: %v; want %v", same, tc.wantSameServed)
			}
		})
	}
}

func TestAChangedAddressGetsACertificateAtOnce(t *testing.T) {
	s, _ := mustNext(t, state{}, begin, DefaultLives(), false)
	got, changed, err := next(s, begin, DefaultLives(), append(hosts, "10.0.0.7"), true)
	if err != nil || !changed {
		t.Fatalf("changed %v, error %v; want a new certificate", changed, err)
	}
	if err := got.serving.cert.VerifyHostname("10.0.0.7"); err != nil {
		t.Error(err)
	}
}

func TestSecretRoundTrip(t *testing.T) {
	s, _ := mustNext(t, state{}, begin, DefaultLives(), false)
	data, err := s.data()
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseState(data).data()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(data, again); diff != "" {
		t.Errorf("written, read and written again (-want +got):\n%s", diff)
	}
}
