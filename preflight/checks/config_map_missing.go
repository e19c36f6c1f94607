package checks

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var configMapMissing = &check.Check{
	Name:     "config-map-missing",
	Title:    "a ConfigMap that the pods need does not exist",
	Doc:      readme("config-map-missing"),
	Remedy:   "Create the ConfigMap in the job's namespace, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		reportMissing(p, "ConfigMap", func(r Reference) bool { return r.Kind == configMapKind })
		return nil
	},
}
