// Package apiserver is the cluster behind a kubeconfig, asked with the rights of its user: what it serves, what check and fit
// look at, the jobs of all kinds, the one that an argument names, and what completion offers. What may not be read stays unknown
// and is said. Start reading at Connect.
package apiserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/cluster/live"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/webhook"
)

// Cluster is a live cluster, read with the user's own rights.
type Cluster struct {
	Config    *rest.Config
	Objects   dynamic.Interface
	Clients   kubernetes.Interface
	Served    map[string][]string // group: versions, preferred first
	named     bool                // the user named it
	Context   string              // of the kubeconfig
	Namespace string
	User      string
	Groups    []string
	ForOthers bool // what is read is shown to others: on the job, or in a browser
}

// NoCluster says why there is no cluster to ask; it is not an error where none is needed.
type NoCluster struct {
	Why    string
	Silent bool // a cluster was meant, and it does not answer or cannot be found
}

func (n *NoCluster) Error() string { return n.Why }

// AnswersWithin is how long a cluster that nobody named expressly may take to say hello.
const AnswersWithin = 5 * time.Second

// Connect reaches the cluster of the kubeconfig. A cluster that does not answer is a *NoCluster, whether a flag
// or the environment names its kubeconfig.
func Connect(ctx context.Context, flags *genericclioptions.ConfigFlags) (*Cluster, error) {
	c, err := Dial(flags)
	if err != nil {
		return nil, err
	}
	if err := c.Greet(ctx); err != nil {
		return nil, c.Unreached(err)
	}
	return c, nil
}

// Configured is the kubeconfig of the flags. Where neither it nor a pod's service account names a cluster, the error is a
// *NoCluster: client-go would take localhost:8080 for one.
func Configured(flags *genericclioptions.ConfigFlags) (raw clientcmdapi.Config, named bool, err error) {
	named = *flags.KubeConfig != "" || *flags.Context != "" || *flags.ClusterName != ""
	if raw, err = flags.ToRawKubeConfigLoader().RawConfig(); err != nil {
		return raw, named, shell.Usagef("read kubeconfig: %w", err)
	}
	if len(raw.Clusters) == 0 && !named {
		if _, err := rest.InClusterConfig(); err != nil {
			return raw, named, noKubeconfig()
		}
	}
	return raw, named, nil
}

// Dial is the cluster of the kubeconfig before anything is asked of it.
func Dial(flags *genericclioptions.ConfigFlags) (*Cluster, error) {
	raw, named, err := Configured(flags)
	if err != nil {
		return nil, err
	}
	if len(raw.Clusters) > 0 && raw.CurrentContext == "" && !named {
		return nil, &NoCluster{Why: "the kubeconfig has no current context"}
	}
	if name := *flags.Context; name != "" && raw.Contexts[name] == nil && len(raw.Contexts) > 0 {
		return nil, shell.Usagef("read kubeconfig: context %q does not exist; expected %s", name, terminal.OrList(slices.Sorted(maps.Keys(raw.Contexts))))
	}
	config, err := flags.ToRESTConfig()
	if err != nil {
		return nil, shell.Usagef("read kubeconfig: %w", err)
	}
	// A limit of requests a second makes reading the logs of a thousand pods crawl. The API server
	// protects itself (priority and fairness), and what runs at the same time is bounded here.
	config.QPS = -1
	config.UserAgent = "signalbox/" + build.Read().Version
	config.Wrap(newBoundedTransport)
	c := &Cluster{Config: config, named: named, Context: cmp.Or(*flags.Context, raw.CurrentContext), Served: map[string][]string{"": {"v1"}}}
	if c.Namespace, _, err = flags.ToRawKubeConfigLoader().Namespace(); err != nil || c.Namespace == "" {
		c.Namespace = "default"
	}
	if c.Objects, err = dynamic.NewForConfig(c.Config); err != nil {
		return nil, err
	}
	c.Clients, err = kubernetes.NewForConfig(c.Config)
	return c, err
}

// Unreached is the error where the cluster does not answer.
func (c *Cluster) Unreached(err error) error {
	if request, ok := errors.AsType[*url.Error](err); ok {
		err = request.Err // which says all that a user can act on
	}
	if c.named && serverAnswered(err) { // and refuses
		return fmt.Errorf("reach the cluster of context %q: %w", c.Context, err)
	}
	return &NoCluster{Why: fmt.Sprintf("the cluster of context %q does not answer: %s", c.Context, terminal.OneLine(err.Error())), Silent: true}
}

// noKubeconfig says where a kubeconfig was looked for. A file that is named and does not exist was to lead to a cluster;
// one without a cluster, such as /dev/null, was not.
func noKubeconfig() *NoCluster {
	named := os.Getenv("KUBECONFIG")
	if named == "" {
		return &NoCluster{Why: "there is no kubeconfig"}
	}
	for _, file := range filepath.SplitList(named) {
		if _, err := os.Stat(file); err == nil {
			return &NoCluster{Why: "KUBECONFIG names " + named + ", which names no cluster"}
		}
	}
	return &NoCluster{Why: "KUBECONFIG names " + named + ", which does not exist", Silent: true}
}

// Greet learns what the cluster serves and who we are there.
func (c *Cluster) Greet(ctx context.Context) error {
	quick := rest.CopyConfig(c.Config)
	quick.Timeout = AnswersWithin
	hello, err := discovery.NewDiscoveryClientForConfig(quick)
	if err != nil {
		return err
	}
	groups, err := hello.ServerGroups()
	if err != nil {
		return err
	}
	c.Served = map[string][]string{"": {"v1"}}
	for _, g := range groups.Groups {
		c.Served[g.Name] = []string{g.PreferredVersion.Version}
		for _, v := range g.Versions {
			if v.Version != g.PreferredVersion.Version {
				c.Served[g.Name] = append(c.Served[g.Name], v.Version)
			}
		}
	}
	// Our own user name matters to policies only; a cluster that does not tell it is no obstacle.
	if who, err := c.Clients.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{}); err == nil {
		c.User, c.Groups = who.Status.UserInfo.Username, who.Status.UserInfo.Groups
	}
	return nil
}

// Called is a user as the API server knows it, with the groups that it adds. Where it does not tell, they are those of everybody who has a name.
func (c *Cluster) Called(ctx context.Context, user string, groups []string) (string, []string) {
	as := rest.CopyConfig(c.Config)
	as.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	if clients, err := kubernetes.NewForConfig(as); err == nil {
		who, err := clients.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err == nil {
			return who.Status.UserInfo.Username, who.Status.UserInfo.Groups
		}
	}
	return user, append(slices.Clone(groups), "system:authenticated")
}

// Look lists what check and fit look at, pods as a snapshot keeps them: a large cluster has more of
// them than a shell should hold as objects.
func (c *Cluster) Look(ctx context.Context, now time.Time, p *shell.Progress) (manifest.View, []preflight.Skip, error) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(20) // what is read is a multiple of what is kept
	}
	clients, err := live.Connect(c.Config)
	if err != nil {
		return manifest.View{}, nil, err
	}
	return c.read(ctx, now, p, clients.Kube)
}

// Gather is look with all objects as such, for a caller that writes them down.
func (c *Cluster) Gather(ctx context.Context, now time.Time, p *shell.Progress) (manifest.View, []preflight.Skip, error) {
	return c.read(ctx, now, p, nil)
}

// read lists what check and fit look at. What may not be read is left unknown and said. Of pods only
// what counts is kept where they are listed so.
func (c *Cluster) read(ctx context.Context, now time.Time, p *shell.Progress, pods kubernetes.Interface) (manifest.View, []preflight.Skip, error) {
	v := manifest.View{Taken: now.UTC().Truncate(time.Second)}
	var skipped []preflight.Skip
	for _, r := range viewed() {
		if _, group := c.Served[r.Group]; !group { // a group that is there and does not answer is still listed
			v.Unserved = append(v.Unserved, r.GroupResource)
			continue
		}
		p.Step("reading %s …", r.Resource)
		var objects []*unstructured.Unstructured
		var held []*cluster.Held
		var whole bool
		var err error
		if pods != nil && r.GroupResource == (schema.GroupResource{Resource: "pods"}) {
			v.Pods, err = live.Pods(ctx, pods)
			whole = err == nil
		} else {
			objects, held, whole, err = c.list(ctx, r, pods != nil)
		}
		switch {
		case apierrors.IsForbidden(err):
			skipped = append(skipped, preflight.Skip{Check: r.String(), Reason: "you may not list them, so they are unknown; to ask for: list on them in all namespaces"})
		case err != nil && r.Group != "" && serverAnswered(err):
			// The webhook that converts a CRD is down, say: the rest can still be looked at.
			skipped = append(skipped, preflight.Skip{Check: r.String(), Reason: "the API server does not list them, so they are unknown: " + ServerSays(err)})
		case err != nil:
			return v, nil, fmt.Errorf("list %s: %w", r.Resource, err)
		case whole:
			v.Complete = append(v.Complete, r.GroupResource)
		}
		v.Objects, v.Held = append(v.Objects, objects...), append(v.Held, held...)
	}
	for _, m := range []struct{ namespace, name string }{autoscalerStatus, {cluster.ShapesNamespace, cluster.ShapesName}} {
		if o := c.configMap(ctx, m.namespace, m.name); o != nil {
			v.Objects = append(v.Objects, Trim(o))
		}
	}
	return v, skipped, ctx.Err()
}

// autoscalerStatus is the ConfigMap by which the cluster-autoscaler shows itself.
var autoscalerStatus = struct{ namespace, name string }{"kube-system", "cluster-autoscaler-status"}

// configMap is one ConfigMap that says something about the cluster; nil where there is none, or it may not be read.
func (c *Cluster) configMap(ctx context.Context, namespace, name string) *unstructured.Unstructured {
	o, err := c.Objects.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return o
}

// list is all objects of a resource, trimmed, or packed where there may be many of them; whole is false where the cluster does
// not serve it. (As in the webhook's view, what is not served is unknown, not absent.)
func (c *Cluster) list(ctx context.Context, r resource, pack bool) (out []*unstructured.Unstructured, held []*cluster.Held, whole bool, err error) {
	version := r.version(c.Served[r.Group])
	if version == "" {
		return nil, nil, false, nil
	}
	from := c.Objects.Resource(r.WithVersion(version))
	for next := ""; ; {
		page, err := from.List(ctx, metav1.ListOptions{Limit: 500, Continue: next})
		switch {
		case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err):
			return nil, nil, false, nil
		case apierrors.IsResourceExpired(err) && next != "":
			out, held, next = nil, nil, "" // the listing took longer than the server remembers
			continue
		case err != nil:
			return nil, nil, false, err
		}
		for i := range page.Items {
			o := Trim(&page.Items[i])
			if pack && cluster.Many(o.GroupVersionKind().GroupKind()) {
				held = append(held, cluster.Hold(o))
			} else {
				out = append(out, o)
			}
		}
		if next = page.GetContinue(); next == "" {
			sortObjects(out)
			return out, held, true, nil
		}
	}
}

// Job is the stored job of the same name; nil where there is none, or it may not be read.
func (c *Cluster) Job(ctx context.Context, o *unstructured.Unstructured) *unstructured.Unstructured {
	k := kinds.For(o.GroupVersionKind())
	if k == nil || o.GetName() == "" {
		return nil
	}
	gvr := o.GroupVersionKind().GroupVersion().WithResource(k.Resource)
	stored, err := c.Objects.Resource(gvr).Namespace(o.GetNamespace()).Get(ctx, o.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil
	}
	return stored
}

// OwnNamespace and PolicyLabel say where the webhook finds its policies; both names are promises.
const (
	OwnNamespace = webhook.Namespace
	PolicyLabel  = webhook.PolicyLabel + "=true"
)

// Policies are the files in the cluster's ConfigMaps; why says why they may not be read.
func (c *Cluster) Policies(ctx context.Context) (fsys fs.FS, why string, err error) {
	found, err := c.Clients.CoreV1().ConfigMaps(OwnNamespace).List(ctx, metav1.ListOptions{LabelSelector: PolicyLabel})
	switch {
	case apierrors.IsForbidden(err):
		return nil, "you may not read ConfigMaps in " + OwnNamespace + ", where the cluster's policies are; to ask for: list on configmaps there", nil
	case err != nil:
		return nil, "", fmt.Errorf("list policies: %w", err)
	}
	fsys, err = FilesOf(found.Items)
	return fsys, "", err
}

// FilesOf are the keys of ConfigMaps as files, in a folder for each.
func FilesOf(all []corev1.ConfigMap) (fs.FS, error) {
	var files txtar.Archive
	for _, m := range all {
		for _, key := range slices.Sorted(maps.Keys(m.Data)) {
			files.Files = append(files.Files, txtar.File{Name: path.Join(m.Name, key), Data: []byte(m.Data[key])})
		}
	}
	return txtar.FS(&files)
}

// resource is something a view holds, with the versions we can read, best first.
type resource struct {
	schema.GroupResource
	versions []string
}

func (r resource) version(served []string) string {
	for _, v := range r.versions {
		if slices.Contains(served, v) {
			return v
		}
	}
	return ""
}

func (r resource) String() string { return strings.TrimSuffix(r.GroupResource.String(), ".") }

// sortObjects brings the objects of one resource into the order of their names.
func sortObjects(objects []*unstructured.Unstructured) {
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		if c := strings.Compare(a.GetNamespace(), b.GetNamespace()); c != 0 {
			return c
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
}
