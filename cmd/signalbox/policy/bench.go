package policy

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

func newPolicyBench(sh *shell.Shell) *cobra.Command {
	q := question{sh: sh, from: review.NewFlags()}
	rounds := 100
	mode, output := shell.OneOf("enforce", "warn"), shell.OneOf("text", "json")
	c := &cobra.Command{
		Use:   "bench JOB… --policy DIR",
		Short: "measure how long each policy takes",
		Long: `Policy bench asks every policy in the folders by itself about every job in the files, --rounds
times, and prints how long the answers took: the median, the 99th percentile and the longest, the
slowest policy first. Policies that the data does not configure are not asked, as in a review.

Exit codes: 0 measured · 2 bad usage, unreadable input, or a policy that does not load or fails.`,
		Example: fmt.Sprintf("  %s policy bench job.yaml --policy policies/", sh.Name),
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			q.args, q.asking.Mode = args, mode.Value
			if rounds < 1 || rounds > mostRounds {
				return shell.Usagef("--rounds is %d; expected 1 to %d", rounds, mostRounds)
			}
			if err := lacksOf(need{len(q.from.Folders) > 0, "policies", "--policy DIR"}, need{len(args)+len(q.files) > 0, "jobs", "FILE…, -f FILE or -f - for standard input"}); err != nil {
				return err
			}
			return shell.Own(q.bench(c.Context(), rounds, output.Value))
		},
	}
	q.add(c)
	c.Flags().IntVar(&rounds, "rounds", rounds, "how often each job is asked about")
	shell.AddChoice(c, mode, "mode", "", "mode of the namespace")
	shell.AddChoice(c, output, "output", "o", "output format")
	return c
}

// need is something that a command does not do without.
type need struct {
	given      bool
	what, flag string
}

// lacksOf names all that is lacking at once: one thing at a time would take as many runs of the command.
func lacksOf(needs ...need) error {
	var what, expected []string
	for _, n := range needs {
		if !n.given {
			what, expected = append(what, "no "+n.what), append(expected, n.flag)
		}
	}
	if len(what) == 0 {
		return nil
	}
	return shell.Usagef("%s; expected %s", strings.Join(what, " and "), strings.Join(expected, ", and "))
}

// mostRounds bounds what is kept of the answers.
const mostRounds = 100_000

// bench prints what each policy costs.
func (q *question) bench(ctx context.Context, rounds int, format string) error {
	got, err := q.ask(ctx)
	if err != nil {
		return err
	}
	sh := q.sh
	costs, err := policies.Measure(ctx, got.Policies, got.seen, rounds, sh.Now)
	if err != nil {
		return err
	}
	if format == "json" {
		err = shell.WriteJSON(sh.Out, append([]policies.Cost{}, costs...))
	} else {
		rows := [][]string{{"POLICY", "ASKED", "P50", "P99", "MOST"}}
		for _, c := range costs {
			rows = append(rows, []string{c.Policy, fmt.Sprint(c.Asked), short(c.P50), short(c.P99), short(c.Most)})
		}
		var text strings.Builder
		text.WriteString(terminal.NewPage(sh.Out).Table(rows))
		for _, c := range costs {
			if c.Failure != "" {
				text.WriteString("failed: " + words.VisibleLine(c.Policy+": "+c.Failure) + "\n")
			}
		}
		_, err = io.WriteString(sh.Out, text.String())
	}
	if err != nil {
		return err
	}
	for _, c := range costs {
		if c.Failure != "" {
			return &shell.Exit{Code: shell.ExitUsage}
		}
	}
	if len(got.troubles) > 0 {
		return &shell.Exit{Code: shell.ExitUsage}
	}
	return nil
}

func short(d time.Duration) string { return d.Round(time.Microsecond).String() }
