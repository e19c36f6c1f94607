package get

import (
	"context"
	"errors"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// runContexts is run over several clusters as one list. One that does not answer takes away nothing of the others: a note
// names it, and the exit code says that the list is not whole.
func (f *Flags) runContexts(ctx context.Context, sh *shell.Shell, contexts, names []string) error {
	if f.watch {
		return shell.Usagef("--watch follows one cluster, and the contexts %s are given; expected one", strings.Join(contexts, " and "))
	}
	rows, first := []JobRow{}, (*apiserver.Cluster)(nil)
	f.several = true
	for _, name := range contexts {
		live, missing, err := f.oneContext(ctx, sh, apiserver.WithContext(f.kube, name), name, names, &rows)
		if away, ok := errors.AsType[*apiserver.NoCluster](err); ok {
			f.missing.Failed = append(f.missing.Failed, away.Why)
			f.notes = append(f.notes, "not listed: "+away.Why)
			sh.Tell("note: not listed: %s", away.Why)
			continue
		}
		if err != nil {
			return err
		}
		if first == nil {
			first = live
		}
		notes := missing.Notes(f.NamespaceOf(live))
		for i := range notes {
			notes[i] = "context " + name + ": " + notes[i]
		}
		for _, one := range missing.Failed {
			f.missing.Failed = append(f.missing.Failed, "context "+name+": "+one)
		}
		f.notes = append(f.notes, notes...)
		sh.Notes(notes)
	}
	if first == nil {
		return &shell.Exit{Code: shell.ExitUnknown, Cause: errors.New("none of the clusters answers, so whether there are training jobs is not known")}
	}
	rows = f.onNode(rows)
	SortRows(rows, f.sortBy.Value, sh.Now())
	if err := f.render(sh, rows, f.all, !f.bare, terminal.NewPainter(f.coloured.Value, sh.Out)); err != nil {
		return err
	}
	if len(rows) == 0 {
		f.sayNone(sh, first, f.missing.Len() > 0)
	}
	return f.missing.Verdict()
}

// oneContext adds the jobs of one of several clusters to the rows.
func (f *Flags) oneContext(ctx context.Context, sh *shell.Shell, kube *genericclioptions.ConfigFlags, name string, names []string, rows *[]JobRow) (*apiserver.Cluster, apiserver.Unlisted, error) {
	live, err := apiserver.Connect(ctx, kube)
	if err != nil {
		return nil, apiserver.Unlisted{}, err
	}
	found, missing, _, note, err := f.listed(ctx, live, names)
	if err != nil {
		return nil, apiserver.Unlisted{}, err
	}
	if note != "" {
		sh.Tell("note: context %s: %s", name, note)
	}
	for i := range found {
		found[i].Context = name
	}
	*rows = append(*rows, found...)
	return live, missing, nil
}
