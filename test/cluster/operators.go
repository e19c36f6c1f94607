package cluster

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// operator is a controller of training jobs, or cert-manager.
type operator struct {
	part      Part
	name      string // of the program, its CRDs and its webhooks in bin/controlplane
	namespace string // where it would be installed
	config    string // its configuration file, where it has one
	args      []string
	podLabel  string   // of the pods that its webhooks for pods are for, as its kustomization narrows them; empty: that of JobSet
	webhooks  []string // those of its webhooks that it serves as it is configured, without their m or v; nil: all
	// In config and args, $HEALTH and $WEBHOOK are ports, $CERTS the folder of the webhooks' certificate
	// and $CONFIG the path of the configuration file.
}

// user is the ServiceAccount the operator would run as. It is in system:masters: the operators' own roles
// are not what is tested here.
func (o operator) user() string { return "system:serviceaccount:" + o.namespace + ":" + o.name }

// operators, each with its own certificate handling switched off: certificates and caBundles are ours.
var operators = []operator{
	{
		part: TrainingOperator, name: "training-operator", namespace: "kubeflow",
		args: []string{"--health-address=127.0.0.1:$HEALTH", "--webhook-port=$WEBHOOK", "--webhook-cert-dir=$CERTS"},
	},
	{
		part: JobSet, name: "jobset", namespace: "jobset-system", args: []string{"--config=$CONFIG"},
		config: `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "127.0.0.1:$HEALTH"}
webhook: {host: 127.0.0.1, port: $WEBHOOK, certDir: $CERTS}
`,
	},
	{
		// It has no setting for the certificate folder; controller-runtime's default lies below TMPDIR.
		part: Trainer, name: "trainer", namespace: "kubeflow-system", args: []string{"--config=$CONFIG"},
		config: `apiVersion: config.trainer.kubeflow.org/v1alpha1
kind: Configuration
leaderElection: {leaderElect: false}
certManagement: {enable: false}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "127.0.0.1:$HEALTH", readinessEndpointName: readyz, livenessEndpointName: healthz}
webhook: {host: 127.0.0.1, port: $WEBHOOK}
`,
	},
	{
		part: LeaderWorkerSet, name: "lws", namespace: "lws-system", args: []string{"--config=$CONFIG"}, podLabel: "leaderworkerset.sigs.k8s.io/name",
		config: `apiVersion: config.lws.x-k8s.io/v1alpha1
kind: Configuration
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "127.0.0.1:$HEALTH"}
webhook: {host: 127.0.0.1, port: $WEBHOOK, certDir: $CERTS}
`,
	},
	{
		part: MPIOperator, name: "mpi-operator", namespace: "mpi-operator", args: []string{"--health-address=127.0.0.1:$HEALTH"},
	},
	{
		part: KubeRay, name: "kuberay", namespace: "ray-system",
		args: []string{"--health-probe-bind-address=127.0.0.1:$HEALTH", "--metrics-addr=0", "--enable-leader-election=false"},
	},
	{
		part: Kueue, name: "kueue", namespace: "kueue-system", args: []string{"--config=$CONFIG"},
		webhooks: []string{"clusterqueue.kb.io", "cohort.kb.io", "resourceflavor.kb.io", "workload.kb.io", "job.kb.io", "jobset.kb.io", "mpijob.kb.io", "rayjob.kb.io"},
		config: `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
leaderElection: {leaderElect: false}
internalCertManagement: {enable: false}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "127.0.0.1:$HEALTH"}
webhook: {host: 127.0.0.1, port: $WEBHOOK, certDir: $CERTS}
integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset, kubeflow.org/mpijob, ray.io/rayjob]}
featureGates: {MultiKueue: false, VisibilityOnDemand: false}
`,
	},
	{
		part: CertManager, name: "cert-manager", namespace: "cert-manager",
		args: []string{"--health-address=127.0.0.1:$HEALTH", "--cluster-resource-namespace=cert-manager"},
	},
}

// serves says whether the operator has a handler for its webhook.
func (o operator) serves(webhook string) bool {
	return o.webhooks == nil || slices.Contains(o.webhooks, strings.TrimLeft(webhook[:1], "mv")+webhook[1:])
}

// startOperator returns when the operator says it is ready and its webhooks are served.
func (c *Cluster) startOperator(ctx context.Context, o operator) error {
	if err := c.CreateNamespace(ctx, o.namespace, nil); err != nil {
		return err
	}
	// Trainer watches JobSets and gives up when the kind is unknown.
	needed := o.part
	if o.part == Trainer {
		needed |= JobSet
	}
	if o.part == Kueue { // it looks once, when it starts, which kinds there are
		needed |= JobSet | MPIOperator | KubeRay
	}
	if err := c.InstallCRDs(ctx, needed); err != nil {
		return fmt.Errorf("start %s: %w", o.name, err)
	}
	return c.run(ctx, o.name, 2, func(port []int) (launch, error) {
		certs := c.path("tmp", o.name, "k8s-webhook-server", "serving-certs")
		if err := c.pki.copyServing(certs); err != nil {
			return launch{}, err
		}
		config := c.path("tmp", o.name+".yaml")
		known := map[string]string{
			"HEALTH": strconv.Itoa(port[0]), "WEBHOOK": strconv.Itoa(port[1]), "CERTS": certs, "CONFIG": config,
		}
		fill := func(s string) string { return os.Expand(s, func(name string) string { return known[name] }) }
		if err := os.WriteFile(config, []byte(fill(o.config)), 0o600); err != nil {
			return launch{}, err
		}
		var args []string
		for _, a := range o.args {
			args = append(args, fill(a))
		}
		// Before the program runs: the API server has seen the configuration long before it is ready.
		webhooks, err := c.installWebhooks(ctx, o, port[1])
		if err != nil {
			return launch{}, err
		}
		health := c.answers(fmt.Sprintf("http://127.0.0.1:%d/readyz", port[0]))
		return launch{
			args: args,
			env:  []string{"KUBECONFIG=" + c.kubeconfigOf(o.user())},
			// Operators give up where a Deployment would start them again.
			again: true,
			ready: func(ctx context.Context) error {
				if err := health(ctx); err != nil {
					return err
				}
				return c.served(ctx, webhooks)
			},
		}, nil
	})
}

// installWebhooks applies the operator's own webhook manifests, pointed at 127.0.0.1, and returns their URLs.
func (c *Cluster) installWebhooks(ctx context.Context, o operator, port int) ([]string, error) {
	content, err := os.ReadFile(filepath.Join(c.bin, "webhooks", o.name, "manifests.yaml"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var urls []string
	for doc := range bytes.SplitSeq(content, []byte("\n---")) {
		at, err := c.installWebhook(ctx, o, port, doc)
		if err != nil {
			return nil, fmt.Errorf("install webhooks of %s: %w", o.name, err)
		}
		urls = append(urls, at...)
	}
	return urls, nil
}

func (c *Cluster) installWebhook(ctx context.Context, o operator, port int, doc []byte) (urls []string, err error) {
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(doc, &meta); err != nil {
		return nil, err
	}
	switch meta.Kind {
	case "ValidatingWebhookConfiguration":
		var w admissionv1.ValidatingWebhookConfiguration
		if err := yaml.Unmarshal(doc, &w); err != nil {
			return nil, err
		}
		w.Name = o.name
		w.Webhooks = slices.DeleteFunc(w.Webhooks, func(h admissionv1.ValidatingWebhook) bool { return !o.serves(h.Name) })
		for i := range w.Webhooks {
			urls = append(urls, c.point(o, port, w.Webhooks[i].Name, &w.Webhooks[i].ClientConfig, &w.Webhooks[i].ObjectSelector))
		}
		return urls, c.createValidating(ctx, &w)
	case "MutatingWebhookConfiguration":
		var w admissionv1.MutatingWebhookConfiguration
		if err := yaml.Unmarshal(doc, &w); err != nil {
			return nil, err
		}
		w.Name = o.name
		w.Webhooks = slices.DeleteFunc(w.Webhooks, func(h admissionv1.MutatingWebhook) bool { return !o.serves(h.Name) })
		for i := range w.Webhooks {
			urls = append(urls, c.point(o, port, w.Webhooks[i].Name, &w.Webhooks[i].ClientConfig, &w.Webhooks[i].ObjectSelector))
		}
		return urls, c.createMutating(ctx, &w)
	}
	return nil, nil // kustomize directives, empty documents
}

// point turns a webhook that names a Service into one that names a URL, and returns the URL.
func (c *Cluster) point(o operator, port int, name string, at *admissionv1.WebhookClientConfig, selector **metav1.LabelSelector) string {
	url := fmt.Sprintf("https://127.0.0.1:%d%s", port, *at.Service.Path)
	*at = admissionv1.WebhookClientConfig{URL: &url, CABundle: c.pki.CA}
	// The kustomizations narrow webhooks for pods to the pods of the operator's kind; the manifest alone would
	// stop every pod while the operator is down.
	if strings.HasSuffix(name, "pod.kb.io") {
		*selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: cmp.Or(o.podLabel, "jobset.sigs.k8s.io/jobset-name"), Operator: metav1.LabelSelectorOpExists},
		}}
	}
	return url
}

// createValidating replaces what an earlier attempt on another port left.
func (c *Cluster) createValidating(ctx context.Context, w *admissionv1.ValidatingWebhookConfiguration) error {
	all := c.clientset.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	if err := all.Delete(ctx, w.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	_, err := all.Create(ctx, w, metav1.CreateOptions{})
	return err
}

func (c *Cluster) createMutating(ctx context.Context, w *admissionv1.MutatingWebhookConfiguration) error {
	all := c.clientset.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if err := all.Delete(ctx, w.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	_, err := all.Create(ctx, w, metav1.CreateOptions{})
	return err
}

// served is a probe: every webhook has its handler. The server listens a moment before the operators have
// registered theirs, and a 404 in that moment would refuse a job.
func (c *Cluster) served(ctx context.Context, urls []string) error {
	for _, url := range urls {
		status, _, err := c.fetch(ctx, http.MethodPost, url)
		if err != nil {
			return err
		}
		if status == http.StatusNotFound {
			return fmt.Errorf("post to %s: no handler yet", url)
		}
	}
	return nil
}
