package reference

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// Entry is one thing of the reference, from the literal that the code runs.
type Entry struct {
	Name  string
	Row   []string // the cells of list -o text, name first
	page  string   // Markdown below a heading of its own
	text  string   // Markdown that explain -o text shows in its place; empty: page
	hint  string   // Markdown that explain -o md adds to page
	value any      // JSON
}

// Shelf is one part of the reference.
type Shelf struct {
	Name    string // checks
	About   string // a sentence or two above the page
	Columns []string
	spare   []int // columns that a narrow terminal does not get
	Entries func() ([]Entry, error)
}

// linked is a link in Markdown.
var linked = regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`)

// each are the entries of a list of literals.
func each[T any](all []T, entry func(T) Entry) []Entry {
	out := make([]Entry, 0, len(all))
	for _, one := range all {
		out = append(out, entry(one))
	}
	return out
}

// NewShelves are the parts of the reference, in the order of the documentation: flags are those of the commands, metrics
// those of the server. Each is read once.
func NewShelves(commands func() *cobra.Command, metrics func() ([]MetricText, error)) []Shelf {
	all := []Shelf{
		checkShelf(), kindShelf(), signatureShelf(), ruleShelf(), categoryShelf(), policyShelf(), metricShelf(metrics),
		wordShelf(), annotationShelf(), exitCodeShelf(), settingShelf(), flagShelf(commands),
	}
	for i := range all {
		read := sync.OnceValues(all[i].Entries)
		all[i].Entries = func() ([]Entry, error) {
			entries, err := read()
			return slices.Clone(entries), err
		}
	}
	return all
}

// NewList is the command list.
func NewList(sh *shell.Shell, all []Shelf) *cobra.Command {
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	c := &cobra.Command{
		Use:     "list " + strings.Join(append(names, "namespaces"), "|"),
		Short:   "list what Signalbox knows, as text, Markdown or JSON",
		Example: fmt.Sprintf("  %[1]s list checks\n  %[1]s list signatures nccl timeout\n  %[1]s list policies -o json", sh.Name),
		RunE:    func(*cobra.Command, []string) error { return shell.Own(listShelves(sh, all)) },
	}
	for _, s := range all {
		output, kube := shell.OneOf("text", "md", "json"), apiserver.Flags()
		first, _, _ := strings.Cut(strings.ReplaceAll(s.About, "`", ""), ". ")
		first = strings.TrimSuffix(first, ".")
		sub := &cobra.Command{
			Use: s.Name + " [WORD…]", Aliases: []string{strings.TrimSuffix(s.Name, "s")}, Short: first,
			Long:    fmt.Sprintf("%s\n\nWith WORD… only those that have the words in what they say.", linked.ReplaceAllString(s.About, "$1")),
			Example: fmt.Sprintf("  %[1]s list %[2]s\n  %[1]s list %[2]s -o json", sh.Name, s.Name),
			RunE: func(c *cobra.Command, words []string) error {
				entries, err := s.Entries()
				if err != nil {
					return shell.Own(fmt.Errorf("list %s: %w", s.Name, err))
				}
				found := saying(entries, words)
				if len(found) == 0 {
					return shell.Usagef("none of %s says %s", terminal.Count(len(entries), strings.TrimSuffix(s.Name, "s")), strings.Join(words, " "))
				}
				if err := s.Render(sh.Out, output.Value, found); err != nil || output.Value != "text" || inCluster[s.Name] == nil {
					return shell.Own(err)
				}
				return shell.Own(sayCluster(c.Context(), sh, kube, s.Name))
			},
		}
		if inCluster[s.Name] != nil {
			kube.AddFlags(sub.Flags())
			apiserver.CompleteCluster(sub, kube)
			sub.Long += fmt.Sprintf("\n\nBelow the %[1]s that this program has stand those of the cluster of the kubeconfig, where it answers (-o text).", s.Name)
		}
		shell.AddChoice(sub, output, "output", "o", "output format")
		c.AddCommand(sub)
	}
	return c
}

// listShelves prints what can be listed.
func listShelves(sh *shell.Shell, all []Shelf) error {
	rows := [][]string{{"LIST", "ENTRIES", "SUCH AS"}}
	for _, s := range all {
		entries, err := s.Entries()
		if err != nil {
			return fmt.Errorf("list %s: %w", s.Name, err)
		}
		rows = append(rows, []string{s.Name, strconv.Itoa(len(entries)), entries[len(entries)/2].Name})
	}
	p := terminal.NewPage(sh.Out)
	text := p.Table(rows) + fmt.Sprintf("\n%[1]s list NAME shows one of them, %[1]s explain SUCH-AS one entry.\n%[1]s list namespaces shows those of the cluster, with their mode.\n", sh.Name)
	_, err := io.WriteString(sh.Out, terminal.Plainly(text, os.Getenv))
	return err
}

// saying are the entries that hold all words in their row; where none does, in their page.
func saying(entries []Entry, words []string) []Entry {
	without := func(text func(Entry) string) []Entry {
		return slices.DeleteFunc(slices.Clone(entries), func(e Entry) bool {
			return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(strings.ToLower(text(e)), strings.ToLower(w)) })
		})
	}
	if out := without(func(e Entry) string { return strings.Join(e.Row, " ") }); len(out) > 0 {
		return out
	}
	return without(func(e Entry) string { return e.page })
}

// Render writes entries as text, Markdown or JSON.
func (s Shelf) Render(to io.Writer, format string, entries []Entry) error {
	switch format {
	case "json":
		values := make([]any, 0, len(entries))
		for _, e := range entries {
			values = append(values, e.value)
		}
		return shell.WriteJSON(to, values)
	case "md":
		return s.markdown(to, entries)
	}
	rows := [][]string{{}}
	for _, c := range s.Columns {
		rows[0] = append(rows[0], strings.ToUpper(c))
	}
	for _, e := range entries {
		row := slices.Clone(e.Row)
		for i := 1; i < len(row)-1; i++ {
			row[i] = shortened(row[i])
		}
		rows = append(rows, row)
	}
	_, err := io.WriteString(to, terminal.Plainly(terminal.NewPage(to).Table(rows, s.spare...), os.Getenv))
	return err
}

// shortened is a cell between others: a long list is begun and counted, and a long value is cut. explain, Markdown and JSON have
// all of it.
func shortened(cell string) string {
	const room, count = 40, len(", and 99 more")
	if ansi.StringWidth(cell) <= room {
		return cell
	}
	words := strings.Split(cell, ", ")
	n := 0
	for used := 0; n < len(words) && used+len(words[n]) <= room-count; n++ {
		used += len(words[n]) + len(", ")
	}
	if n == 0 || strings.ContainsAny(cell, "()[]") { // no list of names
		return ansi.Truncate(cell, room, "…")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:n], ", "), len(words)-n)
}

// markdown is the page of the reference: a table of contents and a section for each entry.
func (s Shelf) markdown(to io.Writer, entries []Entry) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s%s\n\n%s\n\n", strings.ToUpper(s.Name[:1]), s.Name[1:], s.About)
	fmt.Fprintf(&b, "Written by `signalbox list %s -o md` from what the code runs; do not edit.\n\n", s.Name)
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.Columns, " | "), strings.Repeat(" --- |", len(s.Columns)))
	for _, e := range entries {
		cells := make([]string, len(e.Row))
		for i, cell := range e.Row {
			cells[i] = strings.ReplaceAll(terminal.OneLine(cell), "|", `\|`)
		}
		if e.page != "" {
			cells[0] = fmt.Sprintf("[%s](#%s)", e.Name, Anchor(e.Name))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	for _, e := range entries {
		if e.page != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", e.Name, strings.TrimSpace(e.page))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// Anchor is the fragment that forges give a heading.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.ToLower(heading))
}
