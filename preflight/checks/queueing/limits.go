package queueing

import (
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// limits are the rules of one sort, between the job and the nodes, that the job does not keep.
func limits(p *check.Pass, rule quota.Rule) []quota.Violation {
	var out []quota.Violation
	for _, l := range p.Limits() {
		if l.Rule == rule {
			out = append(out, l)
		}
	}
	return out
}

// limitFinding says what a limit is, where the job asks for it.
func limitFinding(l quota.Violation) finding.Finding {
	f := finding.Finding{Path: l.At, Message: l.String()}
	if f.Path == "" {
		f.Path = job.Path("spec")
	}
	f.Facts = []finding.Fact{{Name: "kind", Value: l.Kind}, {Name: "name", Value: l.Name}, {Name: "when", Value: l.When.String()}}
	if l.Resource != "" {
		f.Facts = append(f.Facts, finding.Fact{Name: "resource", Value: l.Resource}, finding.Fact{Name: "asked", Value: l.Asked},
			finding.Fact{Name: "used", Value: l.Used}, finding.Fact{Name: "hard", Value: l.Hard})
	}
	return f
}
