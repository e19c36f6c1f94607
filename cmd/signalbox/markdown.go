package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
)

// diagnosisMarkdown is a diagnosis for a ticket. What programs printed stands in code, where no
// mark of Markdown is obeyed.
func diagnosisMarkdown(r diagnose.Result) string {
	var b strings.Builder
	health := map[diagnose.Verdict]string{
		diagnose.Healthy: "healthy", diagnose.Unknown: "unknown", diagnose.Inconclusive: "not healthy, cause not shown",
		diagnose.Diagnosed: "not healthy (" + report.InWords(r) + ")",
	}[r.Verdict]
	fmt.Fprintf(&b, "## %s: %s\n\n", inProse(report.Subject(r)), inProse(health))
	if r.Error != "" {
		fmt.Fprintf(&b, "**%s**\n\n", inProse(r.Error))
	}
	if r.Waiting != "" {
		fmt.Fprintf(&b, "Waiting: %s\n\n", inProse(r.Waiting))
	}
	if root := r.Root; root != nil {
		b.WriteString("| | |\n|---|---|\n")
		row := func(head, text string) {
			if text != "" {
				fmt.Fprintf(&b, "| %s | %s |\n", head, strings.ReplaceAll(inProse(text), "|", `\|`))
			}
		}
		row("cause", fmt.Sprintf("%s (%s)", root.Signature, root.Standing))
		row("pod", root.Source.Pod)
		row("container", root.Source.Container)
		row("node", root.Source.Node)
		row("when", whenOf(r, time.Local))
		row("who acts", report.WhoActs(root.Owner))
		row("trying again", report.TryingAgain(root))
		if root.Line != "" {
			b.WriteString("\n" + fenced(root.Line))
		}
		b.WriteString("\n")
	}
	if len(r.Solution) > 0 {
		b.WriteString("### What to do\n\n")
		for i, step := range r.Solution {
			fmt.Fprintf(&b, "%d. %s\n", i+1, inProse(step))
		}
		b.WriteString("\n")
	}
	if why, cited := report.Analysis(r); why != "" {
		fmt.Fprintf(&b, "### Why\n\n%s\n\n", inProse(why))
		for _, line := range cited {
			fmt.Fprintf(&b, "- %s\n", inProse(line))
		}
		if len(cited) > 0 {
			b.WriteString("\n")
		}
	}
	b.WriteString(r.Coverage.Sentence() + ".")
	for _, m := range r.Coverage.Missing {
		b.WriteString(" Missing: " + inProse(m) + ".")
	}
	if r.Root != nil {
		fmt.Fprintf(&b, " `signalbox explain %s` says more.", r.Root.Signature)
	}
	return visible(b.String()) + "\n"
}

// checkMarkdown is a review for a ticket or a comment on a change.
func checkMarkdown(jobs []reviewed, troubles []preflight.Trouble) string {
	var b strings.Builder
	for _, j := range jobs {
		heading(&b, j, j.word())
		if lines := j.Lines(); len(lines) > 0 {
			b.WriteString("| gravity | check or policy | where | what is | what to do |\n|---|---|---|---|---|\n")
			for _, f := range lines {
				name := inCell(f.Check)
				if f.Runbook != "" {
					name = fmt.Sprintf("[%s](<%s>)", name, f.Runbook)
				}
				at := manifest.Document{Source: j.from.Source, Line: j.line(f)}.Where()
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.Severity, name, inCell(at), inCell(f.Message), inCell(f.Remedy))
			}
			b.WriteString("\n")
		}
		if j.Fit != nil && !slices.ContainsFunc(j.Findings, saysBusy) { // the finding has said it
			fmt.Fprintf(&b, "Fit: **%s**. %s\n\n", j.Fit.Answer(), inProse(j.Fit.Headline()))
		}
		for _, a := range j.assumed("") {
			fmt.Fprintf(&b, "Assumed: %s\n\n", inProse(oneLine(a)))
		}
		for _, e := range j.Exempted {
			fmt.Fprintf(&b, "Exempt: policy %s\n\n", inProse(oneLine(e)))
		}
		notChecked(&b, j)
	}
	return unread(&b, len(jobs), troubles)
}

// fitMarkdown is what fit says, for a ticket.
func fitMarkdown(jobs []reviewed, troubles []preflight.Trouble) string {
	var b strings.Builder
	for _, j := range jobs {
		if j.Fit == nil {
			heading(&b, j, "not asked")
		} else {
			heading(&b, j, j.Fit.Answer())
			lines := j.Fit.Lines()
			fmt.Fprintf(&b, "**%s**\n\n", inProse(lines[0]))
			if j.who != nil {
				lines = append(lines, j.who.text()...)
			}
			if len(lines) > 1 {
				b.WriteString(fenced(strings.Join(lines[1:], "\n")) + "\n")
			}
		}
		notChecked(&b, j)
	}
	return unread(&b, len(jobs), troubles)
}

func heading(b *strings.Builder, j reviewed, word string) {
	fmt.Fprintf(b, "## %s: %s\n\n%s\n\n", inProse(oneLine(j.Job.String())), inProse(word), inProse(oneLine(j.Source)))
}

// notChecked says what was not looked at; a job without findings ends with how many checks ran.
func notChecked(b *strings.Builder, j reviewed) {
	lines := j.unchecked()
	for _, line := range lines {
		fmt.Fprintf(b, "- %s\n", inProse(line))
	}
	if len(lines) > 0 {
		b.WriteString("\n")
	}
}

// unread ends a page with what could not be read, or says that there was nothing.
func unread(b *strings.Builder, jobs int, troubles []preflight.Trouble) string {
	for _, t := range troubles {
		fmt.Fprintf(b, "- not read: %s: %s\n", inProse(oneLine(t.Source)), inProse(oneLine(t.Message)))
	}
	if jobs+len(troubles) == 0 {
		b.WriteString("no training job found\n")
	}
	return visible(strings.TrimRight(b.String(), "\n")) + "\n"
}

// inCell is a text in a cell of a table.
func inCell(s string) string { return strings.ReplaceAll(inProse(oneLine(s)), "|", `\|`) }

// inProse is a text in one paragraph in which Markdown and HTML mean nothing.
func inProse(s string) string {
	s = strings.NewReplacer("\\", `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "]", `\]`).Replace(strings.TrimSpace(s))
	return handles.ReplaceAllString(s, "$1$2&#8203;$3")
}

// handles are where GitHub and GitLab call somebody (https://docs.github.com/en/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls,
// https://docs.gitlab.com/user/markdown/#gitlab-specific-references): an escape does not keep them from it, a space of no
// width does. Digests of images are no such place.
var handles = regexp.MustCompile(`(^|[^0-9A-Za-z_])([@#])([0-9A-Za-z_])`)

// fenced is a text in a block that ends after it, whatever it holds.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}
