package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	phrase "github.com/signalbox-dev/signalbox/preflight/words"
)

func renderComparison(to io.Writer, c *comparison, format string, paint painter) error {
	if format == "json" || format == "yaml" {
		return renderDocument(to, format, c)
	}
	rows := [][]string{
		{"", visibleLine(c.Run.Name), visibleLine(c.Against.Name)},
		{"healthy", c.Run.Healthy, c.Against.Healthy},
		{"cause", causeOf(c.Run), causeOf(c.Against)},
		{"attempts", fmt.Sprint(c.Run.Attempts), fmt.Sprint(c.Against.Attempts)},
		{"ran", ran(c.Run), ran(c.Against)},
	}
	if format == "md" {
		return page{to: to}.write(c.markdown(rows))
	}
	p := newPage(to)
	rows[1][1], rows[1][2] = paint.word(c.Run.Healthy), paint.word(c.Against.Healthy)
	var b strings.Builder
	b.WriteString(p.table(rows))
	for _, part := range c.parts() {
		b.WriteString("\n")
		if part.head != "" {
			b.WriteString(paint.as("bold", part.head) + "\n")
		}
		for _, line := range part.lines {
			if part.head != "" {
				b.WriteString("  ")
			}
			b.WriteString(line + "\n")
		}
	}
	return p.quoting().write(b.String())
}

// markdown is the comparison for a ticket: what programs printed stands in code.
func (c *comparison) markdown(rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s against %s\n\n", inProse(c.Run.Name), inProse(c.Against.Name))
	for i, row := range rows {
		for k := range row {
			row[k] = inCell(row[k])
		}
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	for _, part := range c.parts() {
		if part.head == "" {
			fmt.Fprintf(&b, "\n%s\n", inProse(strings.Join(part.lines, "\n")))
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s", inProse(part.head), fenced(strings.Join(part.lines, "\n")))
	}
	return visible(b.String())
}

// part is a paragraph of a comparison, or a list under a head.
type part struct {
	head  string
	lines []string
}

// parts are what a comparison says below its table; nothing in them obeys a terminal.
func (c *comparison) parts() (out []part) {
	says := func(format string, args ...any) {
		out = append(out, part{lines: []string{fmt.Sprintf(format, args...)}})
	}
	switch {
	case c.Same:
		says("both are the same run, so nothing differs; --against takes another: NAME, NAMESPACE/KIND/NAME, or a path")
	case c.alike():
		says("no difference was found between the two but for numbers in their lines")
	}
	for _, r := range []runSummary{c.Run, c.Against} {
		switch name, text := visibleLine(r.Name), visibleLine(r.Error); {
		case text == "":
		case strings.HasPrefix(text, name) && strings.ContainsAny(text[len(name):][:min(1, len(text)-len(name))], ":,/"): // it is who speaks already
			says("%s", text)
		default:
			says("%s: %s", name, text)
		}
	}
	if n := c.Nodes; len(n.Both)+len(n.OnlyRun)+len(n.OnlyAgainst) > 0 {
		says("nodes of both: %s; only of %s: %s; only of %s: %s", orNone(n.Both), visibleLine(c.Run.Name), orNone(n.OnlyRun), visibleLine(c.Against.Name), orNone(n.OnlyAgainst))
	}
	pairs := func(head string, all []fieldPair, beyond int) {
		if len(all) == 0 {
			return
		}
		p := part{head: head}
		shown := min(shownFields, len(all))
		for _, f := range all[:shown] {
			p.lines = append(p.lines, fmt.Sprintf("%s: %s, was %s", visibleLine(f.Path), visibleLine(written(f.Run)), visibleLine(written(f.Against))))
		}
		out = append(out, p.with(moreOf(len(all), shown, beyond)))
	}
	pairs("fields that differ", c.Fields, c.More)
	pairs("settings that differ, as the logs tell them", c.Settings, 0)
	if len(c.New) > 0 {
		p := part{head: "lines that " + visibleLine(c.Against.Name) + " did not print"}
		shown := min(shownNewLines, len(c.New))
		for _, l := range c.New[:shown] {
			p.lines = append(p.lines, fmt.Sprintf("%s:%d  %s", visibleLine(l.File), l.Line, visibleLine(l.Text)))
		}
		out = append(out, p.with(moreOf(len(c.New), shown, c.Others)))
	} else if !slices.ContainsFunc(c.Unknown, func(s string) bool { return strings.HasPrefix(s, "the lines") }) {
		says("every line of %s is like one that %s printed, but for numbers in it", visibleLine(c.Run.Name), visibleLine(c.Against.Name))
	}
	for _, u := range c.Unknown {
		says("not compared: %s", visibleLine(u))
	}
	return out
}

// with is a part with one more line, if there is one.
func (p part) with(line string) part {
	if line != "" {
		p.lines = append(p.lines, line)
	}
	return p
}

// moreOf is the line of a list about what it does not show: how many, and where they are.
func moreOf(kept, shown, beyond int) string {
	switch more := kept - shown + beyond; {
	case more <= 0:
		return ""
	case beyond > 0:
		return fmt.Sprintf("and %d more; -o json lists the first %d", more, kept)
	default:
		return fmt.Sprintf("and %d more; -o json lists all", more)
	}
}

// alike says that all that was compared is the same in both.
func (c *comparison) alike() bool {
	return c.Run.Healthy == c.Against.Healthy && c.Run.Category == c.Against.Category && len(c.Nodes.OnlyRun)+len(c.Nodes.OnlyAgainst)+
		len(c.Fields)+len(c.Settings)+len(c.New) == 0
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return visibleLine(few(names))
}

func written(v string) string {
	if v == "" {
		return "not written"
	}
	return v
}

func causeOf(r runSummary) string {
	if r.Category == "" {
		return "-"
	}
	return r.Category
}

func ran(r runSummary) string {
	if r.Seconds == 0 {
		return "not known"
	}
	return phrase.Short(time.Duration(r.Seconds * float64(time.Second)))
}
