package get

import (
	"cmp"
	"fmt"
	"net/url"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// JobsSection is a list of jobs in its order; led: each leads to its diagnosis.
func JobsSection(rows []JobRow, missing []string, now time.Time, led bool) browser.Section {
	s := browser.Section{Title: "Training jobs", Notes: missing}
	t := browser.Table{Title: terminal.Count(len(rows), "job"), Head: []string{"job", "namespace", "state", "healthy", "cause or what it waits for", "devices", "age"}}
	for i, r := range rows {
		if i == browser.MostJobsShown {
			s.Notes = append(s.Notes, fmt.Sprintf("%s not shown", terminal.Count(len(rows)-i, "more job")))
			break
		}
		row := browser.Cells(r.Kind+" "+r.Name, r.place(), r.State, r.Healthy, cmp.Or(r.Error, r.Waiting), r.devices(), r.age(now))
		if led {
			row[0].To = "/jobs/" + url.PathEscape(r.Kind) + "/" + url.PathEscape(r.Namespace) + "/" + url.PathEscape(r.Name)
		}
		t.Rows = append(t.Rows, row)
	}
	s.Tables = []browser.Table{t}
	return s
}

// OutcomesSection is what became of the jobs that a check had warned of.
func OutcomesSection(rows []JobRow, missing []string) browser.Section {
	s := browser.Section{Title: "What became of what the checks said", Notes: missing}
	t := browser.Table{Title: "Checks", Head: []string{"check", "fired", "came true", "failed of something else", "ran well", "ended, of what nobody says", "open"}}
	for _, o := range tallies(rows) {
		t.Rows = append(t.Rows, browser.Cells(o.Check, fmt.Sprint(o.Fired), fmt.Sprint(o.CameTrue), fmt.Sprint(o.Other), fmt.Sprint(o.Ran), fmt.Sprint(o.Unsaid), fmt.Sprint(o.Open)))
	}
	if len(t.Rows) == 0 {
		s.Lead = "no job of the cluster carries a warning"
		return s
	}
	s.Tables = []browser.Table{t}
	return s
}
