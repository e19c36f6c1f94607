package main

import (
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
	for _, i := range instead {
		if slices.Contains(strings.Fields(i.words), word) {
			return shell.Usagef("no command is called %q; %s", word, fmt.Sprintf(i.says, sh.Name))
		}
	}
	if meant := check.DidYouMean(word, names).String(); meant != "" {
		return shell.Usagef("no command is called %q%s", word, meant)
	}
	return shell.Usagef("no command is called %q%s; see %s --help", word, mentioned(root, word), sh.Name)
}

// instead are the commands that do what words ask for which other programs have and Signalbox has not.
var instead = []struct{ words, says string }{
	{"signature signatures", "%[1]s diagnose --log FILE --signatures FOLDER tries signatures of your own, %[1]s explain --line LINE says which of the built-in ones know a line"},
	{"validate lint review", "%[1]s check -f FILE reviews jobs, %[1]s config check FILE reads settings"},
	{"logs", "%[1]s diagnose KIND/NAME reads the logs of a job, %[1]s diagnose --log FILE those of a file"},
	{"describe events why", "%[1]s diagnose KIND/NAME says why a job waits or failed"},
	{"top ps jobs status watch", "%[1]s get jobs lists jobs with health and devices, with -w as they change, and %[1]s board shows them in a browser"},
	{"apply create submit run", "%[1]s check FILE reviews a job, %[1]s fit FILE says whether it fits now, and kubectl apply submits it"},
	{"rule", "%[1]s explain NAME says what a check means, %[1]s list checks shows all"},
}

// insteadFlags are the flags that do what flags ask for which kubectl and other programs have: of commands that have a flag, or are
// called so or below one that is; empty: of all.
var insteadFlags = []struct{ names, having, commands, says string }{
	{"port", "listen", "", "--listen 127.0.0.1:PORT sets it"},
	{"only", "select", "", "--select NAME runs no other check"},
	{"ignore exclude", "disable", "", "--disable NAME leaves a check out"},
	{"format out", "output", "", "-o FORM sets it: {forms}"},
	{"all", "", "diagnose", "{root} get jobs -o name | xargs {root} diagnose looks at all of them"},
	{"strict werror warnings-as-errors", "fail-on", "", "--fail-on warning makes warnings fail, too"},
	{"dry-run", "", "fit diagnose audit", "{command} changes nothing on the cluster unless a flag says so"},
	{"previous tail since container all-containers", "", "diagnose", "the logs of all pods and containers are read, of runs before a restart, too"},
	{"severity kind category owner needs", "", "list", "its words filter: {command} error"},
	{"logs", "", "diagnose", "--log FILE reads a log, a folder or a .tgz of them; the answer prints the decisive lines, and kubectl logs POD a log whole"},
	{"no-cluster", "offline", "", "--offline asks no cluster"},
	{"add-node add-nodes node nodes", "", "fit", "--snapshot cluster.yaml --snapshot more-nodes.yaml asks about a cluster with more nodes"},
	{"failed", "healthy", "", "--state Failed lists those"},
	{"running", "healthy", "", "--state Running lists those"},
	{"unhealthy", "healthy", "", "--healthy No lists those"},
	{"max scale", "set", "", "--set ROLE.replicas=1,2,4,8 asks about each, and marks the largest that fits now"},
	{"by", "", "jobs", "--group-by prints totals by category, owner, queue or namespace"},
	{"exit-zero", "fail-on", "", "--fail-on never makes findings no failure"},
	{"quiet q", "min-severity", "", "--min-severity error shows no more than errors, and the exit code says the rest"},
	{"statistics", "", "", "{root} audit adds up what is found by check, policy and namespace"},
	{"field-selector", "state", "", "--state, --healthy, --category and --owner filter jobs"},
	{"A all-namespaces", "", "check fit", "{root} audit reviews every job of the cluster"},
	{"o output", "", "board", "{root} get jobs -o html and {root} diagnose KIND/NAME -o html write a page as a file"},
	{"f", "", "diagnose", "a job is named by KIND/NAME, a saved one by --bundle FILE"},
	{"replicas gpus cpu memory", "set", "", "--set ROLE.{name}=VALUE asks what if"},
	{"gpu", "set", "", "--set ROLE.gpus=VALUE asks what if"},
}

// insteadOfFlag is what does that which a flag asks for; empty: nothing is known.
func insteadOfFlag(c *cobra.Command, name string) string {
	forms := ""
	if f := c.Flags().Lookup("output"); f != nil {
		if forms = f.Value.Type(); slices.Contains(strings.Split(forms, "|"), name) {
			return "; -o " + name + " prints it"
		}
	}
	for _, i := range insteadFlags {
		of := strings.Fields(i.commands)
		if slices.Contains(strings.Fields(i.names), name) && (i.having == "" || c.Flags().Lookup(i.having) != nil) &&
			(len(of) == 0 || slices.Contains(of, c.Name()) || c.HasParent() && slices.Contains(of, c.Parent().Name())) {
			return "; " + strings.NewReplacer("{root}", c.Root().CommandPath(), "{command}", c.CommandPath(), "{name}", name, "{forms}", forms).Replace(i.says)
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
	if does := insteadOfFlag(c, name); does != "" {
		return does
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

// mentions are the commands and flags below a command that mention a word which is none of their names: "diff" is what
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

// mostMentions is how many places are named that mention a word; the others are counted.
const mostMentions = 3

// mentioned is "; signalbox check --fix mentions it" for a word that is no command; empty: nothing does.
func mentioned(c *cobra.Command, word string) string {
	found := mentions(c, word)
	if n := len(found) - mostMentions; n > 0 {
		found = append(found[:mostMentions], fmt.Sprintf("%d more", n))
	}
	return mentionedBy(found)
}

// mentionedBy says which places mention a word; empty: none does.
func mentionedBy(found []string) string {
	switch last := len(found) - 1; last {
	case -1:
		return ""
	case 0:
		return "; " + found[0] + " mentions it"
	default:
		return "; " + strings.Join(found[:last], ", ") + " and " + found[last] + " mention it"
	}
}

// expects is what a command takes, for a flag that it has not: the command that is called so, the flag that mentions
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
	if len(found) > 0 && len(found) <= mostMentions {
		return mentionedBy(found)
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
