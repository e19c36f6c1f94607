package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/job"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// reviewed is one job, where it was written, and what the review found.
type reviewed struct {
	preflight.Report
	from     manifest.Document
	ours     []string   // what was not checked through a fault of ours
	quotes   *quotes    // the lines of its file; nil: they are not quoted
	who      *whoAnswer // whose end lets it start; nil: nobody asked
	cures    []cure     // exact remedies, where the format has a place for them
	hidden   int        // findings that are not shown
	off      []string   // checks that a file with settings leaves out
	disabled []string   // checks that --disable leaves out
	by       string     // that file
	deaf     bool       // the cluster that was to be asked did not answer
	roomy    bool       // whether there is room now is not to count: the check that says so is not wanted
}

// word is what people read of the decision: without the cluster that was to be asked nothing is allowed.
func (r reviewed) word() string {
	if r.deaf && r.Decision == preflight.Allowed {
		return "unknown"
	}
	return string(r.Decision)
}

// line is where a finding's path is written: "job.yaml:27".
func (r reviewed) line(f finding.Finding) int {
	if n, _, ok := r.inScript(f.Path); ok {
		return n
	}
	return r.from.Position(f.Path)
}

// inScript is the line on which a script calls the launcher that a finding is about, and what is written on it: a
// script is one value, and where it begins says little.
func (r reviewed) inScript(at job.Path) (line int, written string, ok bool) {
	if r.Gang == nil || at == "" {
		return 0, "", false
	}
	for i := range r.Gang.Groups {
		l := r.Gang.Groups[i].Launch
		if l == nil || l.Line == 0 || !slices.Contains([]job.Path{l.Path, l.Script, l.NodesPath, l.ProcsPath, l.RendezvousPath}, at) {
			continue
		}
		if line, text, ok := r.from.Inside(l.Script, l.Line); ok {
			return line, strings.Fields(text)[0], true
		}
	}
	return 0, "", false
}

func newCheck(sh *shell) *cobra.Command {
	from := newWorldFlags()
	files := &inputFlags{from: from}
	var pages runbooks
	output, failOn, colour := oneOf("text", "concise", "json", "yaml", "md", "sarif", "junit", "github", "gitlab"), oneOf("error", "warning", "never"), oneOf("auto", "always", "never")
	least := oneOf("note", "warning", "error")
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
  helm template chart/ | %[1]s check -f - --stdin-filename chart/templates/train.yaml -o github`, sh.name),
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(400) // a short life: collecting early costs more than it saves
			}
			if err := from.apart(); err != nil {
				return err
			}
			if err := from.fixable(output.value); err != nil {
				return err
			}
			from.cures = output.value == "sarif" && (from.fix || !from.server) // each is a review more, and there each asks the API server
			if err := pages.wrong(); err != nil {
				return err
			}
			all, err := reviewFiles(c.Context(), sh, files, args, from)
			if err != nil {
				return own(err)
			}
			found := verdict(all, failOn.value)
			if n := onlyFrom(all.jobs, severities[least.value]); n > 0 {
				sh.tell("%s below %s not shown", count(n, "finding"), least.value)
			}
			paint := newPainter(colour.value, sh.out)
			pages.on(all.jobs)
			if err := renderCheck(sh.out, output.value, failOn.value, all.jobs, all.troubles, paint); err != nil {
				return own(fmt.Errorf("write the report: %w", err))
			}
			if err := writeFixes(sh, all.fixes); err != nil {
				return own(err)
			}
			if all.unknown != "" {
				sh.tell("unknown: %s", all.unknown)
			}
			return found
		},
	}
	files.add(c)
	c.ValidArgsFunction = completeFilesOrJobs(from.kube)
	from.addAsk(c)
	from.add(c)
	from.addEnforce(c)
	c.Flags().BoolVar(&from.server, "server", false, "ask the API server, too, whether it would take the job and one pod of each role: a dry run with your own rights")
	c.Flags().BoolVar(&from.require, "require-cluster", false, "exit code 4 where no cluster was looked at, or the fit is unknown")
	c.Flags().StringSliceVar(&from.disable, "disable", nil, "`name` of a check that is not wanted this time; repeatable, with commas")
	c.Flags().StringSliceVar(&from.selected, "select", nil, "`name` of a check; no other is run this time; repeatable, with commas")
	for _, name := range []string{"disable", "select"} {
		_ = c.RegisterFlagCompletionFunc(name, completeChecks) // fails only for a flag that does not exist
	}
	from.addFix(c)
	pages.add(c.Flags())
	c.MarkFlagsMutuallyExclusive("server", "snapshot")
	c.MarkFlagsMutuallyExclusive("server", "offline")
	c.MarkFlagsMutuallyExclusive("require-cluster", "offline")
	addChoice(c, output, "output", "o", "output format")
	addChoice(c, failOn, "fail-on", "", "severity from which the exit code is 1")
	addChoice(c, least, "min-severity", "", "severity from which findings are shown; the exit code counts all")
	addChoice(c, colour, "color", "", "colour of text; NO_COLOR is honoured")
	return c
}

func addFiles(c *cobra.Command, files *[]string) {
	c.Flags().StringArrayVarP(files, "filename", "f", nil, "`file`, folder, address or - for standard input; repeatable, with commas and patterns")
}

// noArgs is cobra.NoArgs with an answer that helps.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, flag := range []string{"filename", "policy"} { // what an argument would be elsewhere
		if c.Flags().Lookup(flag) != nil {
			return usagef("%s takes no argument %q; did you mean --%s %s?", c.CommandPath(), args[0], flag, args[0])
		}
	}
	return usagef("%s takes no argument %q", c.CommandPath(), args[0])
}

// outcome is what a review of files amounts to.
type outcome struct {
	jobs     []reviewed
	troubles []preflight.Trouble
	fixes    string // exact remedies, where they are asked for
	unknown  string // why what was asked is not known; empty: it is, or nobody asked
}

// reviewFiles reads the files and reviews every job in them.
func reviewFiles(ctx context.Context, sh *shell, files *inputFlags, args []string, from *worldFlags) (*outcome, error) {
	in, err := files.read(ctx, sh, args)
	if err != nil {
		return nil, err
	}
	w, err := from.open(ctx, sh, in)
	if err != nil {
		return nil, err
	}
	jobs, err := in.review(ctx, w)
	if err != nil {
		return nil, err
	}
	in.say(sh)
	out := &outcome{jobs: jobs, troubles: in.troubles, unknown: w.unknown(jobs, from.require)}
	if from.fix && w.asks && !from.mustAsk() { // a remedy is proven by reviews of changed jobs, of which one listing serves all
		if w, err = from.listing().open(ctx, sh, in); err != nil {
			return nil, err
		}
	}
	switch {
	case from.cures:
		err = w.cureEach(ctx, jobs)
	case from.fix:
		out.fixes, err = w.fixes(ctx, in, jobs)
	}
	return out, err
}

// unknown says why a review is not the answer that was asked for: the cluster that the
// kubeconfig names was not heard, or an answer without one was not asked for.
func (w *world) unknown(jobs []reviewed, required bool) string {
	switch {
	case w.silent != "":
		return w.silent
	case !required:
		return ""
	case !w.seen:
		return "--require-cluster, and no cluster was looked at"
	}
	for _, j := range jobs {
		if j.Fit == nil || j.Fit.Verdict == fit.Unknown {
			return fmt.Sprintf("whether %s fits", j.Job)
		}
	}
	return ""
}

// review reviews the jobs of the input, several at a time; the answers are in their order.
func (in *input) review(ctx context.Context, w *world) ([]reviewed, error) {
	r := &preflight.Reviewer{Checks: w.checks, Namespaces: w.tuned, Policies: w.engine}
	answers, troubles := make([]*reviewed, len(in.jobs)), make([]error, len(in.jobs))
	workers := runtime.GOMAXPROCS(0)
	if w.rehearsal != nil {
		workers = 1 // it listens to the warnings of one request at a time
	}
	err := inParallel(workers, len(in.jobs), func(i int) (err error) {
		var req preflight.Request
		if req, troubles[i] = w.request(ctx, in.jobs[i]); troubles[i] != nil {
			return nil //nolint:nilerr // it is this job's trouble, not that of the others
		}
		if asks, said := in.requests[in.jobs[i].Source]; said {
			if err := policies.Fill(asks.Object, &req); err != nil {
				troubles[i] = fmt.Errorf("%s: %w", asks.Where(), err)
				return nil
			}
		}
		answers[i], err = w.one(ctx, r, in.jobs[i], req)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []reviewed
	for i := range answers {
		if troubles[i] != nil {
			in.trouble(troubles[i])
			continue
		}
		out = append(out, *answers[i])
	}
	return out, ctx.Err()
}

// one reviews one job.
func (w *world) one(ctx context.Context, r *preflight.Reviewer, d manifest.Document, req preflight.Request) (*reviewed, error) {
	report, err := r.Review(ctx, req)
	if err != nil {
		return nil, err
	}
	if !w.seen {
		report.Fit = nil                // nobody looked for nodes
		for i := range report.Skipped { // other objects of the input are a view that nobody took of a cluster
			if s := &report.Skipped[i]; s.Why == check.ViewUntrusted {
				s.Why, s.Reason, s.Failed = check.NoCluster, check.Skip{Reason: check.NoCluster}.String(), false
			} else if s.Why == check.NotHeld {
				s.Reason = "no cluster was looked at, and no file holds " + strings.TrimPrefix(s.Reason, check.Skip{Reason: check.NotHeld}.String())
			}
		}
	}
	f, noPlace := w.noNamespace(req.Object)
	if !noPlace {
		w.askServer(ctx, &report, req)
		if w.fitOnly { // check says all that the API server refuses
			f, noPlace = w.notServed(req.Object)
		}
	}
	if noPlace && !slices.ContainsFunc(report.Findings, takenByNoServer) {
		report.Add([]finding.Finding{f}, nil)
	}
	ledBack(&report, d)
	ours := faults(report)
	report.Skipped = append(report.Skipped, w.skipped...)
	roomy := slices.Contains(w.unwanted(report.Job.Namespace), roomCheck) ||
		slices.ContainsFunc(report.Skipped, func(s preflight.Skip) bool { return s.Check == roomCheck && s.Why == check.Ignored })
	return &reviewed{Report: report, from: d, ours: ours, roomy: roomy, quotes: w.quotes, deaf: w.silent != "", off: w.off(report.Job.Namespace), by: w.settingsFile, disabled: w.disabled}, nil
}

// ledBack gives the paths of a job that was made of another form as its author wrote them, and speaks in the words
// of that form.
func ledBack(r *preflight.Report, d manifest.Document) {
	if !d.OpenPAI() {
		return
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Message, f.Remedy = d.InItsWords(f.Path, f.Message), d.InItsWords(f.Path, f.Remedy)
		f.Path = d.Written(f.Path)
	}
	for i := range r.Rulings {
		r.Rulings[i].Path = d.Written(r.Rulings[i].Path)
	}
}

// askServer adds what the API server and the webhooks behind it say of a job: everything where
// they were asked, and whether it fits where the nodes may not be listed.
func (w *world) askServer(ctx context.Context, report *preflight.Report, req preflight.Request) {
	if w.asks && report.Fit == nil {
		report.Fit = &fit.Result{}
	}
	blind := w.nodeless && report.Fit != nil && report.Fit.Verdict == fit.Unknown
	h := w.heardOf(req.Object)
	if h == nil && w.live != nil && (w.rehearsal != nil || blind) {
		h = w.live.dryRun(ctx, req.Object)
	}
	if h == nil {
		return
	}
	if blind {
		report.Fit = h.fitInstead(report.Fit, w.asks)
	}
	if w.fitOnly {
		return
	}
	if blind && h.record != nil {
		h.into(report, w.unwanted(req.Object.GetNamespace()))
	}
	report.Add(h.findings(report.Lines()), nil)
	if w.rehearsal != nil || w.asks {
		report.Add(nil, h.skipped())
	}
	if w.rehearsal == nil {
		return
	}
	if j := readJob(req.Object, w.cluster); j != nil {
		found, skipped := w.rehearsal.of(ctx, j)
		report.Add(unsaid(report.Findings, found), skipped)
	}
}

// inParallel does n things with a few workers and returns the first error in their order.
// A panic is an error: nobody else could catch it.
func inParallel(workers, n int, do func(i int) error) error {
	errs := make([]error, n)
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(workers, n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				errs[i] = guarded(i, do)
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func guarded(i int, do func(int) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &exit{exitOurs, fmt.Errorf("this is a bug: %v at %s; report this line and the command at %s", p, panickedAt(), issues)}
		}
	}()
	return do(i)
}

// faults are what was not checked through a fault of ours: not what the view of the
// cluster lacks, which is what the user could give.
func faults(r preflight.Report) []string {
	var out []string
	for _, s := range r.Skipped {
		if s.Failed && s.Why != check.ViewUntrusted {
			out = append(out, s.Check+": "+s.Reason)
		}
	}
	return append(out, r.Undecided...)
}

// verdict is the exit code that a review amounts to, as an error. Input that nobody could
// read outweighs everything: the review is not whole.
func verdict(all *outcome, failOn string) error {
	var objects, busy, failed bool
	for _, j := range all.jobs {
		objects = objects || objection(j.Report, failOn)
		busy = busy || waits(j.Report) && !j.roomy
		failed = failed || len(j.ours) > 0
	}
	switch {
	case len(all.troubles) > 0:
		return &exit{code: exitUsage}
	case objects:
		return &exit{code: exitFindings}
	case failed:
		return &exit{code: exitOurs}
	case all.unknown != "":
		return &exit{code: exitUnknown}
	case busy && failOn != "never":
		return &exit{code: exitBusy}
	}
	return nil
}

// roomCheck says whether there is room for all pods of a job now.
const roomCheck = "gang-does-not-fit"

// severities are those that flags name; never is above all.
var severities = map[string]finding.Severity{"note": finding.Note, "warning": finding.Warning, "error": finding.Error, "never": finding.Error + 1}

// onlyFrom leaves out what is found below a severity, and counts it. What policies say stays.
func onlyFrom(jobs []reviewed, least finding.Severity) (hidden int) {
	for i := range jobs {
		j := &jobs[i]
		all := len(j.Findings)
		j.Findings = slices.DeleteFunc(j.Findings, func(f finding.Finding) bool { return f.Severity < least })
		j.hidden = all - len(j.Findings)
		hidden += j.hidden
	}
	return hidden
}

// objection says whether a report holds more against a job than that others are using
// the cluster now.
func objection(r preflight.Report, failOn string) bool {
	if r.Decision == preflight.Denied {
		return true
	}
	return slices.ContainsFunc(r.Lines(), func(f finding.Finding) bool { return fails(r, f, failOn) && (!waits(r) || !saysBusy(f)) })
}

// fails says whether one line of a report makes the exit code another than 0.
func fails(r preflight.Report, f finding.Finding, failOn string) bool {
	denies := slices.ContainsFunc(r.Rulings, func(r preflight.Ruling) bool {
		return r.Effect == preflight.Deny && r.Policy == f.Check && r.Path == f.Path && r.Message == f.Message
	})
	return denies || f.Severity >= severities[failOn] || failOn != "never" && waits(r) && saysBusy(f)
}

// waits says whether the job would fit if only others were not using the cluster, or if the nodes that are away were back.
func waits(r preflight.Report) bool {
	return r.Fit != nil && (r.Fit.WaitsForOthers || r.Fit.Verdict == fit.TooBig && r.Fit.WithNodesBack)
}

// saysBusy says whether a finding is the fit's answer and nothing else: there is no room
// now, on the nodes or in a quota.
func saysBusy(f finding.Finding) bool {
	return f.Check == roomCheck || f.Check == "quota-exceeded" && f.Severity < finding.Error
}

// saysLimit says whether a finding is about what the fit names first before the nodes.
func saysLimit(r preflight.Report) bool {
	return r.Fit != nil && r.Fit.Held() && slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
		return f.Rule == string(r.Fit.Violations[0].Rule)
	})
}
