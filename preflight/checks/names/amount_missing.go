package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var amountMissing = &check.Check{
	Name:     "amount-missing",
	Title:    "a resource is named without an amount",
	Remedy:   "Write the amount, or remove the line.",
	Severity: finding.Warning, Since: "0.1",
	Run: check.EachUnread(func(p *check.Pass, u job.Unread) {
		p.Reportf(u.Path, "%s has no value, and counts as 0", facts.LastStep(u.Path))
	}, job.AmountMissing),
}
