package main

import (
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

// runSnapshot lists the jobs of files that signalbox snapshot or kubectl get -o yaml wrote, of all namespaces unless one is named.
func (f *getFlags) runSnapshot(sh *shell.Shell, names []string) error {
	if f.watch {
		return shell.Usagef("--watch needs a cluster, and a snapshot does not change; leave out --watch or --snapshot")
	}
	objects, pods, err := jobsAndPodsOf(sh, f.snapshot, f.selector)
	if err != nil {
		return err
	}
	rows, namespace, passed := []jobRow{}, *f.kube.Namespace, 0
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
	sortRows(rows, f.sortBy.Value, sh.Now())
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
