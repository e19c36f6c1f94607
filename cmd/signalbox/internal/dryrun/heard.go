package dryrun

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/webhook"
)

// Unanswered says why what was heard is not Signalbox's answer; empty: it is.
func (h *Heard) Unanswered() string {
	switch {
	case h.Record != nil && h.Record.Left > 0:
		return fmt.Sprintf("the answer of Signalbox leaves out %s", terminal.Count(h.Record.Left, "finding"))
	case h.Record != nil && (h.Record.Fit == nil || h.Record.Fit.Verdict == fit.Unknown.String()):
		return "Signalbox in the cluster does not know whether the job fits"
	case h.Record != nil:
		return ""
	}
	return h.noAnswer()
}

// noAnswer says why there is no answer of Signalbox.
func (h *Heard) noAnswer() string {
	switch {
	case mayNot(h.Err):
		return fmt.Sprintf("you may not create a %s in namespace %s, so the cluster's webhooks were not asked%s", h.job.Kind, h.job.Namespace, apiserver.GrantCreate(h.job))
	case apierrors.IsNotFound(h.Err), apierrors.IsMethodNotSupported(h.Err):
		return "the API server takes no dry run of the job: " + apiserver.ServerSays(h.Err)
	case len(causesOf(h.Err)) > 0: // of many one is enough to say why there is no answer
		first := causesOf(h.Err)[0]
		return fmt.Sprintf("no webhook of Signalbox answered a dry run: the API server refuses the job: %s: %s", first.Field, terminal.OneLine(apiserver.WithoutGo(first.Message)))
	case h.Err != nil:
		return "no webhook of Signalbox answered a dry run: " + apiserver.ServerSays(h.Err)
	}
	return "no webhook of Signalbox answered a dry run"
}

// Into adds the review of the cluster's Signalbox to one that looked at the job alone: neither says
// less than without the other. Checks that are off are off wherever they ran.
func (h *Heard) Into(r *preflight.Report, off []string) {
	theirs, found := h.Record, slices.DeleteFunc(h.Record.Found(), func(f finding.Finding) bool { return slices.Contains(off, f.Check) })
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
func (h *Heard) fitOf() *fit.Result {
	out := h.Record.Result()
	if out == nil {
		return nil
	}
	text := "what Signalbox in the cluster answers; --ask=never lists nodes and pods instead"
	if out.WaitsForOthers {
		text += ", and fit --who names those whose end would help"
	}
	switch nodes := h.Record.Fit.Nodes; {
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
