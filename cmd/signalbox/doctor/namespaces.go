package doctor

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// namespacesSchema names the JSON of list namespaces.
const namespacesSchema = "signalbox.dev/namespaces/v1"

// namespaceRow is what policies may do in one namespace.
type namespaceRow struct {
	Name     string `json:"name"`
	Mode     string `json:"mode"`            // off, warn or enforce
	Label    string `json:"label,omitempty"` // as it is written; empty: it is not
	Reviewed bool   `json:"reviewed"`        // jobs get to the webhook
	LeftOut  bool   `json:"leftOut,omitempty"`
}

// why says where the mode comes from.
func (r namespaceRow) why() string {
	switch {
	case r.LeftOut:
		return "left out by the webhook's namespaceSelector or webhook.exclude"
	case r.Label == "":
		return "the default"
	case r.Label != r.Mode:
		return fmt.Sprintf("%s=%s is none of off, warn, enforce", preflight.ModeLabel, r.Label)
	}
	return preflight.ModeLabel
}

// NewNamespaces lists the namespaces of a cluster, not of the reference: it is looked for beside the other lists.
func NewNamespaces(sh *shell.Shell) *cobra.Command {
	kube, output := apiserver.Flags(), shell.OneOf("text", "json", "yaml")
	c := &cobra.Command{
		Use: "namespaces", Short: "list the namespaces of the cluster of the kubeconfig with their mode: off, warn or enforce",
		Aliases: []string{"namespace", "ns"},
		Example: fmt.Sprintf("  %s list namespaces", sh.Name),
		Args:    shell.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			live, err := apiserver.Reach(c.Context(), kube, "")
			if err != nil {
				return shell.Own(err)
			}
			rows, err := namespaceRows(c.Context(), sh, live.Clients)
			if err != nil {
				return shell.Own(err)
			}
			return shell.Own(renderNamespaces(sh, output.Value, rows))
		},
	}
	kube.AddFlags(c.Flags())
	apiserver.CompleteCluster(c, kube)
	shell.AddChoice(c, output, "output", "o", "output format")
	return c
}

// namespaceRows reads the modes, and which namespaces the webhook is not asked about, where that may be read.
func namespaceRows(ctx context.Context, sh *shell.Shell, kube kubernetes.Interface) ([]namespaceRow, error) {
	all, err := kube.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	d := &doctor{kube: kube}
	hook, unread := d.configuration(ctx, &examination{})
	switch {
	case unread != nil:
		sh.Tell("note: which namespaces the webhook leaves out is not known: %s", apiserver.ServerSays(unread))
	case hook == nil:
		sh.Tell("note: the cluster has no webhook of Signalbox, so no job is reviewed")
	}
	rows := make([]namespaceRow, 0, len(all.Items))
	for i := range all.Items {
		n := &all.Items[i]
		r := namespaceRow{Name: n.Name, Mode: preflight.ModeOf(n.Labels), Label: n.Labels[preflight.ModeLabel]}
		r.Reviewed = r.Mode != preflight.ModeOff && (hook != nil || unread != nil)
		rows = append(rows, r)
	}
	if hook == nil {
		return rows, nil
	}
	in, err := d.chosenBy(ctx, hook)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].LeftOut = rows[i].Reviewed && !in(&all.Items[i]) // off leaves out by itself
		rows[i].Reviewed = rows[i].Reviewed && !rows[i].LeftOut
	}
	return rows, nil
}

func renderNamespaces(sh *shell.Shell, format string, rows []namespaceRow) error {
	if format != "text" {
		return shell.RenderDocument(sh.Out, format, struct {
			Schema     string         `json:"schema"`
			Namespaces []namespaceRow `json:"namespaces"`
		}{namespacesSchema, rows})
	}
	table := [][]string{{"NAMESPACE", "MODE", "BY"}}
	for _, r := range rows {
		mode := r.Mode
		if r.LeftOut {
			mode = "-"
		}
		table = append(table, []string{words.VisibleLine(r.Name), mode, words.VisibleLine(r.why())})
	}
	_, err := io.WriteString(sh.Out, terminal.Plainly(terminal.NewPage(sh.Out).Table(table), os.Getenv))
	return err
}
