package shell

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
)

// Choice is a flag with a few values. It implements pflag.Value.
type Choice struct {
	Value   string
	Choices []string
}

// OneOf is a choice among some values, of which the first holds where none is given.
func OneOf(first string, more ...string) *Choice {
	return &Choice{first, append([]string{first}, more...)}
}

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value: the choices, for help.
func (c *Choice) Type() string { return strings.Join(c.named(), "|") }

// named are the choices that can be written.
func (c *Choice) named() []string {
	return slices.DeleteFunc(slices.Clone(c.Choices), func(s string) bool { return s == "" })
}

// Set takes a choice in any case.
func (c *Choice) Set(s string) error {
	short := map[string]string{"markdown": "md", "yml": "yaml"}[s]
	s = cmp.Or(short, s)
	at := slices.IndexFunc(c.Choices, func(choice string) bool { return strings.EqualFold(choice, s) })
	form, _, _ := strings.Cut(s, "=")
	if at < 0 && slices.Contains([]string{"jsonpath", "custom-columns", "go-template"}, form) && slices.Contains(c.Choices, "json") {
		return fmt.Errorf("expected %s; -o json | jq picks fields", terminal.OrList(c.named()))
	}
	if at < 0 {
		return fmt.Errorf("expected %s", terminal.OrList(c.named()))
	}
	c.Value = c.Choices[at]
	return nil
}

// complete offers the values to the shell's completion.
func (c *Choice) complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return c.named(), cobra.ShellCompDirectiveNoFileComp
}

// widestChoice is how many columns the values of a flag take beside its name; what is wider stands in its description, or the
// descriptions of all flags begin far to the right.
const widestChoice = 24

// AddChoice adds a choice as a flag, with its values for completion.
func AddChoice(c *cobra.Command, to *Choice, name, short, usage string) {
	if what, ok := strings.CutPrefix(usage, "output format"); ok && len(to.Type()) > widestChoice {
		usage = "output `format`: " + terminal.OrList(to.named()) + what
	}
	c.Flags().VarP(to, name, short, usage)
	_ = c.RegisterFlagCompletionFunc(name, to.complete) // fails only for a flag that does not exist
}

// NoArgs is cobra.NoArgs with an answer that helps.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, flag := range []string{"filename", "policy"} { // what an argument would be elsewhere
		if c.Flags().Lookup(flag) != nil {
			return Usagef("%s takes no argument %q; did you mean --%s %s?", c.CommandPath(), args[0], flag, args[0])
		}
	}
	return Usagef("%s takes no argument %q", c.CommandPath(), args[0])
}

// Hide leaves a flag out of what --help lists.
func Hide(c *cobra.Command, flag string) { _ = c.Flags().MarkHidden(flag) } // fails only for a flag that does not exist
