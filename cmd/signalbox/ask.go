package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/webhook"
)

// mostAskedJobs bounds the dry runs of one command; more jobs are answered from one listing.
const mostAskedJobs = 50

// answersWithinAll is how long a dry run may take: the API server gives each webhook ten seconds
// (timeoutSeconds of a webhook configuration), one after the other where they change objects.
const answersWithinAll = 20 * time.Second

// The values of --ask.
const (
	askAuto   = "auto"   // ask, and list where nobody answers
	askAlways = "always" // ask, and never list
	askNever  = "never"  // list
)

// addAsk adds --ask. Alone it means always, as it did when it had no values.
func (f *worldFlags) addAsk(c *cobra.Command) {
	f.ask = oneOf(askAuto, askAlways, askNever)
	addChoice(c, f.ask, "ask", "", "ask the Signalbox of the cluster, by a dry run of each job with your own rights, instead of listing nodes and pods: where there is one (auto)")
	c.Flags().Lookup("ask").NoOptDefVal = askAlways
}

// mayAsk says whether the cluster's Signalbox is asked at all. What draws or changes the cluster
// needs it listed, and so do policies from a folder, or in another mode than that of the namespace. Remedies need it,
// too, and do not change what is found.
func (f *worldFlags) mayAsk() bool {
	switch {
	case f.ask == nil || f.ask.value == askNever:
		return false
	case f.ask.value == askAlways:
		return true
	}
	return !f.names && !f.server && !f.enforce && len(f.folders) == 0
}

// apart says what does not go with --ask: --enforce, and no cluster to ask.
func (f *worldFlags) apart() error {
	if f.mustAsk() && f.enforce {
		return usagef("--ask asks the Signalbox of the cluster, which goes by the mode of the namespace; expected --enforce or --ask, not both")
	}
	if f.mustAsk() && (f.offline || len(f.snapshot) > 0) {
		return usagef("--ask asks the Signalbox of a live cluster, and --snapshot and --offline look at none; expected one of them")
	}
	return nil
}

// joinAsk ties --ask to a value that stands behind it as a word of its own: it has a meaning without one, so the parser would
// take the word for a file.
func joinAsk(args []string) (out []string) {
	for i, arg := range args {
		if i > 0 && args[i-1] == "--ask" && slices.Contains([]string{askAuto, askAlways, askNever}, arg) {
			out[len(out)-1] += "=" + arg
			continue
		}
		out = append(out, arg)
	}
	return out
}

// listing are the flags of who does not ask the cluster's Signalbox.
func (f *worldFlags) listing() *worldFlags {
	out := *f
	out.ask = nil
	return &out
}

func (f *worldFlags) mustAsk() bool { return f.ask != nil && f.ask.value == askAlways }

// question is one job and what the cluster said of it.
type question struct {
	object *unstructured.Unstructured
	heard  *heard
}

// askInstalled asks the cluster's Signalbox about every job of the input, one dry run each. why
// says why that is not an answer; empty: all are answered. An error is a cluster that does not answer.
func (w *world) askInstalled(ctx context.Context, in *input) (why string, err error) {
	if n := len(in.jobs); n > mostAskedJobs {
		return fmt.Sprintf("%d jobs are asked about, and one listing serves them all", n), nil
	}
	if len(in.jobs) == 0 {
		return "", nil
	}
	asked := make([]*question, len(in.jobs))
	if why, err = w.askOne(ctx, in.jobs, asked, 0); err != nil || why != "" { // where nobody answers the first, nobody is asked again
		w.questions = asked[:min(1, len(asked))]
		return why, err
	}
	reasons := make([]string, len(in.jobs))
	err = inParallel(askedAtOnce, len(in.jobs)-1, func(i int) (err error) {
		reasons[i+1], err = w.askOne(ctx, in.jobs, asked, i+1)
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

func (w *world) askOne(ctx context.Context, jobs []manifest.Document, asked []*question, i int) (why string, err error) {
	o, err := w.object(jobs[i])
	if err != nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, answersWithinAll)
	defer cancel()
	h := w.live.dryRun(ctx, o)
	asked[i] = &question{o, h}
	if _, away := errors.AsType[net.Error](h.err); away {
		return "", w.live.unreached(h.err)
	}
	return h.unanswered(), nil
}

// unanswered says why what was heard is not Signalbox's answer; empty: it is.
func (h *heard) unanswered() string {
	switch {
	case h.record != nil && h.record.Left > 0:
		return fmt.Sprintf("the answer of Signalbox leaves out %s", count(h.record.Left, "finding"))
	case h.record != nil && (h.record.Fit == nil || h.record.Fit.Verdict == fit.Unknown.String()):
		return "Signalbox in the cluster does not know whether the job fits"
	case h.record != nil:
		return ""
	}
	return h.noAnswer()
}

// noAnswer says why there is no answer of Signalbox.
func (h *heard) noAnswer() string {
	switch {
	case mayNot(h.err):
		return fmt.Sprintf("you may not create a %s in namespace %s, so the cluster's webhooks were not asked%s", h.job.Kind, h.job.Namespace, grantCreate(h.job))
	case apierrors.IsNotFound(h.err), apierrors.IsMethodNotSupported(h.err):
		return "the API server takes no dry run of the job: " + serverSays(h.err)
	case len(causesOf(h.err)) > 0: // of many one is enough to say why nobody was asked
		first := causesOf(h.err)[0]
		return fmt.Sprintf("no webhook of Signalbox answered a dry run: the API server refuses the job: %s: %s", first.Field, oneLine(withoutGo(first.Message)))
	case h.err != nil:
		return "no webhook of Signalbox answered a dry run: " + serverSays(h.err)
	}
	return "no webhook of Signalbox answered a dry run"
}

// heardOf is what was heard of a job; nil where nobody was asked.
func (w *world) heardOf(o *unstructured.Unstructured) *heard {
	for _, q := range w.questions {
		if q != nil && q.object.GroupVersionKind() == o.GroupVersionKind() && q.object.GetNamespace() == o.GetNamespace() &&
			q.object.GetName() == o.GetName() && q.object.GetGenerateName() == o.GetGenerateName() {
			return q.heard
		}
	}
	return nil
}

// into adds the review of the cluster's Signalbox to one that looked at the job alone: neither says
// less than without the other. Checks that are off are off wherever they ran.
func (h *heard) into(r *preflight.Report, off []string) {
	theirs, found := h.record, slices.DeleteFunc(h.record.Found(), func(f finding.Finding) bool { return slices.Contains(off, f.Check) })
	r.Findings = slices.DeleteFunc(r.Findings, func(own finding.Finding) bool {
		return slices.ContainsFunc(found, func(f finding.Finding) bool {
			if f.Check != own.Check { // what is seen of a cluster says the same better: of a misspelt device what the nodes offer
				return f.Path == own.Path && f.Remedy == own.Remedy && f.Severity > own.Severity
			}
			return f.Path == own.Path && f.Message != own.Message
		})
	})
	var more []finding.Finding
	for _, f := range found {
		if !slices.ContainsFunc(r.Findings, func(own finding.Finding) bool {
			return own.Check == f.Check && own.Path == f.Path && own.Message == f.Message
		}) {
			more = append(more, f)
		}
	}
	for _, ruling := range theirs.Rulings {
		if !slices.ContainsFunc(r.Rulings, func(own preflight.Ruling) bool {
			return own.Policy == ruling.Policy && own.Path == ruling.Path && own.Message == ruling.Message
		}) {
			r.Rulings = append(r.Rulings, ruling)
		}
	}
	reasons := map[string]preflight.Skip{}
	for _, s := range theirs.Skipped {
		s.Failed = slices.Contains(theirs.Failed, s.Check)
		reasons[s.Check] = s
	}
	var left []preflight.Skip
	for _, s := range r.Skipped {
		their, skipped := reasons[s.Check]
		switch {
		case s.Why == 0:
			left = append(left, s)
		case skipped:
			left = append(left, their)
		default:
			r.Ran++ // there
		}
	}
	r.Skipped = left
	r.Undecided = appendNew(r.Undecided, theirs.Undecided)
	r.Exempted = appendNew(r.Exempted, theirs.Exempted)
	if theirs.Revision != "" {
		r.Revision = theirs.Revision
	}
	r.Add(more, nil)
}

func appendNew(to, more []string) []string {
	for _, s := range more {
		if !slices.Contains(to, s) {
			to = append(to, s)
		}
	}
	return to
}

// fitOf is the fit as the cluster's Signalbox answers it.
func (h *heard) fitOf() *fit.Result {
	out := h.record.Result()
	if out == nil {
		return nil
	}
	text := "what Signalbox in the cluster answers; --ask=never lists nodes and pods instead"
	if out.WaitsForOthers {
		text += ", and fit --who names those whose end would help"
	}
	switch nodes := h.record.Fit.Nodes; {
	case nodes == nil:
		text = "what Signalbox in the cluster answers, without the names of nodes, which only those see who may list them"
	case nodes.Unlisted:
		text = "what Signalbox in the cluster answers, without the plan, which is too long for it; --ask=never lists nodes and pods instead"
	}
	out.Assumed = append(out.Assumed, text)
	return out
}

// recordIn is Signalbox's record in the warnings of a dry run; nil where there is none.
func recordIn(warnings []string) (*webhook.Record, []string) {
	r, ok := webhook.RecordOf(warnings)
	rest := slices.DeleteFunc(slices.Clone(warnings), func(w string) bool { return strings.HasPrefix(w, "["+webhook.AskReview+"] ") })
	if !ok {
		return nil, rest
	}
	return &r, rest
}
