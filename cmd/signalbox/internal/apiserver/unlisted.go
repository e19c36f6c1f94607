package apiserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// Unlisted are the resources whose jobs the API server did not list: whether there are some is not known.
type Unlisted struct {
	forbidden []string
	Failed    []string // each with the server's message
}

// Len is how many resources were not listed.
func (u Unlisted) Len() int { return len(u.forbidden) + len(u.Failed) }

// Notes say what was not listed.
func (u Unlisted) Notes(namespace string) (out []string) {
	if len(u.forbidden) > 0 {
		out = append(out, Barred(u.forbidden, namespace)+GrantRead(namespace))
	}
	if len(u.Failed) > 0 {
		out = append(out, "not listed: "+strings.Join(u.Failed, "; "))
	}
	return out
}

// None is the error where nothing was listed: no jobs and none that may be seen are two things.
func (u Unlisted) None(namespace string) error {
	if len(u.Failed) == 0 {
		return mayListNone(u.forbidden, namespace)
	}
	return &shell.Exit{Code: shell.ExitUnknown, Cause: fmt.Errorf("%s, so whether there are training jobs is not known", strings.Join(u.Notes(namespace), "; "))}
}

// Verdict is the exit code of an answer that lacks what failed. What may not be listed is the caller's own choice of rights.
func (u Unlisted) Verdict() error {
	if len(u.Failed) == 0 {
		return nil
	}
	return &shell.Exit{Code: shell.ExitUnknown}
}

// serverAnswered says whether an error is the API server's answer, and not that there was none. What a conversion webhook that
// is down leads to is an answer without a reason.
func serverAnswered(err error) bool {
	status := apierrors.APIStatus(nil)
	return errors.As(err, &status)
}

// unanswered is the error of a request: of one that the cluster did not answer in time what was asked is unknown.
func unanswered(what string, err error) error {
	if lost := (*url.Error)(nil); errors.As(err, &lost) {
		return &shell.Exit{Code: shell.ExitUnknown, Cause: fmt.Errorf("%s: the cluster does not answer: %w", what, lost.Err)}
	}
	return fmt.Errorf("%s: %w", what, err)
}

// AnyKind is for EachPage: the jobs of every kind are wanted.
func AnyKind(*kinds.Kind) bool { return true }

// EachPage lists the jobs of all kinds that are wanted and served, a page at a time. One kind whose list fails, by a
// conversion webhook that is down, say, does not take away the others.
func (c *Cluster) EachPage(ctx context.Context, namespace, selector string, wanted func(*kinds.Kind) bool,
	take func(*kinds.Kind, schema.GroupVersionResource, *unstructured.UnstructuredList),
) (missing Unlisted, err error) {
	for _, k := range kinds.All() {
		served := c.resources(k)
		if len(served) == 0 || !wanted(k) {
			continue
		}
		from := c.Objects.Resource(served[0]).Namespace(namespace)
		for next := ""; ; {
			page, err := from.List(ctx, metav1.ListOptions{LabelSelector: selector, Limit: 500, Continue: next})
			name := served[0].GroupResource().String()
			switch {
			case apierrors.IsForbidden(err):
				missing.forbidden = append(missing.forbidden, name)
			case apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err): // not served after all
			case err != nil && (!serverAnswered(err) || apierrors.IsUnauthorized(err)): // for no kind
				return missing, unanswered("list "+k.Resource, err)
			case err != nil:
				missing.Failed = append(missing.Failed, fmt.Sprintf("%s (%s)", name, ServerSays(err)))
			}
			if err != nil {
				break
			}
			page.Items = slices.DeleteFunc(page.Items, func(o unstructured.Unstructured) bool { return kinds.For(o.GroupVersionKind()) != k })
			take(k, served[0], page)
			if next = page.GetContinue(); next == "" {
				break
			}
		}
	}
	return missing, nil
}

// Barred says what may not be listed.
func Barred(resources []string, namespace string) string {
	where := "in all namespaces"
	if namespace != metav1.NamespaceAll {
		where = "in namespace " + namespace
	}
	return fmt.Sprintf("you may not list %s %s", terminal.Few(resources), where)
}

// mayListNone is the error of an answer that nothing was seen for: no jobs and none that may be seen are two things.
func mayListNone(resources []string, namespace string) error {
	widen := ""
	if namespace == metav1.NamespaceAll {
		widen = "; -n NAMESPACE instead of -A asks for less"
	}
	return shell.Usagef("%s, so whether there are training jobs is not known%s%s", Barred(resources, namespace), widen, GrantRead(namespace))
}
