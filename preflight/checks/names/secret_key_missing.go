package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var secretKeyMissing = &check.Check{
	Name:     "secret-key-missing",
	Title:    "a Secret is there and lacks a key that the pods need",
	Remedy:   "Add the key to the Secret, or correct its name.",
	Severity: finding.Warning, Since: "0.1",
	Needs: check.Objects,
	Run: func(p *check.Pass) error {
		facts.ReportMissingKeys(p, facts.SecretKind, "Secret", "data", "stringData")
		return nil
	},
}
