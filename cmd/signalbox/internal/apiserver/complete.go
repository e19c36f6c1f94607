package apiserver

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Completion asks the cluster within completesWithin for at most mostCompleted names: a user who presses
// the key is waiting.
const (
	completesWithin = 2 * time.Second
	mostCompleted   = 500
)

// CompleteCluster completes the connection flags.
func CompleteCluster(c *cobra.Command, kube *genericclioptions.ConfigFlags) {
	register := func(flag string, names func(context.Context) []string) {
		_ = c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) { // fails only for a flag that does not exist
			return Beginning(start, names(c.Context())), cobra.ShellCompDirectiveNoFileComp
		})
	}
	register("context", func(context.Context) (out []string) {
		raw, err := kube.ToRawKubeConfigLoader().RawConfig()
		if err != nil {
			return nil
		}
		for name := range raw.Contexts {
			out = append(out, name)
		}
		return out
	})
	register("namespace", func(ctx context.Context) (out []string) {
		ctx, live, stop := connectSoon(ctx, kube)
		defer stop()
		if live == nil {
			return nil
		}
		found, err := live.Clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: mostCompleted})
		if err != nil {
			return nil
		}
		for i := range found.Items {
			out = append(out, found.Items[i].Name)
		}
		return out
	})
}

// CompleteJobs completes KIND/NAME: first the kinds, then the names that the cluster has.
func CompleteJobs(kube *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		word, _, named := strings.Cut(start, "/")
		if !named && len(args) > 0 && KindCalled(args[0]) != nil { // KIND NAME…
			return Beginning(start, NamesOf(c.Context(), kube, KindCalled(args[0]))), cobra.ShellCompDirectiveNoFileComp
		}
		if !named {
			var out []string
			for _, w := range KindWords() {
				out = append(out, w+"/")
			}
			return Beginning(start, out), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}
		k := KindCalled(word)
		if k == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		out := NamesOf(c.Context(), kube, k)
		for i, name := range out {
			out[i] = word + "/" + name
		}
		return Beginning(start, out), cobra.ShellCompDirectiveNoFileComp
	}
}

// NamesOf are the names of the jobs of some kinds that the cluster has in the namespace.
func NamesOf(ctx context.Context, kube *genericclioptions.ConfigFlags, some ...*kinds.Kind) (out []string) {
	ctx, live, stop := connectSoon(ctx, kube)
	defer stop()
	if live == nil {
		return nil
	}
	for _, k := range some {
		for _, gvr := range live.resources(k) {
			found, err := live.Objects.Resource(gvr).Namespace(live.Namespace).List(ctx, metav1.ListOptions{Limit: mostCompleted})
			if err != nil {
				continue
			}
			for i := range found.Items {
				out = append(out, found.Items[i].GetName())
			}
		}
	}
	return out
}

// CompleteKinds completes what get takes beside its subcommand: a kind, or KIND/NAME.
func CompleteKinds(kube *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	jobs := CompleteJobs(kube)
	return func(c *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(start, "/") {
			return jobs(c, args, start)
		}
		return Beginning(start, KindWords()), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFilesOrJobs completes KIND/NAME where that was begun and no file is called so, and else files.
func CompleteFilesOrJobs(kube *genericclioptions.ConfigFlags) cobra.CompletionFunc {
	jobs := CompleteJobs(kube)
	return func(c *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if files, err := filepath.Glob(start + "*"); start == "" || err != nil || len(files) > 0 {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return jobs(c, args, start)
	}
}

// connectSoon is the cluster, or nil where it does not answer at once.
func connectSoon(parent context.Context, kube *genericclioptions.ConfigFlags) (ctx context.Context, live *Cluster, stop func()) {
	ctx, stop = context.WithTimeout(parent, completesWithin)
	live, err := Connect(ctx, kube)
	if err != nil {
		return ctx, nil, stop
	}
	return ctx, live, stop
}

// Beginning are the names that begin with a text, sorted.
func Beginning(start string, names []string) []string {
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, start) })
	slices.Sort(names)
	return slices.Compact(names)
}
