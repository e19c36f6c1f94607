// Package bundle is the command bundle, which saves the evidence about a job.
package bundle

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
)

// New is the command bundle.
func New(sh *shell.Shell) *cobra.Command {
	var to string
	kube := apiserver.Flags()
	c := &cobra.Command{
		Use:     "bundle KIND/NAME -o FILE.tgz|FILE.zip",
		Short:   "save the evidence of a job, with secrets masked",
		Example: fmt.Sprintf("  %[1]s bundle pytorchjob/train -n ml -o train.tgz\n  %[1]s diagnose --bundle train.tgz", sh.Name),
		Args: func(c *cobra.Command, args []string) error {
			switch targets, err := apiserver.ReadTargets(args); {
			case len(args) == 0:
				return shell.Usagef("%s takes one job; expected KIND/NAME", c.CommandPath())
			case err != nil:
				return err
			case len(targets) > 1:
				return shell.Usagef("%s takes one job, and %d are named; expected KIND/NAME", c.CommandPath(), len(targets))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if to == "" {
				return shell.Usagef("no file to write; expected -o FILE.tgz, or -o -")
			}
			targets, err := apiserver.ReadTargets(args)
			if err != nil {
				return err
			}
			live, err := apiserver.Reach(c.Context(), kube, "")
			if err != nil {
				return shell.Own(err)
			}
			evidence, err := live.CaseOf(c.Context(), sh, targets[0])
			if err != nil {
				return shell.Own(err)
			}
			save := func(w io.Writer) error { return collect.Save(evidence, w) }
			if strings.HasSuffix(strings.ToLower(to), ".zip") {
				save = func(w io.Writer) error { return collect.SaveZip(evidence, w) }
			}
			if to == "-" {
				return shell.Own(save(sh.Out))
			}
			if err := shell.SaveFile(to, save); err != nil {
				return shell.Own(err)
			}
			sh.Tell("%s: %s, %s, %s", to,
				terminal.Count(len(evidence.Pods), "pod"), terminal.Count(len(evidence.Events), "event"), terminal.Count(len(evidence.Logs), "log"))
			for _, m := range evidence.Missing {
				sh.Tell("note: not read: %s", terminal.OneLine(m))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "`file` to write (.tgz or .zip); - is standard output")
	kube.AddFlags(c.Flags())
	apiserver.CompleteCluster(c, kube)
	c.ValidArgsFunction = apiserver.CompleteJobs(kube)
	return c
}
