//go:build integration

package cluster_test

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/signalbox-dev/signalbox/test/cluster"
)

func gpuNodes(t *testing.T, c *cluster.Cluster, n int) {
	t.Helper()
	var nodes []cluster.Node
	for i := range n {
		nodes = append(nodes, cluster.GPUNode(fmt.Sprintf("gpu-%d", i), "NVIDIA-H100-80GB-HBM3", 8))
	}
	if err := c.CreateNodes(t.Context(), nodes...); err != nil {
		t.Fatal(err)
	}
}

// jsonpath waits until kubectl prints what is wanted of an object.
func jsonpath(t *testing.T, c *cluster.Cluster, object, path, want string) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		got, err := c.Kubectl(ctx, "get", object, "-o", "jsonpath="+path)
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s of %s is %q, want %q", path, object, got, want)
		}
		return nil
	})
}

const pytorchJob = `apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: llm, namespace: default}
spec:
  pytorchReplicaSpecs:
    Master: &role
      replicas: 1
      restartPolicy: Never
      template:
        spec:
          containers:
          - {name: pytorch, image: example.org/llm:1, resources: {limits: {nvidia.com/gpu: 8}}}
    Worker:
      replicas: 3
      restartPolicy: Never
      template:
        metadata:
          annotations:
            kwok.signalbox.dev/state: oom-killed
            kwok.signalbox.dev/only-rank: "1"
            kwok.signalbox.dev/after: %s
            kwok.signalbox.dev/log: out-of-memory.log
        spec:
          containers:
          - {name: pytorch, image: example.org/llm:1, resources: {limits: {nvidia.com/gpu: 8}}}
`

func TestThePyTorchJobRunsUntilOneRankIsKilled(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.Machinery | cluster.TrainingOperator})
	gpuNodes(t, c, 4)
	if err := c.Apply(t.Context(), fmt.Sprintf(pytorchJob, "4s")); err != nil {
		t.Fatal(err)
	}
	podsLike(t, c, "training.kubeflow.org/job-name=llm", 4, corev1.PodRunning)
	jsonpath(t, c, "pytorchjob/llm", `{.status.conditions[?(@.type=="Running")].status}`, "True")

	failed := podsLike(t, c, "training.kubeflow.org/job-name=llm", 1, corev1.PodFailed)
	if got, want := failed[0].Name+": "+story(&failed[0]), "llm-worker-1: Failed, ended 137 OOMKilled"; got != want {
		t.Errorf("failed: %q, want %q", got, want)
	}
	log, err := c.Kubectl(t.Context(), "logs", "llm-worker-1", "--tail=1")
	if err != nil || log != "Killed\n" {
		t.Errorf("last line of the log: %q, %v", log, err)
	}
	jsonpath(t, c, "pytorchjob/llm", `{.status.conditions[?(@.type=="Failed")].status}`, "True")
}

func TestTheTrainingOperatorRefusesAJobWithoutItsContainer(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.TrainingOperator})
	err := c.Apply(t.Context(), strings.ReplaceAll(fmt.Sprintf(pytorchJob, "1s"), "name: pytorch,", "name: main,"))
	if err == nil || !strings.Contains(err.Error(), "validator.pytorchjob.training-operator.kubeflow.org") {
		t.Errorf("apply: %v, want the operator's webhook to refuse it", err)
	}
}

const jobSet = `apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: sweep, namespace: default}
spec:
  replicatedJobs:
  - name: worker
    replicas: 2
    template:
      spec:
        parallelism: 2
        completions: 2
        backoffLimit: 0
        template:
          metadata:
            annotations: {kwok.signalbox.dev/state: succeeded, kwok.signalbox.dev/after: 1s}
          spec:
            containers:
            - {name: main, image: example.org/sweep:1, resources: {limits: {nvidia.com/gpu: 4}}}
`

func TestTheJobSetCompletes(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.Machinery | cluster.JobSet})
	gpuNodes(t, c, 2)
	if err := c.Apply(t.Context(), jobSet); err != nil {
		t.Fatal(err)
	}
	podsLike(t, c, "jobset.sigs.k8s.io/jobset-name=sweep", 4, corev1.PodSucceeded)
	jsonpath(t, c, "jobset/sweep", "{.status.terminalState}", "Completed")

	err := c.Apply(t.Context(), strings.ReplaceAll(jobSet, "name: worker", "name: "+strings.Repeat("w", 70)))
	if err == nil || !strings.Contains(err.Error(), "vjobset.kb.io") {
		t.Errorf("apply: %v, want JobSet's webhook to refuse a name no pod could have", err)
	}
}

const trainJob = `apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: tune, namespace: default}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    image: example.org/tune:1
    numNodes: 2
    resourcesPerNode: {limits: {nvidia.com/gpu: 8}, requests: {nvidia.com/gpu: 8}}
`

func TestATrainJobBecomesAJobSetAndPods(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.Machinery | cluster.Trainer})
	gpuNodes(t, c, 2)
	err := c.Apply(t.Context(), trainJob)
	if err == nil || !strings.Contains(err.Error(), "validator.trainjob.trainer.kubeflow.org") {
		t.Errorf("apply: %v, want Trainer's webhook to refuse a job whose runtime is missing", err)
	}
	runtime, err := os.ReadFile(filepath.Join(filepath.Dir(c.Program("etcd")), "runtimes", "torch_distributed.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Apply(t.Context(), string(runtime)); err != nil {
		t.Fatal(err)
	}
	// The webhook reads runtimes from a cache.
	eventually(t, func(ctx context.Context) error { return c.Apply(ctx, trainJob) })
	pods := podsLike(t, c, "jobset.sigs.k8s.io/jobset-name=tune", 2, corev1.PodRunning)
	for _, pod := range pods {
		if got := pod.Spec.Containers[0].Image; got != "example.org/tune:1" {
			t.Errorf("%s runs %s, want the job's image", pod.Name, got)
		}
	}
}

const certificates = `apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: self, namespace: default}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: authority, namespace: default}
spec:
  isCA: true
  commonName: authority
  secretName: authority
  privateKey: {algorithm: ECDSA}
  issuerRef: {name: self, kind: Issuer}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: authority, namespace: default}
spec: {ca: {secretName: authority}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: webhook, namespace: default}
spec:
  dnsNames: [signalbox.default.svc]
  secretName: webhook
  issuerRef: {name: authority, kind: Issuer}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: injected
  annotations: {cert-manager.io/inject-ca-from: default/webhook}
webhooks:
- name: jobs.example.org
  sideEffects: None
  admissionReviewVersions: [v1]
  failurePolicy: Ignore
  clientConfig: {service: {name: signalbox, namespace: default, path: /}}
  rules: []
`

func TestCertManagerIssuesAndInjects(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.CertManager})
	if err := c.Apply(t.Context(), certificates); err != nil {
		t.Fatal(err)
	}
	jsonpath(t, c, "certificate/webhook", `{.status.conditions[?(@.type=="Ready")].status}`, "True")

	var injected []byte
	eventually(t, func(ctx context.Context) error {
		w, err := c.Clientset().AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(ctx, "injected", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if injected = w.Webhooks[0].ClientConfig.CABundle; len(injected) == 0 {
			return errors.New("no caBundle was injected")
		}
		return nil
	})
	secret, err := c.Clientset().CoreV1().Secrets("default").Get(t.Context(), "webhook", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(secret.Data["tls.crt"])
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(injected)
	if _, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: "signalbox.default.svc"}); err != nil {
		t.Errorf("the certificate does not verify with the injected CA: %v", err)
	}
}

func TestEveryPartRunsTogether(t *testing.T) {
	c := cluster.ForTest(t, cluster.Options{Parts: cluster.Everything})
	if err := c.Err(); err != nil {
		t.Error(err)
	}
}
