package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// built says what binary this is.
type built struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"` // built from a tree with changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// installed says what the cluster of the kubeconfig runs.
type installed struct {
	Kubernetes string `json:"kubernetes,omitempty"`
	Namespace  string `json:"namespace,omitempty"` // in which Signalbox was asked
	Signalbox  string `json:"signalbox,omitempty"` // the version that answers there; empty: none does
	Unknown    string `json:"unknown,omitempty"`   // why the cluster was not asked
}

func newVersion(sh *shell) *cobra.Command {
	output, kube, client := oneOf("text", "json"), kubeFlags(), false
	c := &cobra.Command{
		Use:   "version",
		Short: "print the version of this program, and what the cluster runs",
		Long: `Version prints this program's version, commit and Go version, and where a kubeconfig names a cluster those
of Kubernetes and of the Signalbox that answers a dry run of a job there.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b, there := build(), (*installed)(nil)
			if !client {
				there = installedIn(c.Context(), kube)
			}
			if output.value == "json" {
				return own(writeJSON(sh.out, struct {
					built
					Cluster *installed `json:"cluster,omitempty"`
				}{b, there}))
			}
			text := b.String() + "\n"
			if there != nil {
				text += there.String() + "\n"
			}
			return own(newPage(sh.out).write(text))
		},
	}
	c.Flags().BoolVar(&client, "client", false, "of this program only; no cluster is asked")
	kube.AddFlags(c.Flags())
	completeCluster(c, kube)
	addChoice(c, output, "output", "o", "output format")
	return c
}

// installedIn asks the cluster what it runs; nil: no kubeconfig names one.
func installedIn(ctx context.Context, kube *genericclioptions.ConfigFlags) *installed {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	live, err := connect(ctx, kube)
	if none, ok := errors.AsType[*noCluster](err); ok && !none.silent {
		return nil
	}
	if err != nil {
		return &installed{Unknown: oneLine(err.Error())}
	}
	out := &installed{Namespace: live.namespace}
	if server, err := live.clients.Discovery().ServerVersion(); err == nil {
		out.Kubernetes = server.GitVersion
	}
	if said := live.dryRun(ctx, probe(live.namespace)); said.record != nil {
		out.Signalbox = cmp.Or(said.record.Version, "of a version that does not say itself")
	}
	return out
}

// String is what the cluster runs in one line.
func (i installed) String() string {
	switch {
	case i.Unknown != "":
		return visibleLine("cluster: unknown; " + i.Unknown)
	case i.Signalbox == "":
		return visibleLine(fmt.Sprintf("cluster: Kubernetes %s; no Signalbox reviews jobs in namespace %s", i.Kubernetes, i.Namespace))
	}
	return visibleLine(fmt.Sprintf("cluster: Kubernetes %s; Signalbox %s reviews jobs in namespace %s", i.Kubernetes, i.Signalbox, i.Namespace))
}

// String is the version in one line.
func (b built) String() string {
	var of []string
	if b.Commit != unknownCommit {
		of = append(of, "commit "+b.Commit)
	}
	if b.Modified {
		of = append(of, "modified")
	}
	return fmt.Sprintf("signalbox %s (%s)", b.Version, strings.Join(append(of, b.Go, b.Platform), ", "))
}

const unknownCommit = "unknown" // built without version control

func build() built {
	b := built{Version: version, Commit: unknownCommit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	from, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range from.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	if b.Version == "" {
		b.Version = from.Main.Version
	}
	return b
}
