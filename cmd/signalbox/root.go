package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/audit"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/board"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/bundle"
	checkcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/check"
	configcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/config"
	diagnosecmd "github.com/signalbox-dev/signalbox/cmd/signalbox/diagnose"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/doctor"
	fitcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/fit"
	getcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/get"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/learn"
	mcpcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/mcp"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/model"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/policy"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/schema"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/serve"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/snapshot"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/version"
	"github.com/signalbox-dev/signalbox/preflight/check"
)

// newRoot is the command tree. Everything it needs comes through the shell.
func newRoot(sh *shell.Shell) *cobra.Command {
	root := &cobra.Command{
		Use:   sh.Name,
		Short: "review training jobs before they run, and explain why they failed",
		Long: `Signalbox reviews distributed training jobs (PyTorchJob, TrainJob, MPIJob, JobSet …)
before they run, and explains why they wait or fail.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			return noCommand(c, sh, args[0])
		},
	}
	if words := strings.Fields(sh.Name); len(words) == 2 {
		// kubectl-signalbox, so that usage lines and completion show what the user types
		root.Use = words[1]
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: sh.Name}
	}
	root.SetIn(sh.In)
	root.SetOut(sh.Out)
	root.SetErr(sh.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if c == root {
			if word := firstWord(sh.Typed); word != "" {
				return noCommand(root, sh, word)
			}
			return shell.Usagef("%s, and no command is given; expected one, as in: %s get jobs -n NAMESPACE; see %[2]s --help", terminal.OneLine(err.Error()), sh.Name)
		}
		if at := slices.Index(sh.Typed, c.Name()); at >= 0 && c.HasAvailableSubCommands() {
			if word := firstWord(sh.Typed[at+1:]); word != "" {
				return needsCommand(c, []string{word}) // which no flag of a command can be read before
			}
		}
		return shell.Usagef("%s%s; see %s --help", terminal.OneLine(err.Error()), flagMeant(c, err), c.CommandPath())
	})
	root.Version = build.Read().String()
	root.SetVersionTemplate("{{.Version}}\n")
	list := reference.NewList(sh, shelves())
	getcmd.AddOutcomes(sh, list)
	list.AddCommand(doctor.NewNamespaces(sh))
	root.AddCommand(
		checkcmd.New(sh), fitcmd.New(sh), getcmd.New(sh), audit.New(sh), snapshot.New(sh), diagnosecmd.New(sh), bundle.New(sh), policy.New(sh), configcmd.New(sh), diagnosecmd.NewPrompt(sh), learn.New(sh), model.New(sh), serve.New(sh),
		list, reference.NewExplain(sh, shelves()), schema.New(sh), doctor.New(sh), mcpcmd.New(sh, run), board.New(sh), newMan(sh), version.New(sh),
	)
	root.InitDefaultCompletionCmd()
	groups(root)
	return root
}

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

// library is read once: a name that is none is looked for in all of it, in several ways.
var library struct {
	once    sync.Once
	shelves []reference.Shelf
}

// shelves are the parts of the reference, in the order of the documentation.
func shelves() []reference.Shelf {
	library.once.Do(func() {
		library.shelves = reference.NewShelves(func() *cobra.Command { return newRoot(&shell.Shell{Name: "signalbox"}) }, serve.Metrics)
	})
	return slices.Clone(library.shelves)
}

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
		return "; the answer prints the decisive lines with those around them, and kubectl logs POD a log whole"
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
	elsewhere := ""
	if len(args) > 0 && check.DidYouMean(args[0], names).Name() == "" {
		elsewhere = speaking(c, args[0])
	}
	return shell.Usagef("%s: %s; expected %s%s", c.CommandPath(), have, terminal.OrList(names), elsewhere)
}
