package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var podGroupMissing = &check.Check{
	Name:     "pod-group-missing",
	Title:    "the pod group that the pods belong to does not exist",
	Doc:      readme("pod-group-missing"),
	Remedy:   "Create the PodGroup before the job, or remove the mark.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		reportMissing(p, "PodGroup", func(r Reference) bool { return r.Kind.Kind == "PodGroup" })
		return nil
	},
}
