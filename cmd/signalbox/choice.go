package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// choice is a flag with a few values. It implements pflag.Value.
type choice struct {
	value   string
	choices []string
}

func oneOf(first string, more ...string) *choice {
	return &choice{first, append([]string{first}, more...)}
}

func (c *choice) String() string { return c.value }

func (c *choice) Type() string { return strings.Join(c.named(), "|") }

// named are the choices that can be written.
func (c *choice) named() []string {
	return slices.DeleteFunc(slices.Clone(c.choices), func(s string) bool { return s == "" })
}

// Set takes a choice in any case.
func (c *choice) Set(s string) error {
	short := map[string]string{"markdown": "md", "yml": "yaml"}[s]
	s = cmp.Or(short, s)
	at := slices.IndexFunc(c.choices, func(choice string) bool { return strings.EqualFold(choice, s) })
	form, _, _ := strings.Cut(s, "=")
	if at < 0 && slices.Contains([]string{"jsonpath", "custom-columns", "go-template"}, form) && slices.Contains(c.choices, "json") {
		return fmt.Errorf("expected %s; -o json | jq picks fields", terminal.OrList(c.named()))
	}
	if at < 0 {
		return fmt.Errorf("expected %s", terminal.OrList(c.named()))
	}
	c.value = c.choices[at]
	return nil
}

// complete offers the values to the shell's completion.
func (c *choice) complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return c.named(), cobra.ShellCompDirectiveNoFileComp
}

func addChoice(c *cobra.Command, to *choice, name, short, usage string) {
	c.Flags().VarP(to, name, short, usage)
	_ = c.RegisterFlagCompletionFunc(name, to.complete) // fails only for a flag that does not exist
}

// noArgs is cobra.NoArgs with an answer that helps.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, flag := range []string{"filename", "policy"} { // what an argument would be elsewhere
		if c.Flags().Lookup(flag) != nil {
			return usagef("%s takes no argument %q; did you mean --%s %s?", c.CommandPath(), args[0], flag, args[0])
		}
	}
	return usagef("%s takes no argument %q", c.CommandPath(), args[0])
}

func hide(c *cobra.Command, flag string) { _ = c.Flags().MarkHidden(flag) } // fails only for a flag that does not exist
