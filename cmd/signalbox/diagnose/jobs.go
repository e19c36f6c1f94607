package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/preflight/job"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// What is told of the jobs of a text: the worst ones each, and more of them by name. The others are counted.
const (
	mostTold  = 8
	mostNamed = 32
)

// toldOf is a job of files of several, and what its own pods say.
type toldOf struct {
	job    job.Ref
	of     diagnose.Case
	result diagnose.Result
}

// byJob diagnoses the jobs of one text, each by its own pods: what one suffers from explains nothing of another.
func (f *diagnoseFlags) byJob(ctx context.Context, sh *shell.Shell, catalog *signature.Catalog, parts []bare.OfJob, to func(diagnose.Result) error) error {
	var all []toldOf
	for _, p := range parts {
		r := diagnose.Diagnose(ctx, p.Bundle, catalog, diagnose.Options{Nominees: f.model.Model != nil})
		if err := ctx.Err(); err != nil {
			return err
		}
		if p.Job.Kind != "" && !ails(r) {
			continue // an object of no job, of which nothing is wrong
		}
		r.Job = p.Job
		all = append(all, toldOf{p.Job, p.Bundle, r})
	}
	slices.SortStableFunc(all, func(a, b toldOf) int {
		return cmp.Or(cmp.Compare(weight(b.result.Verdict), weight(a.result.Verdict)), cmp.Compare(certainty(b.result), certainty(a.result)))
	})
	told := slices.IndexFunc(all, func(t toldOf) bool { return t.result.Verdict == diagnose.Healthy })
	if told < 0 {
		told = len(all)
	}
	told = min(max(told, 1), mostTold)
	all[0].result.Remarks = append(slices.Clip(all[0].result.Remarks), together(all, told))
	for _, t := range all[:told] {
		if err := f.asked(ctx, sh, t.of, t.result, nil, to); err != nil {
			return err
		}
	}
	return nil
}

func ails(r diagnose.Result) bool {
	return r.Verdict == diagnose.Diagnosed || r.Verdict == diagnose.Inconclusive
}

// weight orders verdicts by how much they hurt.
func weight(v diagnose.Verdict) int {
	return slices.Index([]diagnose.Verdict{diagnose.Healthy, diagnose.Unknown, diagnose.Inconclusive, diagnose.Diagnosed}, v)
}

// certainty orders what is found by how well it is supported.
func certainty(r diagnose.Result) int {
	if r.Root == nil {
		return -1
	}
	return slices.Index([]diagnose.Standing{diagnose.Hypothesis, diagnose.Supported, diagnose.Established}, r.Root.Standing)
}

// together says of which jobs a text is, and that each is judged alone.
func together(all []toldOf, told int) string {
	jobs := 0
	var names []string
	for _, t := range all {
		if t.job.Kind == "" {
			jobs++
		}
		names = append(names, fmt.Sprintf("%s (%s)", strings.TrimSpace(t.job.String()), cmp.Or(t.result.Category, string(t.result.Verdict))))
	}
	if more := len(names) - mostNamed; more > 0 {
		names = append(names[:mostNamed], fmt.Sprintf("%d more", more))
	}
	said := fmt.Sprintf("%d jobs are in what was given, and each is judged by its own pods: %s", jobs, strings.Join(names, ", "))
	if told < len(all) {
		said += fmt.Sprintf("; %d of them told here: give the pods of another alone", told)
	}
	return said
}
