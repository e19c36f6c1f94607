package names

import (
	"fmt"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var keyWrittenTwice = &check.Check{
	Name:     "key-written-twice",
	Title:    "a key stands twice in one place, and the first one is lost",
	Remedy:   "Put what both say under one key.",
	Severity: finding.Warning, Since: "0.1",
	Run: func(p *check.Pass) {
		for _, t := range p.Job.DuplicateKeys {
			f := finding.Finding{Path: t.Path, Message: fmt.Sprintf("%s is written at line %d and again at line %d; only the last one counts", facts.LastStep(t.Path), t.First, t.Line)}
			switch {
			case t.Same:
				f.Severity, f.Message = finding.Note, fmt.Sprintf("%s is written at line %d and again, the same, at line %d", facts.LastStep(t.Path), t.First, t.Line)
			case len(t.Lost) > 0:
				f.Message += fmt.Sprintf("; lost: %s", facts.ShortList(t.Lost))
			}
			p.Report(f)
		}
	},
}
