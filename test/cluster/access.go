package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// user is somebody the API server knows by a static token. Every program has its own, so that an audit log
// or an admission request tells them apart.
type user struct{ name, groups, token string }

// masters is the group RBAC lets do everything.
const masters = "system:masters"

// admin is the user of tests and of the demo.
const admin = "admin"

func writeTokens(path string) ([]user, error) {
	users := []user{
		{name: admin, groups: masters},
		// The scheduler and the controller manager have roles of their own from the API server.
		{name: "system:kube-scheduler"},
		{name: "system:kube-controller-manager"},
		{name: "kwok", groups: masters},
	}
	for _, o := range operators {
		users = append(users, user{name: o.user(), groups: masters})
	}
	var csv strings.Builder
	for i := range users {
		users[i].token = rand.Text()
		fmt.Fprintf(&csv, "%s,%s,%s,%q\n", users[i].token, users[i].name, users[i].name, users[i].groups)
	}
	return users, os.WriteFile(path, []byte(csv.String()), 0o600)
}

// Config is the administrator's; it does not throttle.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Etcd is its address. It asks for no certificate.
func (c *Cluster) Etcd() string { return c.etcd }

// Clientset is the administrator's.
func (c *Cluster) Clientset() kubernetes.Interface { return c.clientset }

// Kubeconfig is the path of the administrator's kubeconfig file.
func (c *Cluster) Kubeconfig() string { return c.kubeconfigOf(admin) }

// KubeconfigFor gives a ServiceAccount a token and returns the path of its kubeconfig file: what the account
// may do there is what RBAC says.
func (c *Cluster) KubeconfigFor(ctx context.Context, namespace, account string) (string, error) {
	day := int64(24 * 60 * 60)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &day}}
	answer, err := c.clientset.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("request token of %s/%s: %w", namespace, account, err)
	}
	name := namespace + "_" + account
	return c.kubeconfigOf(name), c.writeKubeconfig(name, namespace, answer.Status.Token)
}

// ConfigFor is KubeconfigFor for Go clients.
func (c *Cluster) ConfigFor(ctx context.Context, namespace, account string) (*rest.Config, error) {
	path, err := c.KubeconfigFor(ctx, namespace, account)
	if err != nil {
		return nil, err
	}
	return clientcmd.BuildConfigFromFlags("", path)
}

// Kubectl runs kubectl as the administrator and returns what it printed; its complaints are in the error.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return c.kubectl(ctx, nil, args...)
}

// Apply gives documents in YAML to kubectl apply.
func (c *Cluster) Apply(ctx context.Context, yaml string) error {
	_, err := c.kubectl(ctx, strings.NewReader(yaml), "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}

func (c *Cluster) kubectl(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Program("kubectl"), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig(), "KUBECACHEDIR="+c.path("tmp", "kubectl"))
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("run kubectl %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// Program is the path of one of the programs in bin/controlplane.
func (c *Cluster) Program(name string) string { return filepath.Join(c.bin, name) }

func (c *Cluster) kubeconfigOf(name string) string {
	return c.path("kubeconfig", strings.ReplaceAll(name, ":", "_")+".yaml")
}

// writeKubeconfigs is for after the API server's port is known.
func (c *Cluster) writeKubeconfigs() error {
	for _, u := range c.users {
		if err := c.writeKubeconfig(u.name, "", u.token); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) writeKubeconfig(name, namespace, token string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["signalbox"] = &clientcmdapi.Cluster{Server: c.server, CertificateAuthorityData: c.pki.CA}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["signalbox"] = &clientcmdapi.Context{Cluster: "signalbox", AuthInfo: name, Namespace: namespace}
	config.CurrentContext = "signalbox"
	return clientcmd.WriteToFile(*config, c.kubeconfigOf(name))
}

// programs is the folder with the programs these parts need; the error says which are missing and how to
// get them.
// apiServer is the name of the API server's program: of an older minor version, where SIGNALBOX_TEST_KUBERNETES names
// one ("1.35").
func apiServer() string {
	if older := os.Getenv("SIGNALBOX_TEST_KUBERNETES"); older != "" {
		return "kube-apiserver-" + older
	}
	return "kube-apiserver"
}

func programs(parts Part) (string, error) {
	root, err := repository()
	if err != nil {
		return "", err
	}
	names := []string{"etcd", apiServer(), "kubectl"}
	for _, p := range []struct {
		part Part
		name string
	}{{Scheduler, "kube-scheduler"}, {ControllerManager, "kube-controller-manager"}, {Kwok, "kwok"}} {
		if parts&p.part != 0 {
			names = append(names, p.name)
		}
	}
	for _, o := range operators {
		if parts&o.part != 0 {
			names = append(names, o.name)
		}
	}
	bin := filepath.Join(root, "bin", "controlplane")
	var missing []string
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(bin, name)); err != nil {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("find programs: %s not in %s; run: make controlplane", strings.Join(missing, ", "), bin)
	}
	return bin, nil
}

// repository is the nearest folder upwards that holds test/controlplane. Tests run in their package's
// folder, the demo anywhere below the root.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "test", "controlplane", "etcd", "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("find the repository: no folder upwards holds test/controlplane")
		}
	}
}
