package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// refusingChecks find what the API server refuses in a job that can be read.
var refusingChecks = []string{
	"deadline-not-positive", "job-spec-refused", "name-twice", "pod-value-refused", "requests-above-limits", "restart-policy-always", "volume-not-declared",
}

// sayRefused turns a yes about nodes into no answer where the API server would not take the job or its pods: there is
// nothing to place. It is one line, and review says the rest.
func (w *world) sayRefused(ctx context.Context, r reviewed) {
	if r.Fit == nil || r.Fit.Verdict != fit.Fits {
		return
	}
	found := slices.DeleteFunc(w.foundBy(ctx, r, refusingChecks...), func(f finding.Finding) bool { return f.Severity != finding.Error })
	if len(found) == 0 {
		return
	}
	r.Fit.Verdict = fit.Unknown
	r.Fit.Assumed = slices.Insert(r.Fit.Assumed, 0, r.firstOf(found, "the API server refuses it"))
}

// foundBy are the findings of some checks in what is written, in their order.
func (w *world) foundBy(ctx context.Context, r reviewed, names ...string) []finding.Finding {
	var which []*check.Check
	for _, name := range names {
		alone := *checkCalled(name)
		alone.Eclipses = nil // those are not asked
		which = append(which, &alone)
	}
	set, err := check.NewSet(which...)
	if err != nil {
		return nil
	}
	review, err := (&preflight.Reviewer{Checks: set}).Review(ctx, preflight.Request{Object: r.from.Object, Operation: "CREATE", Now: w.now})
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(review.Findings, func(f finding.Finding) bool { return !slices.Contains(names, f.Check) })
}

// firstOf is the first of some findings in a line, and how many more there are.
func (r reviewed) firstOf(found []finding.Finding, what string) string {
	text := fmt.Sprintf("%s: %s, %s", what, manifest.Document{Source: r.from.Source, Line: r.line(found[0])}.Where(), found[0].Message)
	if more := len(found) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more: signalbox check tells", more)
	}
	return text
}
