package get

import (
	"cmp"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight/saturate"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// groupsSchema names the JSON of get jobs --group-by.
const groupsSchema = "signalbox.dev/job-groups/v1"

// jobGroup is the total of the jobs that have one category, owner, queue or namespace.
type jobGroup struct {
	Group      string  `json:"group"` // empty: it is not said of these jobs
	Jobs       int     `json:"jobs"`
	NotHealthy int     `json:"notHealthy"`
	Held       int64   `json:"gpusHeld"`              // by pods that have a node
	Hours      float64 `json:"gpuHours"`              // the GPUs held times how long each job has been in its state
	Unknown    int     `json:"heldUnknown,omitempty"` // jobs of which it is not known what they hold
}

// JobGroups is what get jobs --group-by prints.
type JobGroups struct {
	Schema   string     `json:"schema"`
	By       string     `json:"by"` // category, owner, queue or namespace
	Groups   []jobGroup `json:"groups"`
	Unlisted []string   `json:"unlisted,omitempty"` // kinds whose jobs the API server did not list
}

// groupsOf are the totals by what a job has, those that cost most first.
func groupsOf(rows []JobRow, by func(JobRow) string, now time.Time) []jobGroup {
	at, out := map[string]int{}, []jobGroup{}
	for _, r := range rows {
		i, ok := at[by(r)]
		if !ok {
			i = len(out)
			at[by(r)] = i
			out = append(out, jobGroup{Group: by(r)})
		}
		g := &out[i]
		g.Jobs++
		if r.Healthy == "No" {
			g.NotHealthy++
		}
		if r.Held == nil {
			g.Unknown++
			continue
		}
		from := r.Created
		if r.Since != nil {
			from = *r.Since
		}
		g.Held = saturate.Add(g.Held, *r.Held)
		if !from.IsZero() {
			g.Hours += float64(*r.Held) * max(0, now.Sub(from).Hours())
		}
	}
	for i := range out {
		out[i].Hours = math.Round(out[i].Hours*10) / 10
	}
	slices.SortFunc(out, func(a, b jobGroup) int {
		return cmp.Or(cmp.Compare(b.Hours, a.Hours), cmp.Compare(b.Held, a.Held), b.Jobs-a.Jobs, strings.Compare(a.Group, b.Group))
	})
	return out
}

// renderGroups prints the totals.
func (f *Flags) renderGroups(sh *shell.Shell, rows []JobRow) error {
	by := map[string]func(JobRow) string{
		"category": func(r JobRow) string { return r.Category }, "owner": func(r JobRow) string { return r.Owner },
		"queue": func(r JobRow) string { return r.Queue }, "namespace": func(r JobRow) string { return r.Namespace }, "context": func(r JobRow) string { return r.Context },
	}[f.groupBy.Value]
	groups := groupsOf(rows, by, sh.Now())
	if form := f.output.Value; form == "json" || form == "yaml" {
		return shell.RenderDocument(sh.Out, form, JobGroups{groupsSchema, f.groupBy.Value, groups, f.missing.Failed})
	}
	if len(groups) == 0 {
		return nil
	}
	table := [][]string{{strings.ToUpper(f.groupBy.Value), "JOBS", "NOT HEALTHY", "GPUS HELD", "GPU HOURS"}}
	unknown := 0
	for _, g := range groups {
		unknown += g.Unknown
		held, hours := strconv.FormatInt(g.Held, 10), strconv.FormatFloat(g.Hours, 'f', 1, 64)
		if g.Unknown == g.Jobs {
			held, hours = "-", "-"
		}
		table = append(table, []string{words.VisibleLine(cmp.Or(g.Group, "-")), strconv.Itoa(g.Jobs), strconv.Itoa(g.NotHealthy), held, hours})
	}
	text := terminal.MarkdownTable(table)
	if f.output.Value != "md" {
		text = terminal.Plainly(terminal.NewPage(sh.Out).Table(table), os.Getenv)
		if f.bare {
			_, text, _ = strings.Cut(text, "\n")
		}
	}
	if unknown > 0 {
		sh.Tell("note: of %s it is not known what they hold: their pods were not read", terminal.Count(unknown, "job"))
	}
	_, err := io.WriteString(sh.Out, text)
	return err
}
