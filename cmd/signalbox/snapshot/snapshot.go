// Package snapshot is the command snapshot, which saves what check, fit and others know of a cluster as one file, under
// pseudonyms where that is wanted.
package snapshot

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	phrase "github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
)

// New is the command snapshot.
func New(sh *shell.Shell) *cobra.Command {
	var to, salt string
	var pseudonyms, plain, jobs bool
	kube := apiserver.Flags()
	c := &cobra.Command{
		Use:   "snapshot -o FILE",
		Short: "save the cluster view that check and fit need",
		Long: `Snapshot saves what check and fit look at: nodes, the resources that pods take, claims,
quotas, classes, runtimes and queues. No environment, no commands, no images, no secrets;
of the annotations only those that say who adds nodes and which pods belong to a node. Only
of training runtimes, which complete jobs, the templates are kept, with secrets masked.
The file is a Kubernetes List with one object on each line, YAML or JSON by its suffix,
compressed if that ends in .gz. Of a kind of which there are a thousand and more, what the
objects share is written once, and then one line for each of them; --plain writes all in full.

With --jobs the training jobs are kept, too, whole but for secrets, which are masked: for audit
and get jobs, which review and list what a snapshot holds.

With --pseudonymise names are replaced, and what labels say: each by the same word wherever
it stands, so that who belongs to whom, and who keeps away from whom, stays. Another run uses
other words, unless --salt is given. What stays: names of classes, cluster queues, flavors,
node pools and cluster runtimes and the labels and taints of nodes, because jobs refer to
them; numbers; amounts. What a job names in its own namespace (claims, accounts, local
queues, quotas) is unknown in such a snapshot.`,
		Example: fmt.Sprintf("  %[1]s snapshot -o cluster.yaml.gz\n  %[1]s snapshot -o cluster.json.gz --pseudonymise\n  %[1]s check -f job.yaml --snapshot cluster.yaml.gz\n  %[1]s snapshot --jobs -o cluster.yaml.gz && %[1]s audit --snapshot cluster.yaml.gz", sh.Name),
		Args:    shell.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if to == "" {
				return shell.Usagef("no file to write; expected -o FILE.yaml, FILE.json, either with .gz, or -o -")
			}
			if salt != "" && !pseudonyms {
				return shell.Usagef("--salt is for pseudonyms; expected --pseudonymise beside it")
			}
			if jobs && pseudonyms {
				return shell.Usagef("--jobs keeps jobs as they are written, with every name; expected one of them: --pseudonymise for a cluster without names, --jobs for one with its jobs")
			}
			view, skipped, err := takeView(c.Context(), sh, kube, jobs)
			if err != nil {
				return shell.Own(err)
			}
			if len(view.Objects) == 0 { // a reader of such a file takes the cluster for empty
				return &shell.Exit{Code: shell.ExitUsage, Cause: fmt.Errorf("nothing of the cluster could be listed, and no file is written: %s; expected a user who may list nodes and pods", strings.Join(byReason(skipped), "; "))}
			}
			if pseudonyms {
				disguise(&view, cmp.Or(salt, rand.Text()))
			}
			if err := saveView(sh.Out, to, plain, view); err != nil {
				return shell.Own(fmt.Errorf("write snapshot: %w", err))
			}
			sh.Tell("%s: %s", to, contents(view))
			for _, unseen := range byReason(skipped) {
				sh.Tell("note: %s", unseen)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "`file` to write; - is standard output")
	c.Flags().BoolVar(&pseudonyms, "pseudonymise", false, "replace names and what labels say, but for what jobs refer to")
	c.Flags().BoolVar(&pseudonyms, "pseudonyms", false, "replace names")
	_ = c.Flags().MarkDeprecated("pseudonyms", "its name is --pseudonymise") // fails only for a flag that does not exist
	c.Flags().BoolVar(&jobs, "jobs", false, "keep the training jobs, too, with secrets masked")
	c.Flags().BoolVar(&plain, "plain", false, "write every object in full, however many there are")
	c.Flags().StringVar(&salt, "salt", "", "the same `text` gives the same pseudonyms; whoever knows it can test guesses")
	kube.AddFlags(c.Flags())
	return c
}

// byReason is what was not read, a text for each reason: "nodes, pods: may not be listed".
func byReason(skipped []preflight.Skip) (texts []string) {
	unseen := map[string][]string{}
	for _, s := range skipped {
		unseen[s.Reason] = append(unseen[s.Reason], s.Check)
	}
	for _, reason := range slices.Sorted(maps.Keys(unseen)) {
		texts = append(texts, strings.Join(unseen[reason], ", ")+": "+reason)
	}
	return texts
}

// takeView reads the cluster of the kubeconfig, and its jobs where they are wanted.
func takeView(ctx context.Context, sh *shell.Shell, kube *genericclioptions.ConfigFlags, jobs bool) (manifest.View, []preflight.Skip, error) {
	live, err := apiserver.Connect(ctx, kube)
	if none, ok := errors.AsType[*apiserver.NoCluster](err); ok {
		return manifest.View{}, nil, shell.Usagef("%s; expected a kubeconfig whose cluster answers", none.Why)
	}
	if err != nil {
		return manifest.View{}, nil, err
	}
	p := sh.Progress()
	defer p.Done()
	view, skipped, err := live.Gather(ctx, sh.Now(), p)
	if err != nil || !jobs {
		return view, skipped, err
	}
	missing, err := live.EachPage(ctx, metav1.NamespaceAll, "", apiserver.AnyKind, func(_ *kinds.Kind, _ schema.GroupVersionResource, page *unstructured.UnstructuredList) {
		for i := range page.Items {
			if o := &page.Items[i]; !apiserver.IsPart(o) {
				view.Objects = append(view.Objects, collect.Scrubbed(o))
			}
		}
	})
	for _, note := range missing.Notes(metav1.NamespaceAll) {
		skipped = append(skipped, preflight.Skip{Check: "jobs", Reason: note})
	}
	return view, skipped, err
}

// contents is "4 Nodes, 12 Pods, …" in the order of the file.
func contents(v manifest.View) string {
	var order []string
	n := map[string]int{}
	for _, o := range v.Objects {
		if n[o.GetKind()] == 0 {
			order = append(order, o.GetKind())
		}
		n[o.GetKind()]++
	}
	for i, kind := range order {
		order[i] = phrase.Count(n[kind], kind, plural(kind))
	}
	if len(order) == 0 {
		return "no objects"
	}
	return strings.Join(order, ", ")
}

// plural is a kind of which there are several: NetworkPolicies, PriorityClasses.
func plural(kind string) string {
	switch {
	case strings.HasSuffix(kind, "y"):
		return strings.TrimSuffix(kind, "y") + "ies"
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	}
	return kind + "s"
}

// saveView writes a view to a file, whole or not at all.
func saveView(out io.Writer, to string, plain bool, v manifest.View) error {
	name := strings.TrimSuffix(to, ".gz")
	form := manifest.Form{JSON: filepath.Ext(name) == ".json", Plain: plain}
	if to == "-" {
		return v.Write(out, form)
	}
	return shell.SaveFile(to, func(w io.Writer) error {
		if name == to {
			return v.Write(w, form)
		}
		zip := gzip.NewWriter(w)
		if err := v.Write(zip, form); err != nil {
			return err
		}
		return zip.Close()
	})
}
