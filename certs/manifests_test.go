package certs

import (
	"bytes"
	"os"
	"testing"

	certmanager "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"
)

// documents decodes each document of a file into cert-manager's own type, strictly.
func documents[T any](t *testing.T, path string) []T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var v T
		if err := yaml.UnmarshalStrict(part, &v); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, v)
	}
	return out
}

// Self-signed issuer → CA → CA issuer → serving certificate: every name on the way exists.
func TestTheChainOfIssuersIsClosed(t *testing.T) {
	secrets, names := map[string]string{}, sets.New[string]()
	for _, i := range documents[certmanager.Issuer](t, "issuer.yaml") {
		names.Insert(i.Name)
		if i.Spec.CA != nil {
			secrets[i.Name] = i.Spec.CA.SecretName
		}
	}
	certificates := documents[certmanager.Certificate](t, "certificate.yaml")
	if len(certificates) != 2 {
		t.Fatalf("%d certificates; want the CA and the serving one", len(certificates))
	}
	ca, serving := certificates[0], certificates[1]
	for _, c := range certificates {
		if !names.Has(c.Spec.IssuerRef.Name) {
			t.Errorf("certificate %s wants issuer %s; there are %v", c.Name, c.Spec.IssuerRef.Name, sets.List(names))
		}
		if life, before := c.Spec.Duration.Duration, c.Spec.RenewBefore.Duration; before != life/3 {
			t.Errorf("certificate %s lives %s and is renewed %s before; want a third", c.Name, life, before)
		}
	}
	if !ca.Spec.IsCA || secrets[serving.Spec.IssuerRef.Name] != ca.Spec.SecretName {
		t.Errorf("the serving certificate is signed from secret %q; the CA lies in %q (isCA %v)", secrets[serving.Spec.IssuerRef.Name], ca.Spec.SecretName, ca.Spec.IsCA)
	}
	want := "signalbox-webhook.signalbox-system.svc"
	if !sets.New(serving.Spec.DNSNames...).Has(want) {
		t.Errorf("names %v lack %s, by which the API server calls", serving.Spec.DNSNames, want)
	}
	if life := DefaultLives(); life.CA != ca.Spec.Duration.Duration || life.Serving != serving.Spec.Duration.Duration {
		t.Errorf("cert-manager's lives %s and %s differ from the built-in %s and %s", ca.Spec.Duration.Duration, serving.Spec.Duration.Duration, life.CA, life.Serving)
	}
}
