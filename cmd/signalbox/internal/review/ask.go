package review

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// mostAskedJobs bounds the dry runs of one command; more jobs are answered from one listing.
const mostAskedJobs = 50

// answersWithinAll is how long a dry run may take: the API server gives each webhook ten seconds
// (timeoutSeconds of a webhook configuration), one after the other where they change objects.
const answersWithinAll = 20 * time.Second

// The values of --ask.
const (
	askAuto   = "auto"   // ask, and list where no Signalbox answers
	askAlways = "always" // ask, and never list
	askNever  = "never"  // list
)

// AddAsk adds --ask. Alone it means always, as it did when it had no values.
func (f *Flags) AddAsk(c *cobra.Command) {
	f.ask = shell.OneOf(askAuto, askAlways, askNever)
	shell.AddChoice(c, f.ask, "ask", "", "ask the Signalbox of the cluster, by a dry run of each job with your own rights, instead of listing nodes and pods: where there is one (auto)")
	c.Flags().Lookup("ask").NoOptDefVal = askAlways
}

// mayAsk says whether the cluster's Signalbox is asked at all. What draws or changes the cluster
// needs it listed, and so do policies from a folder, or in another mode than that of the namespace. Remedies need it,
// too, and do not change what is found.
func (f *Flags) mayAsk() bool {
	switch {
	case f.ask == nil || f.ask.Value == askNever:
		return false
	case f.ask.Value == askAlways:
		return true
	}
	return !f.Names && !f.Server && !f.Enforce && len(f.Folders) == 0
}

// Apart says what does not go with --ask: --enforce, and no cluster to ask.
func (f *Flags) Apart() error {
	if f.MustAsk() && f.Enforce {
		return shell.Usagef("--ask asks the Signalbox of the cluster, which goes by the mode of the namespace; expected --enforce or --ask, not both")
	}
	if f.MustAsk() && (f.offline || len(f.Snapshot) > 0) {
		return shell.Usagef("--ask asks the Signalbox of a live cluster, and --snapshot and --offline look at none; expected one of them")
	}
	return nil
}

// JoinAsk ties --ask to a value that stands behind it as a word of its own: it has a meaning without one, so the parser would
// take the word for a file.
func JoinAsk(args []string) (out []string) {
	for i, arg := range args {
		if i > 0 && args[i-1] == "--ask" && slices.Contains([]string{askAuto, askAlways, askNever}, arg) {
			out[len(out)-1] += "=" + arg
			continue
		}
		out = append(out, arg)
	}
	return out
}

// Listing are the flags of a command that does not ask the cluster's Signalbox.
func (f *Flags) Listing() *Flags {
	out := *f
	out.ask = nil
	return &out
}

// MustAsk says that the cluster is asked, and never listed.
func (f *Flags) MustAsk() bool { return f.ask != nil && f.ask.Value == askAlways }

// question is one job and what the cluster said of it.
type question struct {
	object *unstructured.Unstructured
	heard  *dryrun.Heard
}

// askInstalled asks the cluster's Signalbox about every job of the input, one dry run each. why
// says why that is not an answer; empty: all are answered. An error is a cluster that does not answer.
func (w *World) askInstalled(ctx context.Context, in *input.Input) (why string, err error) {
	if n := len(in.Jobs); n > mostAskedJobs {
		return fmt.Sprintf("%d jobs are asked about, and one listing serves them all", n), nil
	}
	if len(in.Jobs) == 0 {
		return "", nil
	}
	asked := make([]*question, len(in.Jobs))
	if why, err = w.askOne(ctx, in.Jobs, asked, 0); err != nil || why != "" { // where the first has no answer, none of the others is asked about
		w.questions = asked[:min(1, len(asked))]
		return why, err
	}
	reasons := make([]string, len(in.Jobs))
	err = shell.InParallel(askedAtOnce, len(in.Jobs)-1, func(i int) (err error) {
		reasons[i+1], err = w.askOne(ctx, in.Jobs, asked, i+1)
		return err
	})
	w.questions = asked
	i := slices.IndexFunc(reasons, func(why string) bool { return why != "" })
	if err != nil || i < 0 {
		return "", err
	}
	return reasons[i], nil
}

// askedAtOnce is how many dry runs are under way at a time: a person may have as many.
const askedAtOnce = 4

func (w *World) askOne(ctx context.Context, jobs []manifest.Document, asked []*question, i int) (why string, err error) {
	o, err := w.object(jobs[i])
	if err != nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithinAll)
	defer cancel()
	h := dryrun.Of(ctx, w.Live, o)
	asked[i] = &question{o, h}
	if _, away := errors.AsType[net.Error](h.Err); away {
		return "", w.Live.Unreached(h.Err)
	}
	return h.Unanswered(), nil
}

// heardOf is what was heard of a job; nil where no Signalbox was asked.
func (w *World) heardOf(o *unstructured.Unstructured) *dryrun.Heard {
	for _, q := range w.questions {
		if q != nil && q.object.GroupVersionKind() == o.GroupVersionKind() && q.object.GetNamespace() == o.GetNamespace() &&
			q.object.GetName() == o.GetName() && q.object.GetGenerateName() == o.GetGenerateName() {
			return q.heard
		}
	}
	return nil
}
