package policy

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

func newPolicyReplay(sh *shell.Shell) *cobra.Command {
	var dir string
	var folders []string
	since := "30d"
	mode, output := shell.OneOf("enforce", "warn", "as-it-was"), shell.OneOf("text", "json")
	c := &cobra.Command{
		Use:   "replay --decisions DIR --policy DIR [--since 30d]",
		Short: "ask policies about reviews that were recorded",
		Long: `Policy replay asks the policies in the folders about every review that was recorded since then
(policies.decisions of the configuration), as if all namespaces enforced, and prints who would have been
denied: by user, namespace and policy, with the GPUs asked for and the GPU hours that the jobs held, as far
as later reviews have recorded that. Dry runs are left out. A policy that reads what was not recorded is
undecided.

Exit codes: 0 nobody would have been denied · 1 somebody · 2 bad usage, decisions that cannot be read, or a
policy that does not load.`,
		Example: fmt.Sprintf("  %s policy replay --decisions decisions/ --policy policies/ --since 7d", sh.Name),
		Args:    shell.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			back, err := daysOrDuration(since)
			if err != nil {
				return shell.Usagef("--since: %w", err)
			}
			if err := lacksOf(need{dir != "", "decisions", "--decisions DIR"}, need{len(folders) > 0, "policies", "--policy DIR"}); err != nil {
				return err
			}
			return shell.Own(policyReplay(c.Context(), sh, dir, folders, sh.Now().Add(-back), mode.Value, output.Value))
		},
	}
	c.Flags().StringVar(&dir, "decisions", "", "`folder` that the webhook has recorded to")
	c.Flags().StringSliceVar(&folders, "policy", nil, "`folder` of policies and their data; repeatable")
	c.Flags().StringVar(&since, "since", since, "how far back: 30d, 12h")
	shell.AddChoice(c, mode, "mode", "", "mode of the namespaces")
	shell.AddChoice(c, output, "output", "o", "output format")
	return c
}

// daysOrDuration reads 30d as well as 12h.
func daysOrDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 36500 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is no span of time; write it as 30d or 12h", text)
	}
	return d, nil
}

func policyReplay(ctx context.Context, sh *shell.Shell, dir string, folders []string, since time.Time, mode, format string) error {
	w := review.Flags{Folders: folders, Only: true}
	engine, err := w.Policies(ctx, &review.World{})
	if err != nil {
		return err
	}
	if mode == "as-it-was" {
		mode = ""
	}
	if _, err := os.Stat(dir); err != nil {
		return &manifest.Problem{Source: dir, Have: shell.NoFolder(err), Want: "the folder that the setting policies.decisions.dir of the webhook names, or a copy of it"}
	}
	if _, err := policies.DecisionFiles(os.DirFS(dir)); err != nil {
		return shell.Usagef("read decisions: %w in %s; the setting policies.decisions.dir records reviews; %s policy audit -A asks about the jobs that there are", err, dir, sh.Name)
	}
	got, err := policies.Replay(ctx, engine.InForce(), policies.Decisions(os.DirFS(dir), since), mode)
	if err != nil {
		return err
	}
	if format == "json" {
		err = shell.WriteJSON(sh.Out, got)
	} else {
		err = renderReplay(sh, &got)
	}
	switch {
	case err != nil:
		return err
	case len(got.Problems) > 0:
		return &shell.Exit{Code: shell.ExitUsage}
	case got.Denied > 0:
		return &shell.Exit{Code: shell.ExitFindings}
	}
	return nil
}

func renderReplay(sh *shell.Shell, got *policies.Replayed) error {
	rows := [][]string{{"USER", "NAMESPACE", "POLICY", "REVIEWS", "GPUS", "GPU HOURS", "JOBS"}}
	for _, r := range got.Users {
		hours := strconv.FormatInt(r.GPUSeconds/3600, 10)
		if r.Unknown > 0 {
			hours += fmt.Sprintf(" (%d not known)", r.Unknown)
		}
		rows = append(rows, []string{
			words.VisibleLine(r.User), words.VisibleLine(r.Namespace), r.Policy, strconv.Itoa(r.Reviews), strconv.FormatInt(r.GPUs, 10), hours, words.VisibleLine(strings.Join(r.Jobs, " ")),
		})
	}
	var b strings.Builder
	if len(got.Users) > 0 {
		b.WriteString(terminal.NewPage(sh.Out).Table(rows))
	}
	for _, why := range slices.Sorted(maps.Keys(got.Undecided)) {
		fmt.Fprintf(&b, "undecided in %s: %s\n", terminal.Count(got.Undecided[why], "review"), words.VisibleLine(why))
	}
	for _, p := range got.Problems {
		fmt.Fprintf(&b, "%s\n", words.VisibleLine(p))
	}
	if got.More > 0 {
		fmt.Fprintf(&b, "and %s more\n", terminal.Count(got.More, "problem"))
	}
	fmt.Fprintf(&b, "%d of %s would be denied; %d were\n", got.Denied, terminal.Count(got.Reviews, "recorded review"), got.Before)
	_, err := io.WriteString(sh.Out, b.String())
	return err
}
