package fit

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// sayRefused takes back what is said of nodes where the API server would not take the job or its pods: there is nothing to
// place, now or once others have ended. It is one line, and review says the rest.
func sayRefused(ctx context.Context, w *review.World, r review.Reviewed, object *unstructured.Unstructured) {
	if r.Fit == nil || r.Fit.Verdict == fit.Unknown || r.Fit.Verdict == fit.TooBig || r.Fit.Blocked() {
		return
	}
	var refusals []string // that are its operator's, or the API server's for this kind
	if kind := kinds.For(object.GroupVersionKind()); kind != nil {
		refusals = kind.Operator.Validates.Refuses
	}
	found := slices.DeleteFunc(foundBy(ctx, w, object, func(c *check.Check) bool { return c.Refuses || slices.Contains(refusals, c.Name) }), func(f finding.Finding) bool { return f.Severity != finding.Error })
	if len(found) > 0 {
		r.Fit.Refuse(firstOf(r, found, "the API server refuses it"))
	}
}

// foundBy are the findings of some checks in a job as it is written, in their order.
func foundBy(ctx context.Context, w *review.World, object *unstructured.Unstructured, asked func(*check.Check) bool) []finding.Finding {
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
	review, err := (&preflight.Reviewer{Checks: set}).Review(ctx, preflight.Request{Object: object, Operation: "CREATE", Now: w.Now})
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(review.Findings, func(f finding.Finding) bool {
		return !slices.ContainsFunc(which, func(c *check.Check) bool { return c.Name == f.Check })
	})
}

// firstOf is the first of some findings in a line, and how many more there are.
func firstOf(r review.Reviewed, found []finding.Finding, what string) string {
	text := fmt.Sprintf("%s: %s, %s", what, manifest.Document{Source: r.From.Source, Line: r.Line(found[0])}.Where(), found[0].Message)
	if more := len(found) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more: signalbox check tells", more)
	}
	return text
}
