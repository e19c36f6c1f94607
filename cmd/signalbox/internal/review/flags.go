package review

import (
	"context"
	"io"
	"io/fs"
	"maps"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
)

// Flags say where a review learns about the cluster and the policies.
type Flags struct {
	Snapshot []string
	offline  bool
	Server   bool             // ask the API server about the job and its pods
	ask      *shell.Choice    // whether Signalbox in the cluster is asked instead of listing; nil: never
	Names    bool             // the answer needs the names of nodes and pods
	Fix      bool             // exact remedies are looked for
	Cures    bool             // and for each finding by itself, because the format has a place for it
	Require  bool             // an answer without a cluster is none
	Disable  []string         // checks that are not wanted this time
	Selected []string         // the only checks that are wanted this time; empty: all
	settings string           // file of the configuration; only what it says of checks counts
	Folders  []string         // of policies
	Enforce  bool             // policies deny, whatever the namespaces say
	sources  []fs.FS          // what is in them, once open
	Only     bool             // no others are asked
	Printed  io.Writer        // takes what they print; nil: it is dropped
	Asked    int              // how many policies there are, once open
	Unset    []policies.Unset // that say nothing, because nothing sets what they read
	Kube     *genericclioptions.ConfigFlags
}

// NewFlags are flags of no command yet.
func NewFlags() *Flags { return &Flags{Kube: apiserver.Flags()} }

// Connection is the cluster that arguments may name jobs of; nil where none is asked.
func (f *Flags) Connection() *genericclioptions.ConfigFlags {
	if f.offline || len(f.Snapshot) > 0 {
		return nil
	}
	return f.Kube
}

// PoliciesOnly says of --policy what holds for the commands about policies: they ask no others.
func (f *Flags) PoliciesOnly(c *cobra.Command) {
	c.Flags().Lookup("policy").Usage = "`folder` of policies (*.rego and data) to ask, and no others; repeatable"
	// --as says who asks, not who reads: the webhook reads the cluster by its own rights, whoever asks.
	f.Only = true
	f.Kube.WrapConfigFn = func(c *rest.Config) *rest.Config {
		c = rest.CopyConfig(c)
		c.Impersonate = rest.ImpersonationConfig{}
		return c
	}
}

// Asker is who asks by the flags, as the API server knows it; empty: the flags do not say.
func (f *Flags) Asker(ctx context.Context, c *apiserver.Cluster) (user string, groups []string) {
	if user, groups = *f.Kube.Impersonate, *f.Kube.ImpersonateGroup; user == "" || c == nil {
		return user, groups
	}
	return c.Called(ctx, user, groups)
}

// Add adds the flags that say what is known of a cluster, and how checks are tuned.
func (f *Flags) Add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.Snapshot, "snapshot", nil, "cluster view from a `file` or folder of Kubernetes objects (see: snapshot); repeatable")
	c.Flags().BoolVar(&f.offline, "offline", false, "do not ask a cluster, even if a kubeconfig names one")
	c.Flags().StringArrayVar(&f.Folders, "policy", nil, "`folder` of policies (*.rego and data) to ask besides the built-in ones; repeatable")
	c.Flags().StringVar(&f.settings, "config", "", "`file` with settings, as serve takes it: how checks are tuned; without it the defaults hold")
	f.Kube.AddFlags(c.Flags())
	apiserver.CompleteCluster(c, f.Kube)
}

// AddEnforce adds --enforce, and --mode enforce as policy check has it.
func (f *Flags) AddEnforce(c *cobra.Command) {
	c.Flags().BoolVar(&f.Enforce, "enforce", false, "as if every namespace enforced its policies")
	mode := shell.OneOf("", "enforce")
	c.Flags().Var(mode, "mode", "as policy check has it: enforce is --enforce")
	shell.Hide(c, "mode")
	c.PreRun = func(*cobra.Command, []string) { f.Enforce = f.Enforce || mode.Value == "enforce" }
}

// AddFix adds --fix.
func (f *Flags) AddFix(c *cobra.Command) {
	c.Flags().BoolVar(&f.Fix, "fix", false, "print exact remedies as a diff, as fixes in SARIF, or as kubectl patch for standard input: each was reviewed; nothing is written")
}

// Fixable says why a format cannot hold remedies.
func (f *Flags) Fixable(format string) error {
	if f.Fix && format != "text" && format != "sarif" {
		return shell.Usagef("--fix prints a diff after the text, or fixes in SARIF, and -o is %s; expected text or sarif", format)
	}
	return nil
}

// Asking says in which namespace somebody asks, for policies that look at that.
type Asking struct {
	Mode   string
	Labels map[string]string
	Input  bool
	Why    bool // how each rule came to its answer
}

// fill makes a request as if it were sent to this namespace.
func (a *Asking) fill(req *preflight.Request) {
	req.Supposed = req.Namespace == nil && len(a.Labels) == 0
	labels := map[string]string{}
	maps.Copy(labels, req.Namespace)
	maps.Copy(labels, a.Labels)
	labels[preflight.ModeLabel] = a.Mode
	req.Namespace = labels
}
