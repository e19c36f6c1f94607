package main

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

// worldFlags say where a review learns about the cluster and the policies.
type worldFlags struct {
	snapshot []string
	offline  bool
	server   bool             // ask the API server about the job and its pods
	ask      *shell.Choice    // whether Signalbox in the cluster is asked instead of listing; nil: never
	names    bool             // the answer needs the names of nodes and pods
	fix      bool             // exact remedies are looked for
	cures    bool             // and for each finding by itself, because the format has a place for it
	require  bool             // an answer without a cluster is none
	disable  []string         // checks that are not wanted this time
	selected []string         // the only checks that are wanted this time; empty: all
	settings string           // file of the configuration; only what it says of checks counts
	folders  []string         // of policies
	enforce  bool             // policies deny, whatever the namespaces say
	sources  []fs.FS          // what is in them, once open
	only     bool             // no others are asked
	printed  io.Writer        // takes what they print; nil: nobody does
	asked    int              // how many policies there are, once open
	unset    []policies.Unset // that say nothing, because nothing sets what they read
	kube     *genericclioptions.ConfigFlags
}

// newWorldFlags are flags of no command yet.
func newWorldFlags() *worldFlags { return &worldFlags{kube: apiserver.Flags()} }

// connection is the cluster that arguments may name jobs of; nil where none is asked.
func (f *worldFlags) connection() *genericclioptions.ConfigFlags {
	if f.offline || len(f.snapshot) > 0 {
		return nil
	}
	return f.kube
}

// policiesOnly says of --policy what holds for the commands about policies: they ask no others.
func (f *worldFlags) policiesOnly(c *cobra.Command) {
	c.Flags().Lookup("policy").Usage = "`folder` of policies (*.rego and data) to ask, and no others; repeatable"
	// --as says who asks, not who reads: the webhook reads the cluster by its own rights, whoever asks.
	f.only = true
	f.kube.WrapConfigFn = func(c *rest.Config) *rest.Config {
		c = rest.CopyConfig(c)
		c.Impersonate = rest.ImpersonationConfig{}
		return c
	}
}

// asker is who asks by the flags, as the API server knows it; empty: the flags do not say.
func (f *worldFlags) asker(ctx context.Context, c *apiserver.Cluster) (user string, groups []string) {
	if user, groups = *f.kube.Impersonate, *f.kube.ImpersonateGroup; user == "" || c == nil {
		return user, groups
	}
	return c.Called(ctx, user, groups)
}

// add adds the flags that say what is known of a cluster, and how checks are tuned.
func (f *worldFlags) add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.snapshot, "snapshot", nil, "cluster view from a `file` or folder of Kubernetes objects (see: snapshot); repeatable")
	c.Flags().BoolVar(&f.offline, "offline", false, "do not ask a cluster, even if a kubeconfig names one")
	c.Flags().StringArrayVar(&f.folders, "policy", nil, "`folder` of policies (*.rego and data) to ask besides the built-in ones; repeatable")
	c.Flags().StringVar(&f.settings, "config", "", "`file` with settings, as serve takes it: how checks are tuned; without it the defaults hold")
	f.kube.AddFlags(c.Flags())
	apiserver.CompleteCluster(c, f.kube)
}

// addEnforce adds --enforce, and --mode enforce as policy check has it.
func (f *worldFlags) addEnforce(c *cobra.Command) {
	c.Flags().BoolVar(&f.enforce, "enforce", false, "as if every namespace enforced its policies")
	mode := shell.OneOf("", "enforce")
	c.Flags().Var(mode, "mode", "as policy check has it: enforce is --enforce")
	shell.Hide(c, "mode")
	c.PreRun = func(*cobra.Command, []string) { f.enforce = f.enforce || mode.Value == "enforce" }
}

// addFix adds --fix.
func (f *worldFlags) addFix(c *cobra.Command) {
	c.Flags().BoolVar(&f.fix, "fix", false, "print exact remedies as a diff, as fixes in SARIF, or as kubectl patch for standard input: each was reviewed; nothing is written")
}

// fixable says why a format cannot hold remedies.
func (f *worldFlags) fixable(format string) error {
	if f.fix && format != "text" && format != "sarif" {
		return shell.Usagef("--fix prints a diff after the text, or fixes in SARIF, and -o is %s; expected text or sarif", format)
	}
	return nil
}

// asking says in which namespace somebody asks, for policies that look at that.
type asking struct {
	mode   string
	labels map[string]string
	input  bool
	why    bool // how each rule came to its answer
}

// fill makes a request as if it were sent to this namespace.
func (a *asking) fill(req *preflight.Request) {
	req.Supposed = req.Namespace == nil && len(a.labels) == 0
	labels := map[string]string{}
	maps.Copy(labels, req.Namespace)
	maps.Copy(labels, a.labels)
	labels[preflight.ModeLabel] = a.mode
	req.Namespace = labels
}
