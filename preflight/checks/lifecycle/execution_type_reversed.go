package lifecycle

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var executionTypeReversed = &check.Check{
	Name:     "execution-type-reversed",
	Title:    "a framework cannot go back in its life",
	Remedy:   "Create the framework anew under another name.",
	Severity: finding.Error, Since: "0.1",
	Kinds: []string{"Framework.frameworkcontroller.microsoft.com"},
	Needs: check.Update,
	Run: func(p *check.Pass) {
		const at = job.Path("spec.executionType")
		order := []string{"Create", "Start", "Stop"}
		was, _ := facts.Text(p.Old, at)
		is, _ := facts.Text(p.Job, at)
		if from, to := slices.Index(order, was), slices.Index(order, is); from >= 0 && to >= 0 && to < from {
			p.Reportf(at, "executionType changed from %s to %s, but it only goes forward: %s", was, is, strings.Join(order, ", "))
		}
	},
}
