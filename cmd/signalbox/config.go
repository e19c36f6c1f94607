package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/config"
)

func newConfig(sh *shell) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "check files with settings, and show all settings there are",
		Args:  cobra.ArbitraryArgs,
		RunE:  needsCommand,
	}
	c.AddCommand(newConfigCheck(sh), newConfigShow(sh))
	return c
}

func newConfigShow(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use:        "show",
		SuggestFor: []string{"view", "print", "dump", "get", "defaults"},
		Short:      "print every setting with its default and what it is for, as a file to begin with",
		Args:       noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := sh.out.Write(config.File())
			return own(err)
		},
	}
}

func newConfigCheck(sh *shell) *cobra.Command {
	return &cobra.Command{
		Use:        "check FILE…|-",
		SuggestFor: []string{"validate", "lint", "verify", "test"},
		Short:      "read files with settings as serve does, and say what is wrong with them",
		Long: `Check reads settings (config.yaml) as serve does: names, values, and the checks that they tune. It reaches
nobody: whether a cluster, a model or a registry that the settings name answers is not looked at.

Exit codes: 0 all files are right · 2 one is not.`,
		Example: fmt.Sprintf("  %s config check config.yaml", sh.name),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("no file to read; expected %s FILE", c.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			var wrong []error
			for _, file := range args {
				if err := sh.checkConfig(file); err != nil {
					wrong = append(wrong, err)
					continue
				}
				if _, err := fmt.Fprintf(sh.out, "%s: the settings are right\n", visibleLine(file)); err != nil {
					return own(err)
				}
			}
			if len(wrong) > 0 {
				return &exit{exitUsage, errors.Join(wrong...)}
			}
			return nil
		},
	}
}

// checkConfig reads a file with settings, or standard input, and builds what they tune.
func (sh *shell) checkConfig(file string) error {
	if file == "-" && sh.in != nil {
		settings, err := config.Read(sh.in)
		if err == nil {
			_, err = tune(settings.Checks)
		}
		if err != nil {
			return fmt.Errorf("standard input: %w", err)
		}
		return nil
	}
	settings, err := config.Load(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file; expected a file with settings", file)
	case err != nil:
		return err
	}
	if _, err := tune(settings.Checks); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
