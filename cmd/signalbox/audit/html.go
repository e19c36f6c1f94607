package audit

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
)

// auditSections are the sums of an audit, and below them the jobs in which something was found, as far as a page
// can be read.
func auditSections(a audited) []browser.Section {
	found := browser.Table{Title: "Checks and policies", Head: []string{"name", "jobs", "gravest"}}
	for _, c := range a.Checks {
		found.Rows = append(found.Rows, browser.Cells(c.Name, fmt.Sprint(c.Jobs), c.Gravest))
	}
	spaces := browser.Table{Title: "Namespaces", Head: []string{"name", "jobs", "denied", "warned"}}
	for _, n := range a.Namespaces {
		spaces.Rows = append(spaces.Rows, browser.Cells(n.Name, fmt.Sprint(n.Jobs), fmt.Sprint(n.Denied), fmt.Sprint(n.Warned)))
	}
	sum := browser.Section{Title: "Audit", Lead: auditHead(a)}
	if left := strings.TrimSpace(auditLeftOut(a)); left != "" {
		sum.Notes = []string{left}
	}
	for _, t := range []browser.Table{found, spaces} {
		if len(t.Rows) > 0 {
			sum.Tables = append(sum.Tables, t)
		}
	}
	out := []browser.Section{sum}
	left := 0
	for _, j := range a.Jobs {
		lines := j.Lines()
		if len(lines) == 0 && len(j.Failures()) == 0 && j.Decision == preflight.Allowed {
			continue
		}
		if len(out) > browser.MostJobsShown {
			left++
			continue
		}
		s := browser.Section{Title: j.Job.String(), Word: string(j.Decision), State: map[preflight.Decision]browser.State{
			preflight.Denied: browser.Bad, preflight.Warned: browser.Busy, preflight.Allowed: browser.Good,
		}[j.Decision]}
		t := browser.Table{Title: "Found", Head: []string{"gravity", "check or policy", "says", "what to do"}}
		for _, l := range lines {
			t.Rows = append(t.Rows, browser.Cells(l.Severity.String(), l.Check, cmp.Or(terminal.OneLine(l.Message), string(l.Path)), l.Remedy))
		}
		if len(t.Rows) > 0 {
			s.Tables = []browser.Table{t}
		}
		for _, why := range j.Failures() {
			s.Notes = append(s.Notes, "not decided: "+terminal.OneLine(why))
		}
		out = append(out, s)
	}
	if left > 0 {
		out[0].Notes = append(out[0].Notes, fmt.Sprintf("%s in which something was found are not shown below; -n and -l choose, -o json has all", terminal.Count(left, "job")))
	}
	return out
}
