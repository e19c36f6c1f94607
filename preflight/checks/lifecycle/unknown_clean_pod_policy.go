package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var unknownCleanPodPolicy = &check.Check{
	Name:     "unknown-clean-pod-policy",
	Title:    "the clean-up policy is none that the operator knows",
	Remedy:   "Write All, Running or None.",
	Severity: finding.Warning, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.CleanPods != nil },
	Run: func(p *check.Pass) {
		known := []string{"All", "Running", "None"}
		for _, at := range p.Operator.CleanPods {
			if policy, _ := facts.Text(p.Job, at); policy != "" && !slices.Contains(known, policy) {
				f := finding.Finding{Path: at, Meant: check.DidYouMean(policy, known).Name()}
				then := "all pods and their logs are deleted when the job ends"
				if p.Operator.CleanOrNothing {
					f.Severity, then = finding.Error, "the operator makes no pods"
				}
				f.Message = fmt.Sprintf("cleanPodPolicy is %q, which is none of %s: %s", policy, strings.Join(known, ", "), then)
				p.Report(f)
			}
		}
	},
}
