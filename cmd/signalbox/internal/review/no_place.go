package review

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

// The API server has no place for a job whose namespace or kind it does not have. Fit says so, too: there is room enough, and the
// job cannot be created.

// namespaceCheck is the name under which check and fit say that there is no such namespace.
const namespaceCheck = "namespace-missing"

// notServed is the finding about a kind that the cluster does not serve, where it was asked.
func (w *World) notServed(o *unstructured.Unstructured) (finding.Finding, bool) {
	h := w.heardOf(o)
	if h == nil {
		return finding.Finding{}, false
	}
	for _, f := range h.Refusals(nil, func(string) bool { return false }) {
		if TakenByNoServer(f) {
			return f, true
		}
	}
	return finding.Finding{}, false
}

// TakenByNoServer says whether a finding is that the API server has no place for the job: it was read, and cannot be created.
func TakenByNoServer(f finding.Finding) bool {
	return f.Check == namespaceCheck || f.Check == dryrun.Check && f.Path == "kind"
}

// noNamespace is the finding about a namespace that is not there. Only a shell can make it:
// the API server asks no webhook about such a job.
func (w *World) noNamespace(o *unstructured.Unstructured) (finding.Finding, bool) {
	name := o.GetNamespace()
	if w.Cluster == nil || len(w.names) == 0 || name == metav1.NamespaceDefault { // which every cluster has
		return finding.Finding{}, false
	}
	if _, presence := w.Cluster.Lookup(corev1.SchemeGroupVersion.WithKind("Namespace"), "", name); presence != job.Absent {
		return finding.Finding{}, false
	}
	return finding.Finding{
		Check: namespaceCheck, Severity: finding.Error, Path: "metadata.namespace",
		Message: fmt.Sprintf("namespace %q does not exist, so the API server refuses the job%s", name, check.DidYouMean(name, w.names)),
		Remedy:  "Create the namespace first, or name one that exists.",
		Meant:   check.DidYouMean(name, w.names).Name(),
	}, true
}
