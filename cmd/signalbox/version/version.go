// Package version is the command version: of this program, and of what the cluster runs.
package version

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// installed says what the cluster of the kubeconfig runs.
type installed struct {
	Kubernetes string `json:"kubernetes,omitempty"`
	Namespace  string `json:"namespace,omitempty"` // in which Signalbox was asked
	Signalbox  string `json:"signalbox,omitempty"` // the version that answers there; empty: none does
	Unknown    string `json:"unknown,omitempty"`   // why the cluster was not asked
}

// New is the command version.
func New(sh *shell.Shell) *cobra.Command {
	output, kube, client := shell.OneOf("text", "json"), apiserver.Flags(), false
	c := &cobra.Command{
		Use:     "version",
		Short:   "print the version of this program, and what the cluster runs",
		Example: fmt.Sprintf("  %[1]s version\n  %[1]s version --client -o json", sh.Name),
		Long: `Version prints this program's version, commit and Go version, and where a kubeconfig names a cluster those
of Kubernetes and of the Signalbox that answers a dry run of a job there.`,
		Args: shell.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b, there := build.Read(), (*installed)(nil)
			if !client {
				there = installedIn(c.Context(), kube)
			}
			if output.Value == "json" {
				return shell.Own(shell.WriteJSON(sh.Out, struct {
					build.Info
					Cluster *installed `json:"cluster,omitempty"`
				}{b, there}))
			}
			text := b.String() + "\n"
			if there != nil {
				text += there.String() + "\n"
			}
			return shell.Own(terminal.NewPage(sh.Out).Write(text))
		},
	}
	c.Flags().BoolVar(&client, "client", false, "of this program only; no cluster is asked")
	kube.AddFlags(c.Flags())
	apiserver.CompleteCluster(c, kube)
	shell.AddChoice(c, output, "output", "o", "output format")
	return c
}

// installedIn asks the cluster what it runs; nil: no kubeconfig names one.
func installedIn(ctx context.Context, kube *genericclioptions.ConfigFlags) *installed {
	ctx, cancel := context.WithTimeout(ctx, apiserver.AnswersWithin)
	defer cancel()
	live, err := apiserver.Connect(ctx, kube)
	if none, ok := errors.AsType[*apiserver.NoCluster](err); ok && !none.Silent {
		return nil
	}
	if err != nil {
		return &installed{Unknown: terminal.OneLine(err.Error())}
	}
	out := &installed{Namespace: live.Namespace}
	if server, err := live.Clients.Discovery().ServerVersion(); err == nil {
		out.Kubernetes = server.GitVersion
	}
	if said := dryrun.Of(ctx, live, dryrun.Probe(live.Namespace)); said.Record != nil {
		out.Signalbox = cmp.Or(said.Record.Version, "of a version that does not say itself")
	}
	return out
}

// String is what the cluster runs in one line.
func (i installed) String() string {
	switch {
	case i.Unknown != "":
		return words.VisibleLine("cluster: unknown; " + i.Unknown)
	case i.Signalbox == "":
		return words.VisibleLine(fmt.Sprintf("cluster: Kubernetes %s; no Signalbox reviews jobs in namespace %s", i.Kubernetes, i.Namespace))
	}
	return words.VisibleLine(fmt.Sprintf("cluster: Kubernetes %s; Signalbox %s reviews jobs in namespace %s", i.Kubernetes, i.Signalbox, i.Namespace))
}
