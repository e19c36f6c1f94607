// Package learn is the command learn, which makes drafts of signatures of what a model named and somebody confirmed.
package learn

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/words"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/learn"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// New is the command learn.
func New(sh *shell.Shell) *cobra.Command {
	var out, since string
	c := &cobra.Command{
		Use:   "learn FILE… --out DIR",
		Short: "make drafts of signatures from what a model named as the cause and somebody confirmed",
		Long: `Learn reads jobs as kubectl writes them (YAML or JSON, lists too; - is a pipe). Of each that carries a line which
a model named as the cause and the rules let stand, and the annotation signalbox.dev/confirmed (yes, or the category that it
really was), it makes a draft of a signature with fixtures: DIR/<name>.yaml and DIR/<name>.txtar. Lines of one form are one
draft. What a signature knows already, and files that are there, are passed over. Nobody is asked.

Exit codes: 0 done · 2 bad usage or unreadable input · 3 our own failure.`,
		Example: fmt.Sprintf("  kubectl annotate pytorchjob/train -n ml signalbox.dev/confirmed=yes\n  kubectl get pytorchjobs -A -o yaml | %s learn - --out drafts", sh.Name),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return shell.Usagef("nothing to learn from; expected FILE…, or - for a pipe")
			case out == "":
				return shell.Usagef("--out is missing; expected the folder that drafts go to")
			}
			return shell.Own(learnFrom(sh, args, out, since))
		},
	}
	c.Flags().StringVar(&out, "out", "", "`folder` that drafts go to")
	c.Flags().StringVar(&since, "since", "0.1", "`version` that the drafts say they are from")
	return c
}

func learnFrom(sh *shell.Shell, files []string, out, since string) error {
	var all []learn.Confirmed
	jobs := 0
	sources, err := manifest.Sources(files, sh.In)
	if err != nil {
		return &shell.Exit{Code: shell.ExitUsage, Cause: err}
	}
	for _, s := range sources {
		for d, err := range s.Documents() {
			switch {
			case err != nil:
				return &shell.Exit{Code: shell.ExitUsage, Cause: err}
			case d.List:
				continue
			}
			jobs++
			if c, ok := confirmedOn(d.Object); ok {
				all = append(all, c)
			}
		}
	}
	catalog, err := signature.Builtin()
	if err != nil {
		return fmt.Errorf("read signatures: %w", err)
	}
	drafts, skipped := learn.Drafts(all, catalog, since)
	if len(drafts) > 0 {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return fmt.Errorf("write drafts: %w", err)
		}
	}
	for _, d := range drafts {
		file := filepath.Join(out, d.ID+".yaml")
		switch err := writeNew(file, d.YAML); {
		case errors.Is(err, os.ErrExist):
			fmt.Fprintf(sh.Out, "passed over: %s is there already\n", terminal.FileName(file))
			continue
		case err != nil:
			return fmt.Errorf("write drafts: %w", err)
		}
		if err := os.WriteFile(filepath.Join(out, d.ID+".txtar"), d.Fixtures, 0o644); err != nil {
			return fmt.Errorf("write drafts: %w", err)
		}
		fmt.Fprintf(sh.Out, "%s: from %s\n", terminal.FileName(file), words.VisibleLine(strings.Join(d.Jobs, ", ")))
	}
	for _, s := range skipped {
		fmt.Fprintf(sh.Out, "passed over: %s: %s\n", words.VisibleLine(s.Job), words.VisibleLine(s.Why))
	}
	fmt.Fprintf(sh.Out, "%d of %d objects carry a confirmed nomination; %s\n", len(all), jobs, terminal.Count(len(drafts), "draft"))
	return nil
}

// writeNew writes a file that is not there yet.
func writeNew(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// confirmedOn is the confirmed nomination of a job; ok is false where there is none.
func confirmedOn(u *unstructured.Unstructured) (learn.Confirmed, bool) {
	n, ok := controller.NominatedOn(u.GetAnnotations())
	if !ok {
		return learn.Confirmed{}, false
	}
	kind := signature.Log
	if strings.HasPrefix(string(n.Line), "event/") {
		kind = signature.Event
	}
	return learn.Confirmed{Job: u.GetNamespace() + "/" + u.GetName(), Text: n.Text, Category: n.Category, Kind: kind, Names: []string{u.GetName()}}, true
}
