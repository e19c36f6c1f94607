package lifecycle

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var unknownRestartPolicy = &check.Check{
	Name:     "unknown-restart-policy",
	Title:    "the restart policy is none that the operator knows",
	Remedy:   "Write one of the policies that the operator knows.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.RestartPolicies != nil },
	Run: func(p *check.Pass) {
		known := p.Operator.RestartPolicies
		for r := range p.Job.EachRole() {
			at := r.Path.Child("restartPolicy")
			if policy, _ := facts.Text(p.Job, at); policy != "" && !slices.Contains(known, policy) {
				p.Reportf(at, "restartPolicy is %q; it takes \"%s\"%s", policy, strings.Join(known, `", "`), check.DidYouMean(policy, known))
			}
		}
	},
}
