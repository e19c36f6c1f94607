package get

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// runSnapshot lists the jobs of files that signalbox snapshot or kubectl get -o yaml wrote, of all namespaces unless one is named.
func (f *Flags) runSnapshot(sh *shell.Shell, names []string) error {
	if f.watch {
		return shell.Usagef("--watch needs a cluster, and a snapshot does not change; leave out --watch or --snapshot")
	}
	objects, pods, err := jobsAndPodsOf(sh, f.snapshot, f.selector)
	if err != nil {
		return err
	}
	rows, namespace, passed := []JobRow{}, *f.kube.Namespace, 0
	for _, o := range objects {
		k := kinds.For(o.GroupVersionKind())
		if f.kind != "" && apiserver.KindCalled(f.kind) != k || !f.all && namespace != "" && o.GetNamespace() != namespace {
			continue
		}
		if r := rowOf(k, o); f.wants(r, o, names) {
			r.Pods = k.Select(refOf(k, o), o)
			rows = append(rows, r)
		} else {
			passed++
		}
	}
	pods.place(rows)
	all := len(rows)
	rows = f.onNode(rows)
	passed += all - len(rows)
	SortRows(rows, f.sortBy.Value, sh.Now())
	if err := f.render(sh, rows, f.all || namespace == "", !f.bare, terminal.NewPainter(f.coloured.Value, sh.Out)); err != nil {
		return err
	}
	switch {
	case len(rows) > 0:
	case len(names) > 0:
		return shell.Usagef("no training job called %s is in the snapshot", terminal.OrList(names))
	case passed > 0:
		sh.Tell("%s in the snapshot, and none is as asked for; what the controller has not written on a job, as its health, no filter finds", terminal.Count(passed, "training job"))
	default:
		sh.Tell("no such training jobs are in the snapshot; signalbox snapshot --jobs saves them, and so does kubectl get KIND -A -o yaml")
	}
	return nil
}

// JobsOfSnapshot are the jobs among the objects of a snapshot whose labels a selector matches.
func JobsOfSnapshot(sh *shell.Shell, names []string, selected string) ([]*unstructured.Unstructured, error) {
	jobs, _, err := jobsAndPodsOf(sh, names, selected)
	return jobs, err
}

// jobsAndPodsOf are the jobs of JobsOfSnapshot, and the pods of the snapshot.
func jobsAndPodsOf(sh *shell.Shell, names []string, selected string) ([]*unstructured.Unstructured, *podsByLabel, error) {
	selector, err := labels.Parse(selected)
	if err != nil {
		return nil, nil, shell.Usagef("--selector %q: %v", selected, err)
	}
	found, err := manifest.Sources(names, sh.In)
	if err != nil {
		return nil, nil, err
	}
	read, err := input.Documents(found)
	if err != nil {
		return nil, nil, err
	}
	pods := newPodsByLabel()
	var out []*unstructured.Unstructured
	for _, r := range slices.Concat(read...) {
		if r.Err != nil {
			return nil, nil, r.Err
		}
		o := r.Document.Object
		if o != nil && o.GetAPIVersion() == "v1" && o.GetKind() == "Pod" {
			pods.read(o)
		}
		if o != nil && kinds.For(o.GroupVersionKind()) != nil && selector.Matches(labels.Set(o.GetLabels())) {
			out = append(out, o)
		}
	}
	return out, pods, nil
}
