package lifecycle

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var ttlDeletesLogs = &check.Check{
	Name:     "ttl-deletes-logs",
	Title:    "the job and its logs are deleted soon after it ends",
	Remedy:   "Leave time to read the logs of a failure: a day is ttlSecondsAfterFinished 86400.",
	Severity: finding.Note, Since: "0.1",
	Where:  func(o *kinds.Operator) bool { return o.TTL != "" },
	Params: func() any { return &ttlParams{LeastSeconds: 300} },
	Run: func(p *check.Pass) {
		least := p.Params.(*ttlParams).LeastSeconds
		at := p.Operator.TTL
		if ttl, ok := facts.Number(p.Job, at); ok && ttl >= 0 && ttl < least {
			p.ReportAs(finding.Finding{Path: at, Facts: []finding.Fact{{Name: "seconds", Value: ttl}, {Name: "least", Value: least}}},
				"ttlSecondsAfterFinished is %d: the job is deleted %s after it ends, with %s and their logs, even if it fails", ttl, facts.Count(ttl, "second"), facts.Count(p.Job.MaxPods(), "pod"))
		}
	},
}

type ttlParams struct {
	LeastSeconds int64 `json:"leastSeconds" doc:"seconds after the end of a job below which the check speaks"`
}
