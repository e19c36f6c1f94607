package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/collect"
)

func newBundle(sh *shell) *cobra.Command {
	var to string
	kube := kubeFlags()
	c := &cobra.Command{
		Use:     "bundle KIND/NAME -o FILE.tgz",
		Short:   "save the evidence of a job, with secrets masked",
		Example: fmt.Sprintf("  %[1]s bundle pytorchjob/train -n ml -o train.tgz\n  %[1]s diagnose --bundle train.tgz", sh.name),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%s takes one KIND/NAME; have %d arguments", c.CommandPath(), len(args))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if to == "" {
				return usagef("no file to write; expected -o FILE.tgz, or -o -")
			}
			evidence, _, err := liveCase(c.Context(), sh, kube, args[0])
			if err != nil {
				return own(err)
			}
			save := func(w io.Writer) error { return collect.Save(evidence, w) }
			if to == "-" {
				return own(save(sh.out))
			}
			if err := saveFile(to, save); err != nil {
				return own(err)
			}
			sh.tell("%s: %s, %s, %s", to,
				count(len(evidence.Pods), "pod"), count(len(evidence.Events), "event"), count(len(evidence.Logs), "log"))
			for _, m := range evidence.Missing {
				sh.tell("note: not read: %s", oneLine(m))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&to, "output", "o", "", "`file` to write (.tgz); - is standard output")
	kube.AddFlags(c.Flags())
	return c
}
