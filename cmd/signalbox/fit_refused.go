package main

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// sayRefused takes back what is said of nodes where the API server would not take the job or its pods: there is nothing to
// place, now or once others have ended. It is one line, and review says the rest.
func (w *world) sayRefused(ctx context.Context, r reviewed, object *unstructured.Unstructured) {
	if r.Fit == nil || r.Fit.Verdict == fit.Unknown || r.Fit.Verdict == fit.TooBig {
		return
	}
	found := slices.DeleteFunc(w.foundBy(ctx, object, func(c *check.Check) bool { return c.Refuses }), func(f finding.Finding) bool { return f.Severity != finding.Error })
	if len(found) > 0 {
		r.Fit.Refuse(r.firstOf(found, "the API server refuses it"))
	}
}

// foundBy are the findings of some checks in a job as it is written, in their order.
func (w *world) foundBy(ctx context.Context, object *unstructured.Unstructured, asked func(*check.Check) bool) []finding.Finding {
	var which []*check.Check
	for _, c := range checks.All() {
		if asked(c) {
			alone := *c
			alone.Eclipses = nil // those are not asked
			which = append(which, &alone)
		}
	}
	set, err := check.NewSet(which...)
	if err != nil {
		return nil
	}
	review, err := (&preflight.Reviewer{Checks: set}).Review(ctx, preflight.Request{Object: object, Operation: "CREATE", Now: w.now})
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(review.Findings, func(f finding.Finding) bool {
		return !slices.ContainsFunc(which, func(c *check.Check) bool { return c.Name == f.Check })
	})
}

// firstOf is the first of some findings in a line, and how many more there are.
func (r reviewed) firstOf(found []finding.Finding, what string) string {
	text := fmt.Sprintf("%s: %s, %s", what, manifest.Document{Source: r.from.Source, Line: r.line(found[0])}.Where(), found[0].Message)
	if more := len(found) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more: signalbox check tells", more)
	}
	return text
}
