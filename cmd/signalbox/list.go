package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// entry is one thing of the reference, from the literal that the code runs.
type entry struct {
	name  string
	row   []string // the cells of list -o text, name first
	page  string   // Markdown below a heading of its own
	hint  string   // Markdown that explain adds to it
	value any      // JSON
}

// shelf is one part of the reference.
type shelf struct {
	name    string // checks
	about   string // a sentence or two above the page
	columns []string
	spare   []int // columns that a narrow terminal does not get
	entries func() ([]entry, error)
}

// shelves are the parts of the reference, in the order of the documentation.
func shelves() []shelf {
	reference.once.Do(func() {
		reference.shelves = []shelf{
			checkShelf(), kindShelf(), signatureShelf(), ruleShelf(), categoryShelf(), policyShelf(), metricShelf(),
			wordShelf(), annotationShelf(), exitCodeShelf(), settingShelf(), flagShelf(),
		}
		for i := range reference.shelves {
			read := sync.OnceValues(reference.shelves[i].entries)
			reference.shelves[i].entries = func() ([]entry, error) {
				all, err := read()
				return slices.Clone(all), err
			}
		}
	})
	return slices.Clone(reference.shelves)
}

// reference is read once: a name that is none is looked for in all of it, in several ways.
var reference struct {
	once    sync.Once
	shelves []shelf
}

func newList(sh *shell.Shell) *cobra.Command {
	var names []string
	for _, s := range shelves() {
		names = append(names, s.name)
	}
	c := &cobra.Command{
		Use:   "list " + strings.Join(append(names, "namespaces"), "|"),
		Short: "list what Signalbox knows, as text, Markdown or JSON",
		Args:  cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return needsCommand(c, args)
			}
			return shell.Own(listShelves(sh))
		},
	}
	for _, s := range shelves() {
		output, kube := shell.OneOf("text", "md", "json"), apiserver.Flags()
		sub := &cobra.Command{
			Use: s.name + " [WORD…]", Short: "list " + s.name + ", or those with the words in what they say",
			RunE: func(c *cobra.Command, words []string) error {
				entries, err := s.entries()
				if err != nil {
					return shell.Own(fmt.Errorf("list %s: %w", s.name, err))
				}
				found := saying(entries, words)
				if len(found) == 0 {
					return shell.Usagef("none of %s says %s", terminal.Count(len(entries), strings.TrimSuffix(s.name, "s")), strings.Join(words, " "))
				}
				if err := s.render(sh.Out, output.Value, found); err != nil || output.Value != "text" || inCluster[s.name] == nil {
					return shell.Own(err)
				}
				return shell.Own(sayCluster(c.Context(), sh, kube, s.name))
			},
		}
		if inCluster[s.name] != nil {
			kube.AddFlags(sub.Flags())
			apiserver.CompleteCluster(sub, kube)
			sub.Long = fmt.Sprintf("List %[1]s prints the %[1]s that this program has, and below them those of the cluster of the kubeconfig, where it answers (-o text).", s.name)
		}
		shell.AddChoice(sub, output, "output", "o", "output format")
		if s.name == "checks" {
			addOutcomes(sh, sub, output)
		}
		c.AddCommand(sub)
	}
	c.AddCommand(newListNamespaces(sh))
	return c
}

// listShelves prints what can be listed.
func listShelves(sh *shell.Shell) error {
	rows := [][]string{{"LIST", "ENTRIES", "SUCH AS"}}
	for _, s := range shelves() {
		entries, err := s.entries()
		if err != nil {
			return fmt.Errorf("list %s: %w", s.name, err)
		}
		rows = append(rows, []string{s.name, strconv.Itoa(len(entries)), entries[len(entries)/2].name})
	}
	p := terminal.NewPage(sh.Out)
	text := p.Table(rows) + fmt.Sprintf("\n%[1]s list NAME shows one of them, %[1]s explain SUCH-AS one entry.\n%[1]s list namespaces shows those of the cluster, with their mode.\n", sh.Name)
	_, err := io.WriteString(sh.Out, terminal.Plainly(text, os.Getenv))
	return err
}

// saying are the entries that hold all words in their row; where none does, in their page.
func saying(entries []entry, words []string) []entry {
	without := func(text func(entry) string) []entry {
		return slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
			return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(strings.ToLower(text(e)), strings.ToLower(w)) })
		})
	}
	if out := without(func(e entry) string { return strings.Join(e.row, " ") }); len(out) > 0 {
		return out
	}
	return without(func(e entry) string { return e.page })
}

func (s shelf) render(to io.Writer, format string, entries []entry) error {
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
	for _, c := range s.columns {
		rows[0] = append(rows[0], strings.ToUpper(c))
	}
	for _, e := range entries {
		rows = append(rows, e.row)
	}
	p := terminal.NewPage(to)
	p.Loose = true
	_, err := io.WriteString(to, terminal.Plainly(p.Table(rows, s.spare...), os.Getenv))
	return err
}

// markdown is the page of the reference: a table of contents and a section for each entry.
func (s shelf) markdown(to io.Writer, entries []entry) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s%s\n\n%s\n\n", strings.ToUpper(s.name[:1]), s.name[1:], s.about)
	fmt.Fprintf(&b, "Written by `signalbox list %s -o md` from what the code runs; do not edit.\n\n", s.name)
	fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.columns, " | "), strings.Repeat(" --- |", len(s.columns)))
	for _, e := range entries {
		cells := make([]string, len(e.row))
		for i, cell := range e.row {
			cells[i] = strings.ReplaceAll(terminal.OneLine(cell), "|", `\|`)
		}
		if e.page != "" {
			cells[0] = fmt.Sprintf("[%s](#%s)", e.name, anchor(e.name))
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | "))
	}
	for _, e := range entries {
		if e.page != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", e.name, strings.TrimSpace(e.page))
		}
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// anchor is the fragment that forges give a heading.
func anchor(heading string) string {
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
