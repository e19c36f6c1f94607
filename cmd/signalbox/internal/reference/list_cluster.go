package reference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/webhook"
)

// inCluster are the lists of which a cluster has its own, and what it has of each.
var inCluster = map[string]func(context.Context, *apiserver.Cluster) (string, error){"kinds": kindsOf, "policies": policiesOf}

// sayCluster prints below a list what the cluster of the kubeconfig has of it, or why that is not known.
func sayCluster(ctx context.Context, sh *shell.Shell, kube *genericclioptions.ConfigFlags, list string) error {
	live, err := apiserver.Connect(ctx, kube)
	if none, ok := errors.AsType[*apiserver.NoCluster](err); ok {
		sh.Tell("note: which %s a cluster has is not known: %s", list, none.Why)
		return nil
	}
	if err != nil {
		return err
	}
	text, err := inCluster[list](ctx, live)
	if err != nil {
		return err
	}
	_, err = io.WriteString(sh.Out, terminal.Plainly("\n"+text, os.Getenv))
	return err
}

// kindsOf are the kinds that a cluster serves, with their versions.
func kindsOf(_ context.Context, live *apiserver.Cluster) (string, error) {
	var has, absent []string
	for _, k := range kinds.All() {
		read, unread, err := apiserver.ServedVersions(live.Clients.Discovery(), live.Served, k)
		switch {
		case err != nil:
			return "", fmt.Errorf("ask for the versions of %s: %w", k.Name, err)
		case len(read) > 0 && len(unread) > 0:
			has = append(has, fmt.Sprintf("%s (%s; %s is not read)", k.Name, strings.Join(read, ", "), strings.Join(unread, ", ")))
		case len(read) > 0:
			has = append(has, fmt.Sprintf("%s (%s)", k.Name, strings.Join(read, ", ")))
		case len(unread) > 0:
			has = append(has, fmt.Sprintf("%s (only %s, which is not read)", k.Name, strings.Join(unread, ", ")))
		default:
			absent = append(absent, k.Name)
		}
	}
	text := fmt.Sprintf("the cluster of context %q serves %s\n", live.Context, cmp.Or(strings.Join(has, ", "), "no kind that is read"))
	if len(absent) > 0 {
		text += "not installed there: " + strings.Join(absent, ", ") + "\n"
	}
	return text, nil
}

// policiesOf are the ConfigMaps with policies of a cluster, and what policies may do in its namespaces.
func policiesOf(ctx context.Context, live *apiserver.Cluster) (string, error) {
	var b strings.Builder
	found, err := live.Clients.CoreV1().ConfigMaps(apiserver.OwnNamespace).List(ctx, metav1.ListOptions{LabelSelector: apiserver.PolicyLabel})
	switch {
	case apierrors.IsForbidden(err):
		fmt.Fprintf(&b, "you may not list ConfigMaps in %s, where the policies of the cluster of context %q are; to ask for: list on configmaps there\n", apiserver.OwnNamespace, live.Context)
	case err != nil:
		return "", fmt.Errorf("list policies: %w", err)
	case len(found.Items) == 0:
		fmt.Fprintf(&b, "the cluster of context %q has no policies: no ConfigMap in %s is labelled %s\n", live.Context, apiserver.OwnNamespace, apiserver.PolicyLabel)
	default:
		fmt.Fprintf(&b, "the cluster of context %q has, in ConfigMaps of %s:\n", live.Context, apiserver.OwnNamespace)
		for i := range found.Items {
			m := &found.Items[i]
			fmt.Fprintf(&b, "  %s: %s\n", m.Name, strings.Join(slices.Sorted(maps.Keys(m.Data)), ", "))
			if wrong := m.Annotations[webhook.PolicyErrorAnnotation]; wrong != "" {
				fmt.Fprintf(&b, "    does not load, so the last good set stays: %s\n", terminal.OneLine(wrong))
			}
		}
	}
	all, err := live.Clients.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if apierrors.IsForbidden(err) {
		b.WriteString("you may not list namespaces, so their modes are not known; to ask for: list on namespaces\n")
		return b.String(), nil
	}
	if err != nil {
		return "", fmt.Errorf("list namespaces: %w", err)
	}
	by := map[string][]string{}
	for i := range all.Items {
		mode := preflight.ModeOf(all.Items[i].Labels)
		by[mode] = append(by[mode], all.Items[i].Name)
	}
	for _, m := range []struct{ mode, means string }{
		{preflight.ModeEnforce, "policies deny"}, {preflight.ModeWarn, "policies warn, but for those that always deny"}, {preflight.ModeOff, "nothing is reviewed"},
	} {
		if names := by[m.mode]; len(names) > 0 {
			fmt.Fprintf(&b, "%s (%s) in %s\n", m.mode, m.means, terminal.Few(names))
		}
	}
	return b.String(), nil
}
