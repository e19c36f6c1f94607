package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var configMapMissing = &check.Check{
	Name:     "config-map-missing",
	Title:    "a ConfigMap that the pods need does not exist",
	Remedy:   "Create the ConfigMap in the job's namespace, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		facts.ReportMissing(p, "ConfigMap", func(r facts.Reference) bool { return r.Kind == facts.ConfigMapKind })
		return nil
	},
}
