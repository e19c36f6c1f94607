package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// mostMentions is how many places are named that speak of a word.
const mostMentions = 3

// mentions are the commands and flags below a command that speak of a word which is none of their names: "diff" is what
// check --fix prints. Commands come first, a flag once with the first command that has it.
func mentions(c *cobra.Command, word string) []string {
	var commands, flags []string
	seen := map[string]bool{}
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if !sub.IsAvailableCommand() || sub.Name() == "completion" || sub.Name() == "help" {
				continue
			}
			if terminal.HasWord(sub.Short, word) {
				commands = append(commands, sub.CommandPath())
			}
			sub.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden && !seen[f.Name] && terminal.HasWord(f.Usage, word) {
					seen[f.Name] = true
					flags = append(flags, sub.CommandPath()+" --"+f.Name)
				}
			})
			walk(sub)
		}
	}
	walk(c)
	all := slices.Concat(commands, flags)
	return all[:min(mostMentions, len(all))]
}

// speaking is "; of it speaks signalbox check --fix" for a word that is no command; empty: nothing does.
func speaking(c *cobra.Command, word string) string {
	found := mentions(c, word)
	switch len(found) {
	case 0:
		return ""
	case 1:
		return "; of it speaks " + found[0]
	}
	return "; of it speak " + strings.Join(found[:len(found)-1], ", ") + " and " + found[len(found)-1]
}

// expects is what a command takes, for a flag that it has not: the command that is called so, the flag that speaks of
// the word, or how it is used.
func expects(c *cobra.Command, name string) string {
	for _, sub := range c.Root().Commands() {
		if sub.Name() == name && sub.IsAvailableCommand() {
			return "; " + strings.TrimSuffix(sub.UseLine(), " [flags]") + " is a command: " + sub.Short
		}
	}
	var found []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && terminal.HasWord(f.Usage, name) {
			found = append(found, "--"+f.Name)
		}
	})
	switch {
	case len(found) == 1:
		return "; of it speaks " + found[0]
	case len(found) > 1 && len(found) <= mostMentions:
		return "; of it speak " + strings.Join(found[:len(found)-1], ", ") + " and " + found[len(found)-1]
	}
	return "; expected " + strings.TrimSuffix(c.UseLine(), " [flags]")
}

// longer are the flags of a command, not those of the connection, that begin with a letter which is no flag; empty: none
// do, or too many to guess.
func longer(c *cobra.Command, letter string) string {
	connection := pflag.NewFlagSet("", pflag.ContinueOnError)
	apiserver.Flags().AddFlags(connection)
	var found []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && strings.HasPrefix(f.Name, letter) && connection.Lookup(f.Name) == nil {
			found = append(found, "\"--"+f.Name+"\"")
		}
	})
	if len(found) == 0 || len(found) > mostMentions {
		return ""
	}
	return "; did you mean " + terminal.OrList(found) + "?"
}
