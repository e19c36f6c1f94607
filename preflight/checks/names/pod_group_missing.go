package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var podGroupMissing = &check.Check{
	Name:     "pod-group-missing",
	Title:    "the pod group that the pods belong to does not exist",
	Remedy:   "Create the PodGroup before the job, or remove the mark.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		facts.ReportMissing(p, "PodGroup", func(r facts.Reference) bool { return r.Kind.Kind == "PodGroup" })
		return nil
	},
}
