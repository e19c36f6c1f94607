package get

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/reference"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
)

// tally is what became of what one check said of the jobs of a cluster.
type tally struct {
	Check    string `json:"check"`
	Fired    int    `json:"fired"`
	CameTrue int    `json:"cameTrue"` // the job failed, or waits, of what the check names
	Other    int    `json:"other"`    // it failed for another reason
	Ran      int    `json:"ran"`      // it ran to its end and is well
	Unsaid   int    `json:"unsaid"`   // it ended, and nobody can say of what, or the check names nothing to fail of
	Open     int    `json:"open"`     // it goes on
}

// AddOutcomes lets the list of checks ask the cluster what became of what the checks said.
func AddOutcomes(sh *shell.Shell, list *cobra.Command) {
	c, _, err := list.Find([]string{"checks"})
	if err != nil {
		return // there is no such list
	}
	var ask bool
	kube, plain := apiserver.Flags(), c.RunE
	c.Flags().BoolVar(&ask, "outcomes", false, "how often each check fired in the cluster of the kubeconfig, and what became of the jobs")
	kube.AddFlags(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		if !ask {
			return plain(c, args)
		}
		return shell.Own(listOutcomes(c.Context(), sh, kube, c.Flags().Lookup("output").Value.String()))
	}
}

func listOutcomes(ctx context.Context, sh *shell.Shell, kube *genericclioptions.ConfigFlags, format string) error {
	live, err := apiserver.Reach(ctx, kube, "")
	if err != nil {
		return err
	}
	rows, missing, _, err := AnyJob(kube, true).List(ctx, live, nil)
	if err != nil {
		return err
	}
	sh.Notes(missing.Notes(metav1.NamespaceAll))
	return cmp.Or(renderOutcomes(sh, format, tallies(rows)), missing.Verdict())
}

// tallies count the outcomes of all jobs by check.
func tallies(rows []JobRow) []tally {
	by := map[string]*tally{}
	for _, r := range rows {
		for _, w := range r.Warned.Checks {
			t := by[w.Check]
			if t == nil {
				t = &tally{Check: w.Check}
				by[w.Check] = t
			}
			t.Fired++
			switch w.Outcome {
			case controller.CameTrue:
				t.CameTrue++
			case controller.Other:
				t.Other++
			case controller.Ran:
				t.Ran++
			case controller.Unsaid:
				t.Unsaid++
			default:
				t.Open++
			}
		}
	}
	out := make([]tally, 0, len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, *by[name])
	}
	return out
}

func renderOutcomes(sh *shell.Shell, format string, all []tally) error {
	if format == "json" {
		return shell.WriteJSON(sh.Out, all)
	}
	entries := make([]reference.Entry, 0, len(all))
	for _, t := range all {
		row := []string{t.Check}
		for _, n := range []int{t.Fired, t.CameTrue, t.Other, t.Ran, t.Unsaid, t.Open} {
			row = append(row, strconv.Itoa(n))
		}
		entries = append(entries, reference.Entry{Name: t.Check, Row: row})
	}
	s := reference.Shelf{
		Name: "checks", Columns: []string{"check", "fired", "came true", "other", "ran", "unsaid", "open"},
		About: "What became of the jobs of a cluster of which the checks warned.",
	}
	if err := s.Render(sh.Out, format, entries); err != nil {
		return fmt.Errorf("write the outcomes: %w", err)
	}
	if len(all) == 0 {
		sh.Tell("note: no job carries a warning of admission")
	}
	return nil
}
