// Package config is the command config, which checks files with settings and prints all that there are.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/notify"
)

// New is the command config.
func New(sh *shell.Shell) *cobra.Command {
	c := &cobra.Command{
		Use:     "config",
		Short:   "check files with settings, and show all settings there are",
		Example: fmt.Sprintf("  %[1]s config show > config.yaml\n  %[1]s config check config.yaml", sh.Name),
	}
	c.AddCommand(newConfigCheck(sh), newConfigShow(sh))
	return c
}

func newConfigShow(sh *shell.Shell) *cobra.Command {
	return &cobra.Command{
		Use:        "show",
		SuggestFor: []string{"view", "print", "dump", "get", "defaults"},
		Short:      "print every setting with its default and what it is for, as a file to begin with",
		Example:    fmt.Sprintf("  %s config show > config.yaml", sh.Name),
		Args:       shell.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := sh.Out.Write(config.File())
			return shell.Own(err)
		},
	}
}

func newConfigCheck(sh *shell.Shell) *cobra.Command {
	return &cobra.Command{
		Use:        "check FILE…|-",
		SuggestFor: []string{"validate", "lint", "verify", "test"},
		Short:      "read files with settings as serve does, and say what is wrong with them",
		Long: `Check reads settings (config.yaml) as serve does: names, values, and the checks that they tune. It reaches
nobody: whether a cluster, a model or a registry that the settings name answers is not looked at.

Exit codes: 0 all files are right · 2 one is not.`,
		Example: fmt.Sprintf("  %s config check config.yaml", sh.Name),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return shell.Usagef("no file to read; expected %s FILE", c.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var wrong []error
			for _, file := range args {
				if found := checkConfig(sh, file); len(found) > 0 {
					wrong = append(wrong, found...)
					continue
				}
				if _, err := fmt.Fprintf(sh.Out, "%s: the settings are right\n", words.VisibleLine(file)); err != nil {
					return shell.Own(err)
				}
			}
			if len(wrong) > 0 {
				return &shell.Exit{Code: shell.ExitUsage, Cause: errors.Join(wrong...)}
			}
			return nil
		},
	}
}

// checkConfig reads a file with settings, or standard input, and builds what they tune. It says all that is wrong.
func checkConfig(sh *shell.Shell, file string) (wrong []error) {
	name := file
	settings, err := config.Config{}, error(nil)
	if file == "-" && sh.In != nil {
		name = "standard input"
		settings, err = config.Read(sh.In)
	} else {
		settings, err = config.Load(file)
	}
	many, readable := errors.AsType[config.Mistakes](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []error{fmt.Errorf("%s: no such file; expected a file with settings", file)}
	case err != nil && !readable:
		return []error{fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "read config "+file+": "))}
	}
	_, untuned := tuning.Of(settings.Checks)
	_, covered := tuning.SelectedKinds(settings.Kinds)
	for _, err := range []error{untuned, covered} {
		if err == nil {
			continue
		}
		all, ok := errors.AsType[config.Mistakes](err)
		if !ok {
			all = config.Mistakes{err.Error()}
		}
		for _, one := range all {
			if !slices.Contains(many, one) {
				many = append(many, one)
			}
		}
	}
	for i, r := range settings.Notifications.Receivers {
		if err := notify.Wrong(notify.Receiver{Template: r.Template}); err != nil {
			many = append(many, fmt.Sprintf("notifications.receivers[%d].template %s; expected text/template over .Kind .Namespace .Name and others of a failure", i, strings.TrimPrefix(err.Error(), "template: template:")))
		}
	}
	for _, m := range many {
		wrong = append(wrong, fmt.Errorf("%s: %s", name, m))
	}
	return wrong
}
