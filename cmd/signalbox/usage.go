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

// useUsage has --help print flags as wide as the terminal, and of kubectl's flags for the connection the names alone: whoever
// reaches a cluster knows them, and they would be half of the list.
func useUsage(root *cobra.Command, sh *shell.Shell) {
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	apiserver.Flags().AddFlags(connection)
	plain, width := root.UsageFunc(), terminal.NewPage(sh.Out).Width
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), ".LocalFlags.FlagUsages", fmt.Sprintf(".LocalFlags.FlagUsagesWrapped %d", width), 1))
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		written := c.Long
		c.Long = reflowed(written, min(width, widestProse))
		help(c, args)
		c.Long = written
	})
	root.SetUsageFunc(func(c *cobra.Command) error {
		var names []string
		var hidden []*pflag.Flag
		defer func() { // completion and the reference have them
			for _, f := range hidden {
				f.Hidden = false
			}
		}()
		connection.VisitAll(func(known *pflag.Flag) {
			if f := c.LocalFlags().Lookup(known.Name); f != nil && f.Usage == known.Usage && f.Name != "namespace" && !f.Hidden {
				names, hidden = append(names, "--"+f.Name), append(hidden, f)
				f.Hidden = true
			}
		})
		if err := plain(c); err != nil || len(names) == 0 {
			return err
		}
		_, err := io.WriteString(c.OutOrStderr(), terminal.Fold("\nThe cluster is chosen as by kubectl: "+strings.Join(names, " "), width)+"\n")
		return err
	})
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
