package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
)

// newMan writes the manual that packages bring along.
func newMan(sh *shell.Shell) *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "write manual pages into a folder",
		Long:   "Man writes one manual page for each command into a folder. Their date is SOURCE_DATE_EPOCH, where it is set.",
		Hidden: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return shell.Usagef("%s takes one folder to write into; %d given", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			at := sh.Now()
			if seconds := os.Getenv("SOURCE_DATE_EPOCH"); seconds != "" {
				n, err := strconv.ParseInt(seconds, 10, 64)
				if err != nil {
					return shell.Usagef("read SOURCE_DATE_EPOCH: %w", err)
				}
				at = time.Unix(n, 0)
			}
			at = at.UTC()
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return shell.Usagef("write manual pages: %w", err)
			}
			root := c.Root()
			root.DisableAutoGenTag = true
			if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "signalbox " + build.Read().Version, Manual: "Signalbox", Date: &at}, args[0]); err != nil {
				return shell.Own(fmt.Errorf("write manual pages: %w", err))
			}
			return nil
		},
	}
}
