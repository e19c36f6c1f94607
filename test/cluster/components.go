package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// startAPI starts etcd and kube-apiserver and makes the administrator's clients.
func (c *Cluster) startAPI(ctx context.Context) error {
	err := c.run(ctx, "etcd", 2, func(port []int) (launch, error) {
		// TLS tells our etcd from another cluster's: an API server on the wrong one would be hard to explain.
		etcd := fmt.Sprintf("https://127.0.0.1:%d", port[0])
		c.etcd = etcd
		peer := fmt.Sprintf("http://127.0.0.1:%d", port[1])
		return launch{
			args: []string{
				"--data-dir", c.path("etcd"), "--log-level", "warn",
				"--listen-client-urls", etcd, "--advertise-client-urls", etcd,
				"--cert-file", c.pki.file(servingCert), "--key-file", c.pki.file(servingKey),
				"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer,
				"--unsafe-no-fsync", // the data need not survive the machine
			},
			ready: c.answers(etcd + "/health"),
		}, nil
	})
	if err != nil {
		return err
	}
	err = c.run(ctx, "kube-apiserver", 1, func(port []int) (launch, error) {
		c.server = fmt.Sprintf("https://127.0.0.1:%d", port[0])
		if err := c.writeKubeconfigs(); err != nil {
			return launch{}, err
		}
		return launch{program: c.Program(apiServer()), args: c.apiServerArgs(c.etcd, port[0]), ready: c.answers(c.server + "/readyz")}, nil
	})
	if err != nil {
		return err
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig()); err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	c.config.QPS = -1
	c.clientset, err = kubernetes.NewForConfig(c.config)
	return err
}

// apiServerArgs leave the admission plugins at their defaults, so quota, LimitRanger and PodSecurity are real.
func (c *Cluster) apiServerArgs(etcd string, port int) []string {
	return []string{
		"--etcd-servers", etcd, "--etcd-cafile", c.pki.file(caCert),
		"--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", fmt.Sprint(port),
		// The reconciler would write our loopback address into an EndpointSlice, which may not hold one.
		"--endpoint-reconciler-type", "none",
		"--tls-cert-file", c.pki.file(servingCert), "--tls-private-key-file", c.pki.file(servingKey),
		"--client-ca-file", c.pki.file(caCert),
		"--token-auth-file", c.pki.file("tokens.csv"), "--authorization-mode", "RBAC",
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-account-key-file", c.pki.file(accountPub),
		"--service-account-signing-key-file", c.pki.file(accountKey),
		"--service-cluster-ip-range", "10.96.0.0/16",
		"--kubelet-certificate-authority", c.pki.file(caCert), "--kubelet-preferred-address-types", "InternalIP",
		"--allow-privileged", "--profiling=false",
	}
}

func (c *Cluster) startScheduler(ctx context.Context) error {
	return c.run(ctx, "kube-scheduler", 1, func(port []int) (launch, error) {
		return launch{
			args:  c.componentArgs("system:kube-scheduler", port[0]),
			ready: c.answers(fmt.Sprintf("https://127.0.0.1:%d/readyz", port[0])),
		}, nil
	})
}

func (c *Cluster) startControllerManager(ctx context.Context) error {
	return c.run(ctx, "kube-controller-manager", 1, func(port []int) (launch, error) {
		args := append(c.componentArgs("system:kube-controller-manager", port[0]),
			"--use-service-account-credentials",
			"--service-account-private-key-file", c.pki.file(accountKey),
			"--root-ca-file", c.pki.file(caCert),
			"--cluster-signing-cert-file", c.pki.file(caCert), "--cluster-signing-key-file", c.pki.file(caKey),
			"--kube-api-qps", "200", "--kube-api-burst", "400",
		)
		return launch{args: args, ready: c.answers(fmt.Sprintf("https://127.0.0.1:%d/healthz", port[0]))}, nil
	})
}

// componentArgs are common to the scheduler and the controller manager. There is one of each: no election.
func (c *Cluster) componentArgs(user string, port int) []string {
	kubeconfig := c.kubeconfigOf(user)
	return []string{
		"--kubeconfig", kubeconfig, "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(port),
		"--tls-cert-file", c.pki.file(servingCert), "--tls-private-key-file", c.pki.file(servingKey),
		"--leader-elect=false", "--profiling=false",
	}
}

// answers is a probe: the URL gives 200. The administrator's token goes along.
func (c *Cluster) answers(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		status, body, err := c.fetch(ctx, http.MethodGet, url)
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("get %s: status %d: %s", url, status, body)
		}
		return nil
	}
}

func (c *Cluster) fetch(ctx context.Context, method, url string) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.users[0].token)
	response, err := c.http().Do(request)
	if err != nil {
		return 0, nil, err
	}
	body, err = io.ReadAll(response.Body)
	_ = response.Body.Close()
	return response.StatusCode, body, err
}

// http is a client that trusts the cluster's authority and keeps no connection: what it probes may be
// replaced by the next attempt.
func (c *Cluster) http() *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.pki.CA)
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	}}
}

// CreateNamespace returns when pods can be created in the namespace: its default ServiceAccount is there.
func (c *Cluster) CreateNamespace(ctx context.Context, name string, labels map[string]string) error {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	_, err := c.clientset.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return c.ensureServiceAccount(ctx, name)
}

// ensureServiceAccount waits for the controller manager to make the account, or stands in for it.
func (c *Cluster) ensureServiceAccount(ctx context.Context, namespace string) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Patience)
	defer cancel()
	accounts := c.clientset.CoreV1().ServiceAccounts(namespace)
	err := until(ctx, func(ctx context.Context) error {
		if c.has(ControllerManager) {
			_, err := accounts.Get(ctx, "default", metav1.GetOptions{})
			return err
		}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
		_, err := accounts.Create(ctx, account, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("wait for ServiceAccount %s/default: %w", namespace, err)
	}
	return nil
}
