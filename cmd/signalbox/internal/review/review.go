package review

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/dryrun"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/policies"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
)

// Jobs reviews the jobs of the input, several at a time; the answers are in their order.
func Jobs(ctx context.Context, in *input.Input, w *World) ([]Reviewed, error) {
	r := &preflight.Reviewer{Checks: w.Checks, Namespaces: w.Tuned, Policies: w.Engine}
	answers, troubles := make([]*Reviewed, len(in.Jobs)), make([]error, len(in.Jobs))
	workers := runtime.GOMAXPROCS(0)
	if w.rehearsal != nil {
		workers = 1 // it listens to the warnings of one request at a time
	}
	err := shell.InParallel(workers, len(in.Jobs), func(i int) (err error) {
		var req preflight.Request
		if req, troubles[i] = w.Request(ctx, in.Jobs[i]); troubles[i] != nil {
			return nil //nolint:nilerr // it is this job's trouble, not that of the others
		}
		if asks, said := in.Requests[in.Jobs[i].Source]; said {
			if err := policies.Fill(asks.Object, &req); err != nil {
				troubles[i] = fmt.Errorf("%s: %w", asks.Where(), err)
				return nil
			}
		}
		answers[i], err = w.One(ctx, r, in.Jobs[i], req)
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []Reviewed
	for i := range answers {
		if troubles[i] != nil {
			in.Trouble(troubles[i])
			continue
		}
		if note := in.Twins[in.Jobs[i].Where()]; note != "" {
			answers[i].Notes = append(answers[i].Notes, note)
		}
		out = append(out, *answers[i])
	}
	return out, ctx.Err()
}

// One reviews one job.
func (w *World) One(ctx context.Context, r *preflight.Reviewer, d manifest.Document, req preflight.Request) (*Reviewed, error) {
	report, err := r.Review(ctx, req)
	if err != nil {
		return nil, err
	}
	if !w.Seen {
		report.Fit = nil                // nodes were not looked for
		for i := range report.Skipped { // other objects of the input are no view of a cluster
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
	if noPlace && !slices.ContainsFunc(report.Findings, TakenByNoServer) {
		report.Add([]finding.Finding{f}, nil)
	}
	ledBack(&report, d)
	ours := faults(report)
	report.Skipped = append(report.Skipped, w.skipped...)
	roomy := slices.Contains(w.unwanted(report.Job.Namespace), roomCheck) ||
		slices.ContainsFunc(report.Skipped, func(s preflight.Skip) bool { return s.Check == roomCheck && s.Why == check.Ignored })
	return &Reviewed{Report: report, From: d, ours: ours, roomy: roomy, quotes: w.Quotes, deaf: w.Silent != "", Off: w.off(report.Job.Namespace), By: w.settingsFile, Disabled: w.disabled}, nil
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
func (w *World) askServer(ctx context.Context, report *preflight.Report, req preflight.Request) {
	if w.Asks && report.Fit == nil {
		report.Fit = &fit.Result{}
	}
	blind := w.Nodeless && report.Fit != nil && report.Fit.Verdict == fit.Unknown
	h := w.heardOf(req.Object)
	if h == nil && w.Live != nil && (w.rehearsal != nil || blind) {
		h = dryrun.Of(ctx, w.Live, req.Object)
	}
	if h == nil {
		return
	}
	if blind {
		report.Fit = h.FitInstead(report.Fit, w.Asks)
	}
	if w.fitOnly {
		return
	}
	if blind && h.Record != nil {
		h.Into(report, w.unwanted(req.Object.GetNamespace()))
	}
	report.Add(h.Findings(report.Lines()), nil)
	if w.rehearsal != nil || w.Asks {
		report.Add(nil, h.Skipped())
	}
	if w.rehearsal == nil {
		return
	}
	if j := ReadJob(req.Object, w.Cluster); j != nil {
		found, skipped := w.rehearsal.Of(ctx, j)
		report.Add(dryrun.Unsaid(report.Findings, found), skipped)
	}
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

// roomCheck says whether there is room for all pods of a job now.
const roomCheck = "gang-does-not-fit"

// Unknown says why a review is not the answer that was asked for: the cluster that the
// kubeconfig names was not heard, or an answer without one was not asked for.
func (w *World) Unknown(jobs []Reviewed, required bool) string {
	switch {
	case w.Silent != "":
		return w.Silent
	case !required:
		return ""
	case !w.Seen:
		return "--require-cluster, and no cluster was looked at"
	}
	for _, j := range jobs {
		if j.Fit == nil || j.Fit.Verdict == fit.Unknown {
			return fmt.Sprintf("whether %s fits", j.Job)
		}
	}
	return ""
}
