package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// checkMarkdown is a review for a ticket or a comment on a change.
func checkMarkdown(jobs []review.Reviewed, troubles []preflight.Trouble) string {
	var b strings.Builder
	for _, j := range jobs {
		heading(&b, j, j.Word())
		if lines := j.Lines(); len(lines) > 0 {
			b.WriteString("| gravity | check or policy | where | what is | what to do |\n|---|---|---|---|---|\n")
			for _, f := range lines {
				name := terminal.InCell(f.Check)
				if f.Runbook != "" {
					name = fmt.Sprintf("[%s](<%s>)", name, f.Runbook)
				}
				at := manifest.Document{Source: j.From.Source, Line: j.Line(f)}.Where()
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.Severity, name, terminal.InCell(at), terminal.InCell(f.Message), terminal.InCell(f.Remedy))
			}
			b.WriteString("\n")
		}
		if j.Fit != nil && !slices.ContainsFunc(j.Findings, review.SaysBusy) { // the finding has said it
			fmt.Fprintf(&b, "Fit: **%s**. %s\n\n", j.Fit.Answer(), terminal.InProse(j.Fit.Headline()))
		}
		for _, a := range assumed(j, "") {
			fmt.Fprintf(&b, "Assumed: %s\n\n", terminal.InProse(terminal.OneLine(a)))
		}
		for _, e := range j.Exempted {
			fmt.Fprintf(&b, "Exempt: policy %s\n\n", terminal.InProse(terminal.OneLine(e)))
		}
		notChecked(&b, j)
	}
	return unread(&b, len(jobs), troubles)
}

// FitMarkdown is what fit says, for a ticket.
func FitMarkdown(jobs []review.Reviewed, troubles []preflight.Trouble) string {
	var b strings.Builder
	for _, j := range jobs {
		if j.Fit == nil {
			heading(&b, j, "not asked")
		} else {
			heading(&b, j, j.Fit.Answer())
			lines := j.Fit.Lines()
			fmt.Fprintf(&b, "**%s**\n\n", terminal.InProse(lines[0]))
			if j.Who != nil {
				lines = append(lines, j.Who.Text()...)
			}
			if len(lines) > 1 {
				b.WriteString(terminal.Fenced(strings.Join(lines[1:], "\n")) + "\n")
			}
		}
		notChecked(&b, j)
	}
	return unread(&b, len(jobs), troubles)
}

func heading(b *strings.Builder, j review.Reviewed, word string) {
	fmt.Fprintf(b, "## %s: %s\n\n%s\n\n", terminal.InProse(terminal.OneLine(j.Job.String())), terminal.InProse(word), terminal.InProse(terminal.OneLine(j.Source)))
}

// notChecked says what was not looked at; a job without findings ends with how many checks ran.
func notChecked(b *strings.Builder, j review.Reviewed) {
	lines := Unchecked(j)
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", terminal.InProse(line))
	}
	if len(lines) > 0 {
		b.WriteString("\n")
	}
}

// unread ends a page with what could not be read, or says that there was nothing.
func unread(b *strings.Builder, jobs int, troubles []preflight.Trouble) string {
	for _, t := range troubles {
		fmt.Fprintf(b, "- not read: %s: %s\n", terminal.InProse(terminal.OneLine(t.Source)), terminal.InProse(terminal.OneLine(t.Message)))
	}
	if jobs+len(troubles) == 0 {
		b.WriteString("no training job found\n")
	}
	return words.Visible(strings.TrimRight(b.String(), "\n")) + "\n"
}
