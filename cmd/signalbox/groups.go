package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/check"
)

// groups makes commands that group others answer a word that is none of them, and one that is missing where they do nothing
// by themselves.
func groups(root *cobra.Command) {
	for _, c := range root.Commands() {
		if !c.HasSubCommands() {
			continue
		}
		alone := c.RunE
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 && alone != nil {
				return alone(c, args)
			}
			return needsCommand(c, args)
		}
	}
}

// needsCommand makes a command that only groups others answer a missing or unknown word.
func needsCommand(c *cobra.Command, args []string) error {
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	have := "a command is missing"
	if len(args) > 0 {
		have = fmt.Sprintf("%q is no command", args[0])
	}
	if len(args) > 0 && args[0] == "list" {
		for _, s := range shelves() {
			if strings.HasPrefix(s.Name, c.Name()[:len(c.Name())-1]) { // policy and policies
				return shell.Usagef("%s: %s; %s list %s lists them", c.CommandPath(), have, c.Root().CommandPath(), s.Name)
			}
		}
	}
	if len(args) > 0 && c.Name() == "get" {
		if others := []string{"pods", "pod", "po", "nodes", "node", "no", "events", "all"}; slices.Contains(others, args[0]) {
			return shell.Usagef("kubectl get %s lists those; %s get jobs lists training jobs with their first pod", args[0], c.Root().CommandPath())
		}
		return shell.Usagef("%s: no kind of job is called %q; expected jobs, or a kind of them%s", c.CommandPath(), args[0], check.DidYouMean(args[0], append(names, apiserver.KindWords()...)))
	}
	for _, sub := range c.Commands() {
		if len(args) > 0 && slices.Contains(sub.SuggestFor, args[0]) {
			return shell.Usagef("%s: %s; did you mean %q, which is to %s?", c.CommandPath(), have, sub.Name(), sub.Short)
		}
	}
	if len(args) > 0 && c.Name() == "config" && shell.NamesFile(args[0]) {
		return shell.Usagef("%s: %s; %[1]s check %[3]s reads settings", c.CommandPath(), have, args[0])
	}
	more := ""
	if len(args) > 0 {
		more = cmp.Or(check.DidYouMean(args[0], names).String(), mentioned(c, args[0]))
	}
	return shell.Usagef("%s: %s; expected %s%s", c.CommandPath(), have, terminal.OrList(names), more)
}
