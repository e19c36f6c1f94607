package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var configKeyMissing = &check.Check{
	Name:     "config-key-missing",
	Title:    "a ConfigMap is there and lacks a key that the pods need",
	Remedy:   "Add the key to the ConfigMap, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		facts.ReportMissingKeys(p, facts.ConfigMapKind, "ConfigMap", "data", "binaryData")
		return nil
	},
}
