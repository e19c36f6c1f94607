package diagnose

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

func renderComparison(to io.Writer, c *Comparison, format string, paint terminal.Painter) error {
	if format == "json" || format == "yaml" {
		return shell.RenderDocument(to, format, c)
	}
	rows := [][]string{
		{"", words.VisibleLine(c.Run.Name), words.VisibleLine(c.Against.Name)},
		{"healthy", c.Run.Healthy, c.Against.Healthy},
		{"cause", cmp.Or(c.Run.Category, "-"), cmp.Or(c.Against.Category, "-")},
		{"attempts", fmt.Sprint(c.Run.Attempts), fmt.Sprint(c.Against.Attempts)},
		{"ran", ran(c.Run), ran(c.Against)},
	}
	if format == "md" {
		return terminal.Page{To: to}.Write(c.markdown(rows))
	}
	p := terminal.NewPage(to)
	rows[1][1], rows[1][2] = paint.Word(c.Run.Healthy), paint.Word(c.Against.Healthy)
	var b strings.Builder
	b.WriteString(p.Table(rows))
	for _, part := range c.parts() {
		b.WriteString("\n")
		if part.head != "" {
			b.WriteString(paint.As("bold", part.head) + "\n")
		}
		for _, line := range part.lines {
			if part.head != "" {
				b.WriteString("  ")
			}
			b.WriteString(line + "\n")
		}
	}
	return p.Quoting().Write(b.String())
}

// markdown is the comparison for a ticket: what programs printed stands in code.
func (c *Comparison) markdown(rows [][]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s against %s\n\n", terminal.InProse(c.Run.Name), terminal.InProse(c.Against.Name))
	b.WriteString(terminal.MarkdownTable(rows))
	for _, part := range c.parts() {
		if part.head == "" {
			fmt.Fprintf(&b, "\n%s\n", terminal.InProse(strings.Join(part.lines, "\n")))
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s", terminal.InProse(part.head), terminal.Fenced(strings.Join(part.lines, "\n")))
	}
	return words.Visible(b.String())
}

// part is a paragraph of a comparison, or a list under a head.
type part struct {
	head  string
	lines []string
}

// parts are what a comparison says below its table; nothing in them obeys a terminal.
func (c *Comparison) parts() (out []part) {
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
		switch name, text := words.VisibleLine(r.Name), words.VisibleLine(r.Error); {
		case text == "":
		case strings.HasPrefix(text, name) && strings.ContainsAny(text[len(name):][:min(1, len(text)-len(name))], ":,/"): // it is who speaks already
			says("%s", text)
		default:
			says("%s: %s", name, text)
		}
	}
	if n := c.Nodes; len(n.Both)+len(n.OnlyRun)+len(n.OnlyAgainst) > 0 {
		says("nodes of both: %s; only of %s: %s; only of %s: %s", orNone(n.Both), words.VisibleLine(c.Run.Name), orNone(n.OnlyRun), words.VisibleLine(c.Against.Name), orNone(n.OnlyAgainst))
	}
	pairs := func(head string, all []fieldPair, beyond int) {
		if len(all) == 0 {
			return
		}
		p := part{head: head}
		shown := min(shownFields, len(all))
		for _, f := range all[:shown] {
			p.lines = append(p.lines, fmt.Sprintf("%s: %s, was %s", words.VisibleLine(f.Path), written(f.Run), written(f.Against)))
		}
		out = append(out, p.with(moreOf(len(all), shown, beyond)))
	}
	pairs("fields that differ", c.Fields, c.More)
	pairs("settings that differ, as the logs tell them", c.Settings, 0)
	if len(c.New) > 0 {
		p := part{head: "lines that " + words.VisibleLine(c.Against.Name) + " did not print"}
		shown := min(shownNewLines, len(c.New))
		for _, l := range c.New[:shown] {
			p.lines = append(p.lines, fmt.Sprintf("%s:%d  %s", words.VisibleLine(l.File), l.Line, words.VisibleLine(l.Text)))
		}
		out = append(out, p.with(moreOf(len(c.New), shown, c.Others)))
	} else if !slices.ContainsFunc(c.Unknown, func(s string) bool { return strings.HasPrefix(s, "the lines") }) {
		says("every line of %s is like one that %s printed, but for numbers in it", words.VisibleLine(c.Run.Name), words.VisibleLine(c.Against.Name))
	}
	for _, u := range c.Unknown {
		says("not compared: %s", words.VisibleLine(u))
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
func (c *Comparison) alike() bool {
	return c.Run.Healthy == c.Against.Healthy && c.Run.Category == c.Against.Category && len(c.Nodes.OnlyRun)+len(c.Nodes.OnlyAgainst)+
		len(c.Fields)+len(c.Settings)+len(c.New) == 0
}

func orNone(names []string) string { return cmp.Or(words.VisibleLine(terminal.Few(names)), "none") }

func written(v string) string { return words.VisibleLine(cmp.Or(v, "not written")) }

func ran(r runSummary) string {
	if r.Seconds == 0 {
		return "not known"
	}
	return words.Short(time.Duration(r.Seconds * float64(time.Second)))
}
