package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/check"
)

// noCommand says that a word is no command, and which one is meant.
func noCommand(root *cobra.Command, sh *shell.Shell, word string) error {
	var names []string
	for _, sub := range root.Commands() {
		names = append(names, sub.Name())
	}
	if instead := insteadOf(word); instead != "" {
		return shell.Usagef("no command is called %q; %s", word, fmt.Sprintf(instead, sh.Name))
	}
	meant := check.DidYouMean(word, names).String()
	return shell.Usagef("no command is called %q%s; see %s --help", word, cmp.Or(meant, speaking(root, word)), sh.Name)
}

// insteadOf is the command that does what a word asks for which other programs have and Signalbox has not.
func insteadOf(word string) string {
	switch word {
	case "signature", "signatures":
		return "%[1]s diagnose --log FILE --signatures FOLDER tries signatures of your own, %[1]s explain --line LINE says which of the built-in ones know a line"
	case "validate", "lint", "review":
		return "%[1]s check -f FILE reviews jobs, %[1]s config check FILE reads settings"
	case "logs":
		return "%[1]s diagnose KIND/NAME reads the logs of a job, %[1]s diagnose --log FILE those of a file"
	case "describe", "events", "why":
		return "%[1]s diagnose KIND/NAME says why a job waits or failed"
	case "top", "ps", "jobs", "status", "watch":
		return "%[1]s get jobs lists jobs with health and devices, with -w as they change, and %[1]s board shows them in a browser"
	case "apply", "create", "submit", "run":
		return "%[1]s check FILE reviews a job, %[1]s fit FILE says whether it fits now, and kubectl apply submits it"
	case "rule":
		return "%[1]s explain NAME says what a check means, %[1]s list checks shows all"
	}
	return ""
}

// insteadOfFlag is the flag that does what a flag asks for which kubectl and other programs have.
func insteadOfFlag(c *cobra.Command, name string) string {
	if f := c.Flags().Lookup("output"); f != nil && slices.Contains(strings.Split(f.Value.Type(), "|"), name) {
		return "; -o " + name + " prints it"
	}
	switch {
	case name == "port" && c.Flags().Lookup("listen") != nil:
		return "; --listen 127.0.0.1:PORT sets it"
	case name == "only" && c.Flags().Lookup("select") != nil:
		return "; --select NAME runs no other check"
	case (name == "ignore" || name == "exclude") && c.Flags().Lookup("disable") != nil:
		return "; --disable NAME leaves a check out"
	case (name == "format" || name == "out") && c.Flags().Lookup("output") != nil:
		return "; -o FORM sets it: " + c.Flags().Lookup("output").Value.Type()
	case name == "all" && c.Name() == "diagnose":
		return fmt.Sprintf("; %[1]s get jobs -o name | xargs %[1]s diagnose looks at all of them", c.Root().CommandPath())
	case slices.Contains([]string{"strict", "werror", "warnings-as-errors"}, name) && c.Flags().Lookup("fail-on") != nil:
		return "; --fail-on warning makes warnings fail, too"
	case name == "dry-run" && slices.Contains([]string{"fit", "diagnose", "audit"}, c.Name()):
		return "; " + c.CommandPath() + " changes nothing on the cluster unless a flag says so"
	case slices.Contains([]string{"previous", "tail", "since", "container", "all-containers"}, name) && c.Name() == "diagnose":
		return "; the logs of all pods and containers are read, of runs before a restart, too"
	case slices.Contains([]string{"severity", "kind", "category", "owner", "needs"}, name) && c.Parent() != nil && c.Parent().Name() == "list":
		return fmt.Sprintf("; its words filter: %s error", c.CommandPath())
	case name == "logs" && c.Name() == "diagnose":
		return "; --log FILE reads a log, a folder or a .tgz of them; the answer prints the decisive lines, and kubectl logs POD a log whole"
	case name == "no-cluster" && c.Flags().Lookup("offline") != nil:
		return "; --offline asks no cluster"
	case slices.Contains([]string{"add-node", "add-nodes", "node", "nodes"}, name) && c.Name() == "fit":
		return "; --snapshot cluster.yaml --snapshot more-nodes.yaml asks about a cluster with more nodes"
	case (name == "failed" || name == "running" || name == "unhealthy") && c.Flags().Lookup("healthy") != nil:
		return map[string]string{"failed": "; --state Failed", "running": "; --state Running", "unhealthy": "; --healthy No"}[name] + " lists those"
	case (name == "max" || name == "scale") && c.Flags().Lookup("set") != nil:
		return "; --set ROLE.replicas=1,2,4,8 asks about each, and marks the largest that fits now"
	case name == "by" && c.Name() == "jobs":
		return "; --group-by prints totals by category, owner, queue or namespace"
	case name == "exit-zero" && c.Flags().Lookup("fail-on") != nil:
		return "; --fail-on never makes findings no failure"
	case (name == "quiet" || name == "q") && c.Flags().Lookup("min-severity") != nil:
		return "; --min-severity error shows no more than errors, and the exit code says the rest"
	case name == "statistics" && c.Root() != c:
		return fmt.Sprintf("; %s audit adds up what is found by check, policy and namespace", c.Root().CommandPath())
	case name == "field-selector" && c.Flags().Lookup("state") != nil:
		return "; --state, --healthy, --category and --owner filter jobs"
	case (name == "A" || name == "all-namespaces") && (c.Name() == "check" || c.Name() == "fit"):
		return fmt.Sprintf("; %s audit reviews every job of the cluster", c.Root().CommandPath())
	case (name == "o" || name == "output") && c.Name() == "board":
		return fmt.Sprintf("; %[1]s get jobs -o html and %[1]s diagnose KIND/NAME -o html write a page as a file", c.Root().CommandPath())
	case name == "f" && c.Name() == "diagnose":
		return "; a job is named by KIND/NAME, a saved one by --bundle FILE"
	}
	switch name {
	case "replicas", "gpus", "gpu", "cpu", "memory":
		if c.Flags().Lookup("set") != nil {
			if name == "gpu" {
				name = "gpus" // the field of --set
			}
			return fmt.Sprintf("; --set ROLE.%s=VALUE asks what if", name)
		}
	}
	return ""
}

// firstWord is the first argument that is no flag and not the value of a short one: -n ml.
func firstWord(args []string) string {
	for i, a := range args {
		if !strings.HasPrefix(a, "-") && (i == 0 || len(args[i-1]) != 2 || args[i-1][0] != '-') {
			return a
		}
	}
	return ""
}

// flagMeant is "; did you mean --offline?" for a flag that does not exist.
func flagMeant(c *cobra.Command, err error) string {
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return otherFlag(c, wrong.GetFlag(), wrong.GetValue())
	}
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	name := unknown.GetSpecifiedName()
	if instead := insteadOfFlag(c, name); instead != "" {
		return instead
	}
	if len(name) > 1 {
		near := check.DidYouMean(name, names).Name()
		if at := slices.IndexFunc(names, func(n string) bool {
			return len(name) > 2 && (strings.HasPrefix(n, name) || strings.HasPrefix(name, n+"-"))
		}); at >= 0 {
			near = names[at]
		}
		if near != "" {
			return fmt.Sprintf("; did you mean \"--%s\"?", near)
		}
		return expects(c, name)
	}
	return longer(c, name)
}

// otherFlag is the flag of a command that takes a value which another one refused.
func otherFlag(c *cobra.Command, refused *pflag.Flag, value string) (meant string) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		takes, ok := f.Value.(*shell.Choice)
		if ok && f != refused && !f.Hidden && value != "" && slices.ContainsFunc(takes.Choices, func(one string) bool { return strings.EqualFold(one, value) }) {
			meant = fmt.Sprintf("; --%s takes %s", f.Name, value)
		}
	})
	return meant
}

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
	return slices.Concat(commands, flags)
}

// mostMentions is how many places are named that speak of a word; the others are counted.
const mostMentions = 3

// speaking is "; of it speaks signalbox check --fix" for a word that is no command; empty: nothing does.
func speaking(c *cobra.Command, word string) string {
	found := mentions(c, word)
	switch len(found) {
	case 0:
		return ""
	case 1:
		return "; of it speaks " + found[0]
	}
	if n := len(found) - mostMentions; n > 0 {
		found = append(found[:mostMentions], fmt.Sprintf("%d more", n))
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
