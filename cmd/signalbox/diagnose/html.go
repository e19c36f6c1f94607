package diagnose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/words"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
)

// DiagnosisSection is a diagnosis for a browser.
func DiagnosisSection(r diagnose.Result) browser.Section {
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
	if r.Waiting != "" {
		s.Facts = append(s.Facts, [2]string{"waits for", r.Waiting})
	}
	if root := r.Root; root != nil {
		s.Line = root.Line
		s.Facts = append(s.Facts, rootFacts(r)...)
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
		s.Notes = append(s.Notes, fmt.Sprintf("%s, %s: %s", report.OthersHead(r), terminal.Count(len(f.Places), "pod"), f.Says))
	}
	s.Notes = append(s.Notes, fmt.Sprintf("%s seen, %d read", terminal.Count(r.Coverage.PodsSeen, "pod"), r.Coverage.PodsRead))
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

// rootFacts are what is known of the first cause, by name.
func rootFacts(r diagnose.Result) [][2]string {
	all := [][2]string{
		{"cause", fmt.Sprintf("%s (%s)", r.Root.Signature, r.Root.Standing)},
		{"pod", r.Root.Source.Pod},
		{"container", r.Root.Source.Container},
		{"node", r.Root.Source.Node},
		{"when", whenOf(r, time.Local)},
		{"who acts", report.WhoActs(r.Root.Owner)},
		{"trying again", report.TryingAgain(r.Root)},
	}
	return slices.DeleteFunc(all, func(f [2]string) bool { return f[1] == "" })
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

// diagnosisMarkdown is a diagnosis for a ticket. What programs printed stands in code, where no
// mark of Markdown is obeyed.
func diagnosisMarkdown(r diagnose.Result) string {
	var b strings.Builder
	health := map[diagnose.Verdict]string{
		diagnose.Healthy: "healthy", diagnose.Unknown: "unknown", diagnose.Inconclusive: "not healthy, cause not shown",
		diagnose.Diagnosed: "not healthy (" + report.InWords(r) + ")",
	}[r.Verdict]
	fmt.Fprintf(&b, "## %s: %s\n\n", terminal.InProse(report.Subject(r)), terminal.InProse(health))
	if r.Error != "" {
		fmt.Fprintf(&b, "**%s**\n\n", terminal.InProse(r.Error))
	}
	if first := report.FirstMissing(r); first != "" {
		fmt.Fprintf(&b, "Missing: %s\n\n", terminal.InProse(first))
	}
	if r.Waiting != "" {
		fmt.Fprintf(&b, "Waiting: %s\n\n", terminal.InProse(r.Waiting))
	}
	if root := r.Root; root != nil {
		b.WriteString("| | |\n|---|---|\n")
		for _, f := range rootFacts(r) {
			fmt.Fprintf(&b, "| %s | %s |\n", f[0], strings.ReplaceAll(terminal.InProse(f[1]), "|", `\|`))
		}
		if root.Line != "" {
			b.WriteString("\n" + terminal.Fenced(root.Line))
		}
		b.WriteString("\n")
	}
	if len(r.Solution) > 0 {
		b.WriteString("### What to do\n\n")
		for i, step := range r.Solution {
			fmt.Fprintf(&b, "%d. %s\n", i+1, terminal.InProse(step))
		}
		b.WriteString("\n")
	}
	if why, cited := report.Analysis(r); why != "" {
		fmt.Fprintf(&b, "### Why\n\n%s\n\n", terminal.InProse(why))
		for _, line := range cited {
			fmt.Fprintf(&b, "- %s\n", terminal.InProse(line))
		}
		if len(cited) > 0 {
			b.WriteString("\n")
		}
	}
	b.WriteString(r.Coverage.Sentence() + ".")
	for _, m := range r.Coverage.Missing {
		if m == report.FirstMissing(r) {
			continue // it is the only one
		}
		b.WriteString(" Missing: " + terminal.InProse(m) + ".")
	}
	if r.Root != nil {
		fmt.Fprintf(&b, " `signalbox explain %s` says more.", r.Root.Signature)
	}
	return words.Visible(b.String()) + "\n"
}
