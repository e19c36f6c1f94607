package main

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/audit"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/board"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/bundle"
	checkcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/check"
	configcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/config"
	diagnosecmd "github.com/signalbox-dev/signalbox/cmd/signalbox/diagnose"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/doctor"
	fitcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/fit"
	getcmd "github.com/signalbox-dev/signalbox/cmd/signalbox/get"
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
)

// newRoot is the command tree. Everything it needs comes through the shell.
func newRoot(sh *shell.Shell) *cobra.Command {
	root := &cobra.Command{
		Use:   sh.Name,
		Short: "review training jobs before they run, and explain why they failed",
		Long: `Signalbox reviews distributed training jobs (PyTorchJob, TrainJob, MPIJob, JobSet …)
before they run, and explains why they wait or fail.`,
		Example: fmt.Sprintf(`  %[1]s check job.yaml                      what is wrong with a manifest
  %[1]s fit job.yaml                        whether all its pods fit, and where
  %[1]s diagnose pytorchjob/train -n ml     why it waits or failed
  %[1]s diagnose logs/                      the same from files, without a cluster
  %[1]s get jobs -A                         every training job, what hurts first`, sh.Name),
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
		meant := flagMeant(c, err)
		if !strings.HasSuffix(meant, "?") {
			meant += "; see " + c.CommandPath() + " --help"
		}
		return shell.Usagef("%s%s", terminal.OneLine(err.Error()), meant)
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
	root.SetHelpCommand(newHelp(sh))
	root.InitDefaultHelpCmd()
	headings(root)
	groups(root)
	useHelp(root, sh)
	if len(sh.Typed) > 0 && strings.HasPrefix(sh.Typed[0], cobra.ShellCompRequestCmd) {
		unquoteFlags(root)
	}
	return root
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
