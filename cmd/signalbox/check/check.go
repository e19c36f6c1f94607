// Package check is the command check: jobs are reviewed as the admission webhook does. Start reading at New; the review itself is
// in package review, what it prints in render.
package check

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/fix"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/render"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
)

// New is the command check.
func New(sh *shell.Shell) *cobra.Command {
	from := review.NewFlags()
	files := &input.Flags{Cluster: from.Connection}
	var pages reference.Runbooks
	output, failOn, colour := shell.OneOf("text", "concise", "json", "yaml", "md", "sarif", "junit", "github", "gitlab"), shell.OneOf("error", "warning", "never"), shell.OneOf("auto", "always", "never")
	least := shell.OneOf("note", "warning", "error")
	c := &cobra.Command{
		Use:   "check FILE|DIR|URL|-…|KIND/NAME… [-k DIR] [--snapshot FILE|DIR]",
		Short: "review jobs as the admission webhook does",
		Long: `Check reviews every training job in the files, as the admission webhook would; KIND/NAME
is a job of the cluster, as if it came now.

What it knows of the cluster comes from --snapshot where one is given; else from the
cluster of the current kubeconfig; else, or with --offline, from nowhere, and the checks
that need a cluster say so. Where Signalbox is installed in the cluster, it is asked, by one
dry run of the job with your own rights; else the cluster is listed with them (--ask). With
--server the API server is asked, too, whether it would take the job and one pod of each
role: every webhook of the cluster answers. Policies deny where the namespace enforces, and
warn elsewhere; with --enforce they deny, as CI wants it before the job is in a namespace.

Exit codes: 0 nothing at or above --fail-on · 1 findings or a denial · 2 bad usage or
unreadable input · 3 our own failure · 4 the cluster of the kubeconfig does not answer, or
--require-cluster and what was asked is unknown · 75 the only objection is that the cluster
is busy now, which --disable gang-does-not-fit leaves out.`,
		Example: fmt.Sprintf(`  %[1]s check job.yaml
  %[1]s check -f manifests/ --snapshot cluster.yaml -o sarif
  %[1]s check -k overlays/production --require-cluster
  %[1]s check manifests/ --offline --policy policies/ --enforce
  helm template chart/ | %[1]s check -f - --stdin-filename chart/templates/train.yaml -o github`, sh.Name),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(400) // a short life: collecting early costs more than it saves
			}
			if err := from.Apart(); err != nil {
				return err
			}
			if err := from.Fixable(output.Value); err != nil {
				return err
			}
			from.Cures = output.Value == "sarif" && (from.Fix || !from.Server) // each is a review more, and there each asks the API server
			if err := pages.Wrong(); err != nil {
				return err
			}
			all, err := reviewFiles(c.Context(), sh, files, args, from)
			if err != nil {
				return shell.Own(err)
			}
			found := review.Verdict(all, failOn.Value)
			if n := review.OnlyFrom(all.Jobs, review.Severities[least.Value]); n > 0 {
				sh.Tell("%s below %s not shown", terminal.Count(n, "finding"), least.Value)
			}
			paint := terminal.NewPainter(colour.Value, sh.Out)
			on(pages, all.Jobs)
			if err := render.Check(sh.Out, output.Value, failOn.Value, all.Jobs, all.Troubles, paint); err != nil {
				return shell.Own(fmt.Errorf("write the report: %w", err))
			}
			if err := fix.Write(sh, all.Fixes); err != nil {
				return shell.Own(err)
			}
			if all.Unknown != "" {
				sh.Tell("unknown: %s", all.Unknown)
			}
			return found
		},
	}
	files.Add(c)
	c.ValidArgsFunction = apiserver.CompleteFilesOrJobs(from.Kube)
	from.AddAsk(c)
	from.Add(c)
	from.AddEnforce(c)
	c.Flags().BoolVar(&from.Server, "server", false, "ask the API server, too, whether it would take the job and one pod of each role: a dry run with your own rights")
	c.Flags().BoolVar(&from.Require, "require-cluster", false, "exit code 4 where no cluster was looked at, or the fit is unknown")
	c.Flags().StringSliceVar(&from.Disable, "disable", nil, "`name` of a check that is not wanted this time; repeatable, with commas")
	c.Flags().StringSliceVar(&from.Selected, "select", nil, "`name` of a check; no other is run this time; repeatable, with commas")
	for _, name := range []string{"disable", "select"} {
		_ = c.RegisterFlagCompletionFunc(name, completeChecks) // fails only for a flag that does not exist
	}
	from.AddFix(c)
	pages.Add(c.Flags())
	c.MarkFlagsMutuallyExclusive("server", "snapshot")
	c.MarkFlagsMutuallyExclusive("server", "offline")
	c.MarkFlagsMutuallyExclusive("require-cluster", "offline")
	shell.AddChoice(c, output, "output", "o", "output format")
	shell.AddChoice(c, failOn, "fail-on", "", "severity from which the exit code is 1")
	shell.AddChoice(c, least, "min-severity", "", "severity from which findings are shown; the exit code counts all")
	shell.AddChoice(c, colour, "color", "", "colour of text; NO_COLOR is honoured")
	return c
}

// reviewFiles reads the files and reviews every job in them.
func reviewFiles(ctx context.Context, sh *shell.Shell, files *input.Flags, args []string, from *review.Flags) (*review.Outcome, error) {
	in, err := files.Read(ctx, sh, args)
	if err != nil {
		return nil, err
	}
	w, err := from.Open(ctx, sh, in)
	if err != nil {
		return nil, err
	}
	jobs, err := review.Jobs(ctx, in, w)
	if err != nil {
		return nil, err
	}
	in.Say(sh)
	out := &review.Outcome{Jobs: jobs, Troubles: in.Troubles, Unknown: w.Unknown(jobs, from.Require)}
	if from.Fix && w.Asks && !from.MustAsk() { // a remedy is proven by reviews of changed jobs, of which one listing serves all
		if w, err = from.Listing().Open(ctx, sh, in); err != nil {
			return nil, err
		}
	}
	switch {
	case from.Cures:
		err = fix.Each(ctx, w, jobs)
	case from.Fix:
		out.Fixes, err = fix.For(ctx, w, in, jobs)
	}
	return out, err
}

// completeChecks offers the names of checks.
func completeChecks(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, err := tuning.All()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return all.Names(), cobra.ShellCompDirectiveNoFileComp
}

// on puts the addresses on what reviews found.
func on(r reference.Runbooks, jobs []review.Reviewed) {
	if r == "" {
		return
	}
	for i := range jobs {
		for k := range jobs[i].Findings {
			f := &jobs[i].Findings[k]
			f.Runbook = r.OfFinding(f.Check)
		}
	}
}
