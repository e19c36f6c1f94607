package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// headings are what the commands are listed under, by when somebody needs them.
func headings(root *cobra.Command) {
	for i, h := range []struct{ title, commands string }{
		{"Before a job runs:", "check fit snapshot"},
		{"When it waits or fails:", "diagnose get bundle board"},
		{"For those who run Signalbox:", "serve doctor audit policy config"},
		{"With a language model:", "prompt model learn mcp"},
		{"Reference:", "explain list schema version completion help"},
	} {
		id := strconv.Itoa(i)
		root.AddGroup(&cobra.Group{ID: id, Title: h.title})
		for _, c := range root.Commands() {
			if slices.Contains(strings.Fields(h.commands), c.Name()) {
				c.GroupID = id
			}
			if c.Name() == "completion" {
				c.Short = "print a script that completes commands, flags and names in a shell"
				c.Example = fmt.Sprintf("  source <(%s completion bash)", root.Use)
			}
		}
	}
}

// newHelp is the command help: a word that is no command is as wrong there as in front.
func newHelp(sh *shell.Shell) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "say what a command does, as --help does",
		Example: fmt.Sprintf("  %s help policy test", sh.Name),
		RunE: func(c *cobra.Command, args []string) error {
			to, rest, err := c.Root().Find(args)
			switch {
			case err != nil || to == c.Root() && len(rest) > 0:
				return noCommand(c.Root(), sh, args[0])
			case len(rest) > 0:
				return needsCommand(to, rest)
			}
			to.InitDefaultHelpFlag()
			return to.Help()
		},
	}
}

// useHelp has --help print descriptions, commands and flags as wide as the terminal.
func useHelp(root *cobra.Command, sh *shell.Shell) {
	width := terminal.NewPage(sh.Out).Width
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		written := c.Long
		c.Long = reflowed(written, min(width, widestProse))
		help(c, args)
		c.Long = written
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(c.OutOrStderr(), usage(c, width))
		return err
	})
}

// usage is how a command is called, as cobra prints it, but for columns that are as wide as the terminal. Of kubectl's flags for
// the connection the names alone stand there: whoever reaches a cluster knows them, and they would be half of the list.
func usage(c *cobra.Command, width int) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() {
		b.WriteString("  " + c.UseLine() + "\n")
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("  " + c.CommandPath() + " [command]\n")
	}
	if c.HasExample() {
		b.WriteString("\nExamples:\n" + strings.TrimRight(c.Example, "\n") + "\n")
	}
	b.WriteString(commandLists(c, width))
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	var connection []string
	kubectls := pflag.NewFlagSet("", pflag.ContinueOnError)
	apiserver.Flags().AddFlags(kubectls)
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if known := kubectls.Lookup(f.Name); known != nil && f.Usage == known.Usage && f.Name != "namespace" {
			if !f.Hidden {
				connection = append(connection, "--"+f.Name)
			}
			return
		}
		flags.AddFlag(f)
	})
	if flags.HasAvailableFlags() {
		var rows [][2]string
		for line := range strings.Lines(flags.FlagUsages()) { // which knows how a value and a default are written
			name, about, _ := strings.Cut(strings.TrimSpace(line), "   ")
			if strings.HasPrefix(name, "--") {
				name = "    " + name // below those with a letter
			}
			rows = append(rows, [2]string{name, strings.TrimSpace(about)})
		}
		b.WriteString("\nFlags:\n" + twoColumns(rows, width))
	}
	if len(connection) > 0 {
		b.WriteString(terminal.Fold("\nThe cluster is chosen as by kubectl: "+strings.Join(connection, " "), width) + "\n")
	}
	if c.HasAvailableSubCommands() {
		b.WriteString(terminal.Fold(fmt.Sprintf("\nUse %q for more information about a command.", c.CommandPath()+" [command] --help"), width) + "\n")
	}
	return b.String()
}

// commandLists are the commands below a command, under their headings.
func commandLists(c *cobra.Command, width int) string {
	byHeading := map[string][][2]string{}
	longest := 0
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			byHeading[sub.GroupID] = append(byHeading[sub.GroupID], [2]string{sub.Name(), sub.Short})
			longest = max(longest, len(sub.Name()))
		}
	}
	var b strings.Builder
	for _, g := range append(c.Groups(), &cobra.Group{Title: "Available Commands:"}) {
		rows := byHeading[g.ID]
		for i := range rows { // the lists stand below each other
			rows[i][0] += strings.Repeat(" ", longest-len(rows[i][0]))
		}
		if len(rows) > 0 {
			b.WriteString("\n" + g.Title + "\n" + twoColumns(rows, width))
		}
	}
	return b.String()
}

// twoColumns is names with what is said of each beside them. A name that is longer than two fifths of the width has it below, so
// that one long name does not make all descriptions narrow. Width 0: lines are not wrapped.
func twoColumns(rows [][2]string, width int) string {
	column := 0
	for _, r := range rows {
		if n := len(r[0]); width <= 0 || n <= width*2/5 {
			column = max(column, n)
		}
	}
	const indent, between = 2, 3
	hang := strings.Repeat(" ", indent+column+between)
	var b strings.Builder
	for _, r := range rows {
		head := strings.Repeat(" ", indent) + r[0]
		if len(r[0]) > column {
			head += "\n" + hang
		} else {
			head += strings.Repeat(" ", len(hang)-len(head))
		}
		text := r[1]
		if width > 0 {
			text = terminal.Fold(text, max(1, width-len(hang)))
		}
		b.WriteString(head + strings.ReplaceAll(text, "\n", "\n"+hang) + "\n")
	}
	return b.String()
}

// widestProse bounds the lines of a description on a wide terminal.
const widestProse = 100

// reflowed is a text as wide as the terminal, paragraph by paragraph; width 0 leaves it as it is written, and so are
// paragraphs with lines that are indented.
func reflowed(text string, width int) string {
	if width <= 0 {
		return text
	}
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if !strings.Contains("\n"+p, "\n ") {
			paragraphs[i] = terminal.Fold(strings.ReplaceAll(strings.TrimSpace(p), "\n", " "), width)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

// unquoteFlags takes the quotes from descriptions of flags that --help has for the name of the value: completion shows all as
// it is written.
func unquoteFlags(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) { _, f.Usage = pflag.UnquoteUsage(f) })
	for _, sub := range c.Commands() {
		unquoteFlags(sub)
	}
}
