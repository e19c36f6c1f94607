package checks

import (
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var unknownField = &check.Check{
	Name:     "unknown-field",
	Title:    "a field or role that the kind does not have",
	Doc:      readme("unknown-field"),
	Remedy:   "Correct the name or move the field; as it is, it has no effect.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) error {
		for _, u := range p.Job.Unread {
			message, ofRuntime := strings.CutPrefix(u.Reason, kinds.NotAFieldOfRuntime)
			switch {
			case ofRuntime:
			// What the server once wrote into metadata is found in every dump and harms nobody.
			case strings.HasPrefix(u.Reason, kinds.NotAField) && u.Path != "metadata.clusterName":
				message = "is " + u.Reason
			default:
				continue
			}
			f := finding.Finding{Path: u.Path, Message: message}
			if strings.Contains(message, kinds.NotAField+kinds.UpTo) {
				f.Remedy = "Correct the name or move the field, unless the version in the cluster is newer: every other one drops it."
			}
			p.Report(f)
		}
		return nil
	},
}
