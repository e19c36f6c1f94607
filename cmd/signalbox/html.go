package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/browser"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/nodemap"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
)

// mostJobsShown bounds the jobs of an audit that are shown one by one; the sums have all of them.
const mostJobsShown = 500

// mostRowsShown bounds the rows of a pool; what is left out is added up below them.
const mostRowsShown = 24

// writeHTML writes sections as one file for a browser.
func (sh *shell) writeHTML(title string, sections ...browser.Section) error {
	return browser.Write(sh.out, browser.Page{Title: title, Version: build().Version, Made: sh.now(), Sections: sections})
}

// diagnosisSection is a diagnosis for a browser.
func diagnosisSection(r diagnose.Result) browser.Section {
	s := browser.Section{Title: report.Subject(r), Lead: r.Error, Steps: r.Solution, Notes: r.Remarks}
	switch r.Verdict {
	case diagnose.Healthy:
		s.Word, s.State = "healthy", browser.Good
	case diagnose.Diagnosed:
		s.Word, s.State = "not healthy: "+r.Category, browser.Bad
	case diagnose.Inconclusive:
		s.Word, s.State = "not healthy, cause not shown", browser.Bad
	case diagnose.Unknown:
		s.Word, s.State = "unknown", browser.Dim
	}
	fact := func(name, text string) {
		if text != "" {
			s.Facts = append(s.Facts, [2]string{name, text})
		}
	}
	fact("waits for", r.Waiting)
	if root := r.Root; root != nil {
		s.Line = root.Line
		fact("cause", fmt.Sprintf("%s (%s)", root.Signature, root.Standing))
		fact("pod", root.Source.Pod)
		fact("container", root.Source.Container)
		fact("node", root.Source.Node)
		fact("when", whenOf(r, time.Local))
		fact("who acts", report.WhoActs(root.Owner))
		fact("trying again", report.TryingAgain(root))
	}
	s.Text, s.Cited = report.Analysis(r)
	if c, ok := report.ChartOf(r); ok {
		s.Chart = chartOf(c)
	}
	if len(r.Hypotheses) > 0 {
		t := browser.Table{Title: "What fits", Head: []string{"cause", "its line", "what would tell", "the command"}}
		for _, h := range r.Hypotheses {
			t.Rows = append(t.Rows, browser.Cells(h.Signature, h.Line, h.Decides, h.Command))
		}
		s.Tables = append(s.Tables, t)
	}
	for _, f := range r.Followers {
		s.Notes = append(s.Notes, fmt.Sprintf("%s, %s: %s", report.OthersHead(r), count(len(f.Places), "pod"), f.Says))
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%s seen, %d read", count(r.Coverage.PodsSeen, "pod"), r.Coverage.PodsRead))
	for _, m := range r.Coverage.Missing {
		s.Notes = append(s.Notes, "missing: "+m)
	}
	if len(r.Ending.Lines) > 0 {
		d := browser.Detail{Title: "The end of the log that was read"}
		for _, l := range r.Ending.Lines {
			d.Lines = append(d.Lines, l.Text)
		}
		s.Details = append(s.Details, d)
	}
	return s
}

// chartOf is a timeline in per cent of its axis.
func chartOf(c report.Chart) *browser.Chart {
	span := c.To.Sub(c.From)
	at := func(t time.Time) float64 {
		if t.IsZero() {
			return -1
		}
		if span <= 0 {
			return 100
		}
		return min(max(100*float64(t.Sub(c.From))/float64(span), 0), 100)
	}
	const clock = "15:04:05"
	out := &browser.Chart{Caption: c.From.UTC().Format("2006-01-02 ") + c.From.UTC().Format(clock) + " to " + c.To.UTC().Format(clock) + " UTC"}
	name := func(t time.Time) string { return t.UTC().Format(clock) }
	if c.Zero.IsZero() {
		out.Ticks = []browser.Tick{{At: 0, Text: name(c.From)}, {At: 100, Text: name(c.To)}}
	} else {
		name = func(t time.Time) string { return c.SecondsFrom(t) + ", " + t.UTC().Format(clock) }
		out.Caption = "first cause " + c.Zero.UTC().Format("2006-01-02 "+clock) + " UTC; seconds from it"
		out.Ticks = []browser.Tick{{At: 0, Text: c.SecondsFrom(c.From)}, {At: at(c.Zero), Text: "0"}, {At: 100, Text: c.SecondsFrom(c.To)}}
		if z := at(c.Zero); z < 15 || z > 85 { // where two words would stand on one another, the first cause counts
			out.Ticks = []browser.Tick{{At: z, Text: "0"}, {At: 100 - 100*float64(int(z/50)), Text: c.SecondsFrom(map[bool]time.Time{true: c.From, false: c.To}[z > 85])}}
		}
	}
	if c.Clocks != "" {
		out.Caption += "; clocks " + c.Clocks
	}
	for _, l := range c.Lanes {
		lane := browser.Lane{Name: l.Name, Node: l.Node, Says: l.Says, From: max(at(l.Start), 0), Steps: at(l.Step), To: at(l.Ended), Waits: l.End == report.EndWaits}
		if lane.Says == "" {
			lane.Says = string(l.End)
		}
		shape := map[report.LaneEnd]string{report.EndFailed: "failed", report.EndWell: "well", report.EndRuns: "runs"}[l.End]
		if shape != "" && !(l.First && l.Sign.IsZero()) {
			lane.Marks = append(lane.Marks, browser.Mark{At: lane.To, Shape: shape, Title: string(l.End) + " " + name(l.Ended)})
		}
		switch {
		case l.First:
			lane.Marks = append(lane.Marks, browser.Mark{At: at(c.Zero), Shape: "first", Title: "first cause " + name(c.Zero)})
		case !l.Sign.IsZero():
			lane.Marks = append(lane.Marks, browser.Mark{At: at(l.Sign), Shape: "sign", Title: "first sign of trouble " + name(l.Sign)})
		}
		out.Lanes = append(out.Lanes, lane)
	}
	return out
}

// fitSection is an answer of the fit for a browser, with the map of the cluster where there is one.
func fitSection(j reviewed, view *cluster.Snapshot) browser.Section {
	s := browser.Section{Title: j.Job.String(), Word: "not asked", State: browser.Dim, Notes: j.unchecked()}
	if j.Fit == nil {
		for _, skip := range j.Skipped {
			s.Notes = append(s.Notes, skip.Reason)
		}
		return s
	}
	s.Word, s.Lead = j.Fit.Answer(), j.Fit.Headline()
	switch {
	case j.Fit.Verdict == fit.Unknown && !j.Fit.Blocked():
	case j.Fit.Verdict == fit.Fits && !j.Fit.Blocked():
		s.State = browser.Good
	case waits(j.Report):
		s.State = browser.Busy
	default:
		s.State = browser.Bad
	}
	for _, line := range j.Fit.Lines()[1:] {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.Facts = append(s.Facts, [2]string{name, strings.TrimSpace(text)})
	}
	if view == nil || j.Gang == nil {
		return s
	}
	pools, notes := poolsFor(nodemap.Pools(nodemap.Question{Cluster: view, Gang: *j.Gang, Fit: *j.Fit}, mostRowsShown))
	s.Pools, s.Notes = pools, append(s.Notes, notes...)
	return s
}

// poolsFor are the pools of a map for a browser, and what is said where there is none.
func poolsFor(pools []nodemap.Pool, unknown string) (out []browser.Pool, notes []string) {
	if unknown != "" {
		return nil, []string{"no map: " + unknown}
	}
	for _, p := range pools {
		one := browser.Pool{Name: p.Name, Text: p.Text, More: p.More, Parts: partsOf(p.Parts)}
		for _, r := range p.Rows {
			names := r.Names[0]
			if n := len(r.Names) - 1; n > 0 {
				names += fmt.Sprintf(" and %d more", n)
			}
			one.Rows = append(one.Rows, browser.Row{Names: names, Note: strings.Trim(r.Note+"; "+r.Held, "; "), Parts: partsOf(r.Parts)})
		}
		out = append(out, one)
	}
	return out, nil
}

var likes = map[nodemap.Mark]string{
	nodemap.Used: "used", nodemap.Ours: "ours", nodemap.Free: "free", nodemap.Closed: "closed", nodemap.Broken: "broken", nodemap.Hidden: "hidden",
}

func partsOf(parts []nodemap.Part) (out []browser.Part) {
	from := 0.0
	for _, p := range parts {
		out = append(out, browser.Part{From: from, Width: 100 * p.Share, Like: likes[p.Mark], Title: p.Text})
		from += 100 * p.Share
	}
	return out
}

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
		if len(out) > mostJobsShown {
			left++
			continue
		}
		s := browser.Section{Title: j.Job.String(), Word: string(j.Decision), State: map[preflight.Decision]browser.State{
			preflight.Denied: browser.Bad, preflight.Warned: browser.Busy, preflight.Allowed: browser.Good,
		}[j.Decision]}
		t := browser.Table{Title: "Found", Head: []string{"gravity", "check or policy", "says", "what to do"}}
		for _, l := range lines {
			t.Rows = append(t.Rows, browser.Cells(l.Severity.String(), l.Check, cmp.Or(oneLine(l.Message), string(l.Path)), l.Remedy))
		}
		if len(t.Rows) > 0 {
			s.Tables = []browser.Table{t}
		}
		for _, why := range j.Failures() {
			s.Notes = append(s.Notes, "not decided: "+oneLine(why))
		}
		out = append(out, s)
	}
	if left > 0 {
		out[0].Notes = append(out[0].Notes, fmt.Sprintf("%s in which something was found are not shown below; -n and -l choose, -o json has all", count(left, "job")))
	}
	return out
}
