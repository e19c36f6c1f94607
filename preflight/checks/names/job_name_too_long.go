package names

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
)

var jobNameTooLong = &check.Check{
	Name:     "job-name-too-long",
	Title:    "the job's name leaves no room for the names of its pods",
	Remedy:   "Shorten the name of the job.",
	Severity: finding.Error, Since: "0.1",
	Where: func(o *kinds.Operator) bool { return o.LongestName != nil },
	Run: func(p *check.Pass) {
		name, at := p.Job.Ref.Name, job.Path("metadata.name")
		if p.Job.Source != nil && p.Job.Source.GetName() == "" && name != "" {
			name, at = kinds.GeneratedName(name), "metadata.generateName"
		}
		if name == "" {
			return
		}
		longest, what := "", ""
		for i := range p.Job.Roles {
			if r := &p.Job.Roles[i]; r.Replicas.Max > 0 {
				if child, of := p.Operator.LongestName(p.Job, r, name); len(child) > len(longest) {
					longest, what = child, of
				}
			}
		}
		if len(longest) > longestLabel {
			p.Reportf(at, "the %s would be called %s, which has %d characters; 63 are allowed", what, longest, len(longest))
		}
	},
}

// longestLabel is the most that a DNS label, and so a host or service name, may have (RFC 1123).
const longestLabel = 63
