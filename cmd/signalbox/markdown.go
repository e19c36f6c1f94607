package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
)

// diagnosisMarkdown is a diagnosis for a ticket. What programs printed stands in code, where no
// mark of Markdown is obeyed.
func diagnosisMarkdown(r diagnose.Result) string {
	var b strings.Builder
	name := cmp.Or(r.Job.Name, "saved evidence")
	if r.Job.Name != "" {
		name = r.Job.String()
	}
	health := map[diagnose.Verdict]string{
		diagnose.Healthy: "healthy", diagnose.Unknown: "unknown", diagnose.Inconclusive: "not healthy, cause not shown",
		diagnose.Diagnosed: "not healthy (" + r.Category + ")",
	}[r.Verdict]
	fmt.Fprintf(&b, "## %s: %s\n\n", inProse(name), inProse(health))
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
		if !root.At.IsZero() {
			row("when", root.At.UTC().Format(time.RFC3339))
		}
		row("who acts", string(root.Owner))
		row("trying again", string(root.Retry))
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
	c := r.Coverage
	fmt.Fprintf(&b, "%s seen, %d read.", count(c.PodsSeen, "pod"), c.PodsRead)
	for _, m := range c.Missing {
		b.WriteString(" Missing: " + inProse(m) + ".")
	}
	if r.Root != nil {
		fmt.Fprintf(&b, " `signalbox explain %s` says more.", r.Root.Signature)
	}
	return visible(b.String()) + "\n"
}

// inProse is a text in one paragraph in which Markdown and HTML mean nothing.
func inProse(s string) string {
	return strings.NewReplacer("\\", `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[", `\[`, "]", `\]`).Replace(strings.TrimSpace(s))
}

// fenced is a text in a block that ends after it, whatever it holds.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}
