// Package fit is the command fit: whether jobs fit on a cluster, where, whose end would let them start, and what if their sizes
// were others. Start reading at New; the fit itself is in preflight/fit.
package fit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/apiserver"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/fix"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/render"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/setting"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/terminal"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/whatif"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// New is the command fit.
func New(sh *shell.Shell) *cobra.Command {
	q := &question{sh: sh, from: review.NewFlags()}
	q.files = &input.Flags{Cluster: q.from.Connection}
	output, failOn, colour := shell.OneOf("text", "json", "yaml", "md", "html"), shell.OneOf("error", "warning", "never"), shell.OneOf("auto", "always", "never")
	c := &cobra.Command{
		Use:   "fit FILE|DIR|URL|-…|KIND/NAME… [-k DIR] [--snapshot FILE|DIR]",
		Short: "say whether jobs fit on the cluster, where, and what would make them fit",
		Long: `Fit answers one question for every training job in the files: is there room for all
its pods at once? It prints the placement, or the reason with both numbers and the
smallest change that would fit.

What lies before the nodes is said apart: a ResourceQuota, a LimitRange, a queue that is
missing, closed or too small. A job that the nodes would take and a rule will not is no fit.

Where Signalbox is installed in the cluster, it is asked, by one dry run of the job: no right
to list nodes is needed, and nothing is listed, also on thousands of nodes. Elsewhere nodes
and pods are listed with your own rights (--ask).

Exit codes: 0 it fits · 1 it never will · 2 bad usage or unreadable input · 3 our own
failure · 4 unknown: not enough was seen to say, or an autoscaler may add the nodes that are
missing · 75 not now: the cluster is busy, nodes are away, or others hold what a quota has left.`,
		Example: fmt.Sprintf("  %[1]s fit job.yaml\n  %[1]s fit job.yaml --map\n  %[1]s fit --map\n  %[1]s fit job.yaml --who\n  %[1]s fit job.yaml --set Worker.replicas=3,5,7 --set Worker.gpus=4,8\n  %[1]s fit -f job.yaml --snapshot cluster.yaml -o json", sh.Name),
		Args:    cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			q.args, q.format, q.failOn, q.paint = args, output.Value, failOn.Value, terminal.NewPainter(colour.Value, sh.Out)
			return shell.Own(q.answer(c.Context()))
		},
	}
	q.files.Add(c)
	c.ValidArgsFunction = apiserver.CompleteFilesOrJobs(q.from.Kube)
	q.from.AddAsk(c)
	q.from.Add(c)
	q.from.AddFix(c)
	shell.Hide(c, "policy") // no policy is asked
	c.Flags().StringArrayVar(&q.sets, "set", nil, "ask what if: `ROLE.FIELD=VALUE`[,VALUE…] with replicas, gpus, cpu or memory; without a role of the whole job; repeatable, up to 20 variants")
	c.Flags().BoolVar(&q.who, "who", false, "name the smallest set of jobs and pods whose end would let the job start, as far as you may read them")
	c.Flags().BoolVar(&q.draw, "map", false, "draw the cluster as the job sees it; without a job, as it is")
	shell.AddChoice(c, output, "output", "o", "output format")
	shell.AddChoice(c, failOn, "fail-on", "", "never: the exit code says only whether the input could be read")
	shell.AddChoice(c, colour, "color", "", "colour of text; NO_COLOR is honoured")
	return c
}

// question is one call of fit: what is asked, and how it is answered.
type question struct {
	sh    *shell.Shell
	files *input.Flags
	args  []string
	from  *review.Flags

	draw, who bool
	sets      []string // other sizes that are asked about

	format, failOn string
	paint          terminal.Painter
}

// answer prints the answer; the exit code is its error.
func (q *question) answer(ctx context.Context) error {
	if err := q.from.Apart(); err != nil {
		return err
	}
	if err := q.conflict(); err != nil {
		return err
	}
	q.from.Names = q.draw || q.who || len(q.sets) > 0 || q.format == "html" || q.from.Fix
	switch {
	case q.draw && len(q.args) == 0 && q.files.None():
		return drawOverview(ctx, q.sh, q.from, q.paint)
	case len(q.sets) > 0:
		return q.whatIf(ctx)
	}
	return q.jobs(ctx)
}

// conflict says which two flags cannot both be answered.
func (q *question) conflict() error {
	html, ask, sets, format := q.format == "html", q.from.MustAsk(), len(q.sets) > 0, q.format
	switch {
	case q.who && sets:
		return shell.Usagef("--who is about the job as it is written, --set about other sizes of it: ask one after the other, fit --set first, then fit --who with the size written into the file")
	case q.who && q.draw:
		return shell.Usagef("--who prints a list and --map a picture; expected one of them")
	case q.who && html:
		return shell.Usagef("--who prints text, json, yaml or md, and -o is html; expected --who or -o html")
	case ask && (q.draw || q.who || sets || q.from.Fix || html):
		return shell.Usagef("--ask answers without the names of nodes, and --map, --who, --set, --fix and -o html need them; expected one of them")
	case q.draw && format != "text":
		return shell.Usagef("--map draws for people, and -o is %s; expected one of them", format)
	case sets && html:
		return shell.Usagef("-o html shows one answer for a job, and --set asks for several; expected one of them")
	case sets && q.draw:
		return shell.Usagef("--map draws one answer, and --set asks for several; expected one of them")
	case sets && q.from.Fix:
		return shell.Usagef("--set tries changes of your own, and --fix looks for one; expected one of them")
	}
	return nil
}

// whatIf answers about other sizes: every job with all combinations of the settings.
func (q *question) whatIf(ctx context.Context) error {
	settings, err := setting.Read(q.sets)
	if err != nil {
		return err
	}
	in, w, err := q.open(ctx)
	if err != nil {
		return err
	}
	reviewer := &preflight.Reviewer{Checks: w.Checks}
	p := terminal.NewPage(q.sh.Out)
	var jobs []review.Reviewed
	var changed []map[string]string
	var b strings.Builder
	fits := false
	for i, d := range in.Jobs {
		all, err := variants(ctx, w, reviewer, d, settings)
		if err != nil {
			return err
		}
		fits = fits || largest(all) >= 0
		for _, v := range all {
			jobs, changed = append(jobs, v.Reviewed), append(changed, v.set)
		}
		if i > 0 {
			b.WriteString("\n")
		}
		if len(all) > 0 {
			fmt.Fprintf(&b, "%s (%s)\n\n%s", q.paint.As("bold", words.VisibleLine(all[0].Job.String())), words.VisibleLine(all[0].Source), variantTable(p, all, settings, q.paint))
		}
	}
	in.Say(q.sh)
	switch q.format {
	case "text":
		err = p.Write(b.String())
	case "md":
		err = terminal.Page{To: q.sh.Out}.Write(terminal.Fenced(words.Visible(b.String())))
	default:
		err = renderFitDocument(q.sh.Out, q.format, jobs, changed, in.Troubles)
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if fits && len(in.Troubles) == 0 {
		return nil
	}
	return fitVerdict(jobs, in.Troubles, q.failOn)
}

// openCluster is the world with a cluster to fit on.
func openCluster(ctx context.Context, sh *shell.Shell, in *input.Input, from *review.Flags) (*review.World, error) {
	w, err := from.OpenFor(ctx, sh, in, true)
	if err != nil || w.Seen {
		return w, err
	}
	in.Say(sh)
	if w.Silent != "" {
		return nil, &shell.Exit{Code: shell.ExitUnknown, Cause: errors.New("unknown: " + w.Silent)}
	}
	why := ""
	if w.Viewless != "" {
		why = ": " + w.Viewless
	}
	return nil, shell.Usagef("there is no cluster to fit on%s; expected --snapshot FILE, or a kubeconfig whose cluster answers", why)
}

// open reads the input and the cluster, with nothing to review by but the fit.
func (q *question) open(ctx context.Context) (*input.Input, *review.World, error) {
	in, err := q.files.Read(ctx, q.sh, q.args)
	if err != nil {
		return nil, nil, err
	}
	w, err := openCluster(ctx, q.sh, in, q.from)
	if err != nil {
		return nil, nil, err
	}
	w.Known = func(string) map[string]string { return nil } // whether a namespace wants reviews is another matter
	w.Checks, err = check.NewSet()
	w.Tuned = nil
	return in, w, err
}

// jobs asks the capacity engine about every job in the files. A job that cannot be read whole has no answer and is a trouble.
func (q *question) jobs(ctx context.Context) error {
	if err := q.from.Fixable(q.format); err != nil {
		return err
	}
	in, w, err := q.open(ctx)
	if err != nil {
		return err
	}
	jobs, err := fitted(ctx, in, w)
	if err != nil {
		return err
	}
	if q.who {
		mayRead := reader(w)
		for i := range jobs {
			jobs[i].Who = holdersOf(ctx, w, jobs[i], mayRead)
		}
	}
	in.Say(q.sh)
	fixes := ""
	if q.from.Fix {
		if fixes, err = fix.For(ctx, w, in, jobs); err != nil {
			return err
		}
	}
	if err := q.write(jobs, w.Cluster, in.Troubles); err != nil {
		return err
	}
	if err := fix.Write(q.sh, fixes); err != nil {
		return err
	}
	return fitVerdict(jobs, in.Troubles, q.failOn)
}

// write writes the answers about jobs as they are written.
func (q *question) write(jobs []review.Reviewed, view *cluster.Snapshot, troubles []preflight.Trouble) error {
	if q.format == "html" {
		var sections []browser.Section
		for _, j := range jobs {
			sections = append(sections, fitSection(j, view))
		}
		return q.sh.WriteHTML("Fit", sections...)
	}
	var picture func(review.Reviewed) string
	if q.draw {
		picture = func(j review.Reviewed) string { return mapOf(j, view, terminal.Width(q.sh.Out), q.paint) }
	}
	if err := renderFit(q.sh.Out, q.format, jobs, troubles, q.paint, picture); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// fitted are the jobs with their answers. What keeps one from being read whole is among the troubles of the input.
func fitted(ctx context.Context, in *input.Input, w *review.World) ([]review.Reviewed, error) {
	jobs, err := review.Jobs(ctx, in, w)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		for _, f := range j.Findings {
			if f.Severity == finding.Error {
				in.Troubles = append(in.Troubles, preflight.Trouble{
					Source: fmt.Sprintf("%s:%d", j.From.Source, j.Line(f)), Message: fmt.Sprintf("%s: %s", f.Path, f.Message),
				})
			}
		}
	}
	for _, j := range jobs {
		sayRefused(ctx, w, j, j.From.Object)
		sayDropped(ctx, w, j, j.From.Object)
		if j.Fit == nil || j.Gang == nil || w.Nodeless {
			continue
		}
		if text := whatif.Completions(ctx, w.Cluster, *j.Gang, *j.Fit, timeLeft(ctx, w)); text != "" {
			j.Fit.Changes = append(j.Fit.Changes, text)
			j.Fit.Change = j.Fit.Changes[0]
		}
	}
	if text := fitTogether(ctx, w, jobs); text != "" {
		in.Notes = append(in.Notes, text)
	}
	return jobs, nil
}

// fieldCheck finds what the API server drops.
const fieldCheck = "unknown-field"

// checkCalled is the check of a name, which there must be.
func checkCalled(name string) *check.Check {
	all := checks.All()
	return all[slices.IndexFunc(all, func(c *check.Check) bool { return c.Name == name })]
}

// sayDropped adds to an answer that it does not rest on what is written under a name that is no field: the GPUs under
// "resource" are asked for by no pod. It is one line, and review says the rest.
func sayDropped(ctx context.Context, w *review.World, r review.Reviewed, object *unstructured.Unstructured) {
	if r.Fit == nil {
		return
	}
	if dropped := foundBy(ctx, w, object, func(c *check.Check) bool { return c.Name == fieldCheck }); len(dropped) > 0 {
		r.Fit.Assumed = slices.Insert(r.Fit.Assumed, 0, firstOf(r, dropped, "what is not a field has no effect"))
	}
}

// fitVerdict is the exit code that answers of the fit amount to, as an error.
func fitVerdict(jobs []review.Reviewed, troubles []preflight.Trouble, failOn string) error {
	var never, unknown, busy bool
	read := len(troubles) // those of what could not be read
	for _, j := range jobs {
		switch {
		case slices.ContainsFunc(j.Findings, review.TakenByNoServer):
			never = true // read it was, and the API server refuses it
			read--
		case j.Fit != nil && j.Fit.Blocked():
			never = true
		case j.Fit == nil || j.Fit.Verdict == fit.Unknown:
			unknown = true
		case review.Waits(j.Report):
			busy = true
		case j.Fit.Verdict == fit.TooBig && j.Fit.NodesToCome() != "":
			unknown = true
		case j.Fit.Verdict != fit.Fits:
			never = true
		}
	}
	switch {
	case read > 0:
		return &shell.Exit{Code: shell.ExitUsage}
	case failOn == "never":
		return nil
	case never:
		return &shell.Exit{Code: shell.ExitFindings}
	case unknown:
		return &shell.Exit{Code: shell.ExitUnknown}
	case busy:
		return &shell.Exit{Code: shell.ExitBusy}
	}
	return nil
}

// fitOnly is one element of "jobs" in the output of fit.
type fitOnly struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Namespace  string      `json:"namespace"`
	Name       string      `json:"name"`
	Source     string      `json:"source"`
	Fit        *fit.Result `json:"fit"`
	// Notes are what else is to be known of where the job stands.
	Notes []string `json:"notes,omitempty"`
	// Set is what --set changed in the job.
	Set map[string]string `json:"set,omitempty"`
	// Who is whose end lets the job start, where --who asks.
	Who *review.WhoAnswer `json:"who,omitempty"`
}

// renderFitDocument writes the answers for programs; sets is what was changed in each job, if anything.
func renderFitDocument(to io.Writer, format string, jobs []review.Reviewed, sets []map[string]string, troubles []preflight.Trouble) error {
	out := struct {
		Schema string              `json:"schema"`
		Jobs   []fitOnly           `json:"jobs"`
		Errors []preflight.Trouble `json:"errors"`
	}{preflight.Schema, []fitOnly{}, append([]preflight.Trouble{}, troubles...)}
	for i, j := range jobs {
		one := fitOnly{j.Job.APIVersion, j.Job.Kind, j.Job.Namespace, j.Job.Name, j.Source, withLists(j.Fit), j.Notes, nil, j.Who}
		if i < len(sets) {
			one.Set = sets[i]
		}
		out.Jobs = append(out.Jobs, one)
	}
	return shell.RenderDocument(to, format, out)
}

// renderFit writes the answers; picture, where it is not nil, draws a cluster for each.
func renderFit(to io.Writer, format string, jobs []review.Reviewed, troubles []preflight.Trouble, paint terminal.Painter, picture func(review.Reviewed) string) error {
	switch format {
	case "text":
	case "md":
		return terminal.Page{To: to}.Write(render.FitMarkdown(jobs, troubles))
	default:
		return renderFitDocument(to, format, jobs, nil, troubles)
	}
	var b strings.Builder
	for i, j := range jobs {
		if i > 0 {
			b.WriteString("\n")
		}
		fitText(&b, j, paint)
		if picture != nil && j.Fit != nil {
			b.WriteString("\n" + picture(j))
		}
	}
	if len(jobs)+len(troubles) == 0 {
		b.WriteString("no training job found\n")
	}
	return terminal.NewPage(to).Write(b.String())
}

// withLists is the answer with empty lists instead of nulls.
func withLists(answer *fit.Result) *fit.Result {
	if answer == nil {
		return nil
	}
	out := *answer
	out.Plan = append([]fit.Placement{}, answer.Plan...)
	out.Shortfall = append([]fit.Shortfall{}, answer.Shortfall...)
	out.Assumed = append([]string{}, answer.Assumed...)
	return &out
}

// fitText is the answer for a tired person: the verdict, where or why not, what would
// help, and what was not looked at.
func fitText(b *strings.Builder, j review.Reviewed, paint terminal.Painter) {
	fmt.Fprintf(b, "%s (%s): ", paint.As("bold", words.VisibleLine(j.Job.String())), words.VisibleLine(j.Source))
	if j.Fit == nil {
		b.WriteString("not asked\n")
		for _, skip := range j.Skipped {
			fmt.Fprintf(b, "  %s\n", words.VisibleLine(skip.Reason))
		}
		return
	}
	if j.Gang != nil && j.Gang.State() != "" {
		b.WriteString(string(j.Gang.State()) + "; ")
	}
	fmt.Fprintf(b, "%s\n", paint.Word(j.Fit.Answer()))
	answer := *j.Fit
	answer.Assumed = render.FewAssumed(answer.Assumed, answer.Verdict)
	for _, line := range answer.Lines() {
		fmt.Fprintf(b, "  %s\n", words.VisibleLine(line))
	}
	if j.Who != nil {
		for _, line := range j.Who.Text() {
			fmt.Fprintf(b, "  %s\n", words.VisibleLine(line))
		}
	}
	for _, line := range render.Unchecked(j) {
		fmt.Fprintf(b, "  %s\n", line)
	}
}
