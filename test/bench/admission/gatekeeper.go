package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	_ "embed"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

// The same rules for both.
var (
	//go:embed gatekeeper-template.yaml
	gatekeeperTemplate string
	//go:embed gatekeeper-constraint.yaml
	gatekeeperConstraint string
	//go:embed signalbox-policies.yaml
	signalboxPolicies string
)

// refusedByTemplate is a job that the constraint refuses; when it is refused, the rules are in force.
const refusedByTemplate = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: refused-by-gatekeeper, namespace: default}
spec:
  pytorchReplicaSpecs:
    Worker:
      replicas: 1
      template:
        spec:
          containers: [{name: pytorch, image: somewhere.example.org/image, resources: {limits: {nvidia.com/gpu: "8"}}}]
`

// measureGatekeeper installs Gatekeeper, measures it and takes its webhook away again; its process stays, idle.
func measureGatekeeper(ctx context.Context, plane *cluster.Cluster, s settings, job *unstructured.Unstructured) (out figures, err error) {
	if err := clear(ctx, plane); err != nil {
		return out, err
	}
	at, err := installGatekeeper(ctx, plane)
	if err != nil {
		return out, fmt.Errorf("install Gatekeeper: %w", err)
	}
	s.pprof = "" // of Signalbox
	if out, err = measure(ctx, plane, s, job, at); err != nil {
		return out, err
	}
	return out, plane.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(ctx, "gatekeeper-validating-webhook-configuration", metav1.DeleteOptions{})
}

func installGatekeeper(ctx context.Context, plane *cluster.Cluster) (*subject, error) {
	if _, err := plane.Kubectl(ctx, "apply", "--server-side", "-f", filepath.Join(filepath.Dir(plane.Program("gatekeeper")), "crds", "gatekeeper")); err != nil {
		return nil, err
	}
	if err := plane.CreateNamespace(ctx, "gatekeeper-system", nil); err != nil {
		return nil, err
	}
	certs := filepath.Join(plane.Dir(), "gatekeeper-certs")
	authority, err := writeCertificate(certs)
	if err != nil {
		return nil, err
	}
	out := &subject{name: "Gatekeeper", hook: "validation.gatekeeper.sh"}
	pidFile := filepath.Join(plane.Dir(), "gatekeeper.pid")
	var port int
	if err := plane.Run(ctx, cluster.Program{
		Name: "gatekeeper", Path: "/bin/sh", Ports: 3,
		Args: func(ports []int) ([]string, error) {
			port = ports[0]
			return underShell(pidFile, "/usr/bin/env", "POD_NAME=none", "POD_NAMESPACE=gatekeeper-system", "CONTAINER_NAME=manager",
				plane.Program("gatekeeper"), "--kubeconfig="+plane.Kubeconfig(), "--operation=webhook", "--operation=status", "--operation=generate", "--disable-cert-rotation", "--cert-dir="+certs,
				"--debug-use-fake-pod", "--host=127.0.0.1", "--port="+strconv.Itoa(port), "--health-addr=127.0.0.1:"+strconv.Itoa(ports[1]),
				"--prometheus-port="+strconv.Itoa(ports[2]), "--log-level=WARNING"), nil
		},
		Ready: func(ctx context.Context, ports []int) error {
			return cluster.Answers(ctx, fmt.Sprintf("http://127.0.0.1:%d/readyz", ports[1]))
		},
	}); err != nil {
		return nil, err
	}
	if out.pid, err = pidIn(pidFile); err != nil {
		return nil, err
	}
	for _, text := range []string{gatekeeperTemplate, gatekeeperConstraint, registration("gatekeeper-validating-webhook-configuration", out.hook, fmt.Sprintf("https://127.0.0.1:%d/v1/admit", port), authority)} {
		if err := wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) {
			return plane.Apply(ctx, text) == nil, nil // a template's kind is there when Gatekeeper has made it
		}); err != nil {
			return nil, fmt.Errorf("%w: %w", err, plane.Apply(ctx, text))
		}
	}
	return out, wait.PollUntilContextTimeout(ctx, time.Second, time.Minute, true, func(ctx context.Context) (bool, error) {
		if _, err := plane.Kubectl(ctx, "delete", "--ignore-not-found", "pytorchjob", "refused-by-gatekeeper"); err != nil {
			return false, err
		}
		err := plane.Apply(ctx, refusedByTemplate)
		return err != nil && strings.Contains(err.Error(), "has no label team"), nil
	})
}

// registration is the configuration by which the API server asks a webhook about the jobs that are created.
func registration(name, hook, url string, authority []byte) string {
	return fmt.Sprintf(`apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: %s}
webhooks:
- name: %s
  admissionReviewVersions: [v1]
  clientConfig: {url: %q, caBundle: %s}
  failurePolicy: Ignore
  matchPolicy: Exact
  rules: [{apiGroups: [kubeflow.org], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: [pytorchjobs]}]
  sideEffects: None
  timeoutSeconds: 3
`, name, hook, url, base64.StdEncoding.EncodeToString(authority))
}

// writeCertificate writes tls.crt and tls.key for 127.0.0.1, signed by themselves, into a folder.
func writeCertificate(dir string) (authority []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "webhook"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, 1),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(filepath.Join(dir, "tls.crt"), authority, 0o600); err != nil {
		return nil, err
	}
	return authority, os.WriteFile(filepath.Join(dir, "tls.key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600)
}
