// Package fix looks for remedies that are exact, and keeps those that a review of the changed job proves. Start reading at For.
package fix

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/input"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/shell"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/tuning"
	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/kinds"
	"github.com/signalbox-dev/signalbox/preflight/manifest"
	"github.com/signalbox-dev/signalbox/preflight/words"
)

// mostFixTries bounds how many changed jobs are reviewed for one job; what was not tried is counted.
const mostFixTries = 60

// fixer looks for remedies that are exact, and keeps those that a review of the changed job proves.
type fixer struct {
	w        *review.World
	reviewer *preflight.Reviewer
	texts    map[string][]byte // of the files, as they are
	changed  map[string][]byte // as they would be
	found    int               // findings of all jobs
	cured    []string          // what the changes are for
	passed   []string          // what was not changed, because it brings something new
	commands []string          // for what is in no file
	tries    int
	untried  int
}

// For are the remedies for what a review found, as text: a diff for each file, or a command where a job came
// through a pipe. A change is shown only if the job with it has the finding no more, and none that it did not have.
func For(ctx context.Context, w *review.World, in *input.Input, jobs []review.Reviewed) (string, error) {
	f, err := newFixer(w)
	if err != nil {
		return "", err
	}
	for _, d := range in.Others {
		if err := f.kind(ctx, d); err != nil {
			return "", err
		}
	}
	for _, j := range jobs {
		if f.found += len(j.Findings); slices.ContainsFunc(in.Others, func(d manifest.Document) bool { return d.Source == j.From.Source && d.Line == j.From.Line }) {
			continue // its kind was mended first
		}
		if err := f.job(ctx, j); err != nil {
			return "", err
		}
	}
	if len(in.Troubles) > 0 && f.found+len(f.cured)+len(f.passed) == 0 {
		return "", nil // of what cannot be read, nothing is known
	}
	return f.text(), nil
}

func newFixer(w *review.World) (*fixer, error) {
	f := &fixer{w: w, reviewer: reviewerOf(w), texts: map[string][]byte{}, changed: map[string][]byte{}}
	if len(w.Checks.Names()) == 0 { // the fit asks no check, and a change may bring something that one would find
		checks, err := tuning.All()
		if err != nil {
			return nil, err
		}
		f.reviewer.Checks = checks
	}
	return f, nil
}

// reviewerOf reviews as the command does.
func reviewerOf(w *review.World) *preflight.Reviewer {
	return &preflight.Reviewer{Checks: w.Checks, Namespaces: w.Tuned, Policies: w.Engine}
}

// read is the text of a document's file, with what is changed so far; nil where it is not at hand.
func (f *fixer) read(d manifest.Document) []byte {
	if text, ok := f.changed[d.Source]; ok {
		return text
	}
	text, ok := f.w.Quotes.Text(d.Source)
	if !ok {
		return nil
	}
	f.texts[d.Source], f.changed[d.Source] = text, text
	return text
}

// reread is a document as a changed text has it.
func reread(text []byte, d manifest.Document) (manifest.Document, bool) {
	for now, err := range manifest.Read(d.Source, bytes.NewReader(text)) {
		if err == nil && now.Line == d.Line && !now.List {
			return now, true
		}
	}
	return manifest.Document{}, false
}

// review is what there is to say of a document.
func (f *fixer) review(ctx context.Context, d manifest.Document) (*review.Reviewed, error) {
	if kinds.For(d.Object.GroupVersionKind()) == nil {
		return nil, nil // its kind is misspelt still
	}
	req, err := f.w.Request(ctx, d)
	if err != nil {
		return nil, nil //nolint:nilerr // the change made a job that cannot be asked about: it is none to show
	}
	return f.w.One(ctx, f.reviewer, d, req)
}

// kind corrects kind and API version of what is nearly a training job.
func (f *fixer) kind(ctx context.Context, d manifest.Document) error {
	gvk := d.Object.GroupVersionKind()
	meant := input.Misspelt(gvk)
	text := f.read(d)
	if meant.Empty() || text == nil {
		return nil
	}
	edits := changes(edit{at: "kind", with: meant.Kind}, gvk.Kind, edit{at: "apiVersion", with: meant.GroupVersion().String()}, gvk.GroupVersion().String())
	out, ok := editText(text, d, edits)
	if !ok {
		return nil
	}
	now, ok := reread(out, d)
	if !ok || kinds.For(now.Object.GroupVersionKind()) == nil {
		return nil
	}
	r, err := f.review(ctx, now)
	if err != nil || r == nil || r.Job.Kind == "" {
		return err
	}
	f.changed[d.Source] = out
	f.cured = append(f.cured, fmt.Sprintf("kind %s of %s is %s of %s", gvk.Kind, gvk.GroupVersion(), meant.Kind, meant.GroupVersion()))
	return f.job(ctx, *r)
}

// changes are two edits without those that change nothing.
func changes(a edit, was string, b edit, wasB string) (out []edit) {
	if a.with != was {
		out = append(out, a)
	}
	if b.with != wasB {
		out = append(out, b)
	}
	return out
}

// job looks for remedies of what a review says, one after the other, each on top of those before.
func (f *fixer) job(ctx context.Context, was review.Reviewed) error {
	if f.read(was.From) == nil {
		return nil
	}
	f.tries = 0
	asWritten := was.From.Object
	before, err := f.review(ctx, was.From)
	if err != nil || before == nil {
		return err
	}
	if now, ok := reread(f.changed[was.From.Source], was.From); ok {
		before.From = now
	}
	looked := map[string]bool{}
	for {
		at := slices.IndexFunc(before.Lines(), func(l finding.Finding) bool { return !looked[spotOf(l)] })
		if at < 0 {
			break
		}
		found := before.Lines()[at] // some are there only once a name before them is corrected
		looked[spotOf(found)] = true
		if before, err = f.cure(ctx, *before, found.Check+" at "+string(found.Path), f.remedies(*before, found), without(found)); err != nil {
			return err
		}
	}
	if before.Fit != nil && before.Fit.Verdict != fit.Fits && f.w.Seen {
		if before, err = f.cure(ctx, *before, "it fits", f.numbers(*before), func(r *review.Reviewed) bool {
			return r.Fit != nil && r.Fit.Verdict == fit.Fits && !r.Fit.Held()
		}); err != nil {
			return err
		}
	}
	if !f.isFile(was.From.Source) {
		o := before.From.Object
		if k := kinds.For(o.GroupVersionKind()); k != nil {
			if c := kubectlPatch(asWritten.Object, o.Object, k.Resource+"."+o.GroupVersionKind().Group, before.Job.Namespace, o.GetName()); c != "" && !strings.HasSuffix(c, "'{}'") {
				f.commands = append(f.commands, c)
			}
		}
	}
	return nil
}

// without says whether a review no longer has a finding.
func without(found finding.Finding) func(*review.Reviewed) bool {
	return func(r *review.Reviewed) bool {
		return !slices.ContainsFunc(r.Lines(), func(g finding.Finding) bool { return g.Check == found.Check && g.Path == found.Path })
	}
}

func (f *fixer) isFile(name string) bool {
	at, err := os.Stat(name)
	return err == nil && at.Mode().IsRegular()
}

// cure tries remedies in their order and keeps the first that cures and brings nothing new.
func (f *fixer) cure(ctx context.Context, was review.Reviewed, what string, remedies [][]edit, cured func(*review.Reviewed) bool) (*review.Reviewed, error) {
	if cured(&was) { // by a remedy of something else
		return &was, nil
	}
	passed := ""
	for _, edits := range remedies {
		if f.tries == mostFixTries {
			f.untried++
			break
		}
		f.tries++
		text, now, err := f.try(ctx, f.changed[was.From.Source], was.From, edits)
		if err != nil {
			return nil, err
		}
		if now == nil || !cured(now) {
			continue
		}
		brings := bringsNew(was, *now)
		if brings != "" && !reveals(was, edits) {
			if passed == "" { // remedies stand in the order in which they are likely
				passed = fmt.Sprintf("%s: %s would do, but brings %s", what, spelt(edits), brings)
			}
			continue
		}
		if brings != "" {
			what += "; the name hid " + brings
		}
		f.changed[was.From.Source] = text
		f.cured = append(f.cured, what)
		return now, nil
	}
	if passed != "" {
		f.passed = append(f.passed, passed)
	}
	return &was, nil
}

// spelt are edits in words.
func spelt(edits []edit) string {
	var out []string
	for _, e := range edits {
		if e.key {
			out = append(out, string(e.at)+" named "+e.with)
			continue
		}
		out = append(out, string(e.at)+" = "+e.with)
	}
	return strings.Join(out, ", ")
}

// try is a text with some words changed, and what a review says of the job in it; nil where there is none.
func (f *fixer) try(ctx context.Context, text []byte, d manifest.Document, edits []edit) ([]byte, *review.Reviewed, error) {
	text, ok := editText(text, d, edits)
	if !ok {
		return nil, nil, nil
	}
	if d, ok = reread(text, d); !ok {
		return nil, nil, nil
	}
	now, err := f.review(ctx, d)
	return text, now, err
}

// spotOf is what is found, and where.
func spotOf(f finding.Finding) string { return f.Check + " " + string(f.Path) }

// bringsNew is what a changed job has against it that it had not; empty: nothing.
func bringsNew(was, is review.Reviewed) string {
	had := map[string]int{}
	for _, f := range was.Lines() {
		had[spotOf(f)]++
	}
	for _, f := range is.Lines() {
		if had[spotOf(f)]--; had[spotOf(f)] < 0 {
			return f.Check
		}
	}
	switch {
	case len(is.Undecided) > len(was.Undecided):
		return "a policy that could not decide"
	case was.Fit != nil && is.Fit != nil && was.Fit.Verdict == fit.Fits && is.Fit.Verdict != fit.Fits:
		return "a job that does not fit"
	}
	return ""
}

// reveals says whether a change corrects a name that was found to be misspelt: what stands behind it was not reviewed as
// what it is, so what is found there now is not new.
func reveals(was review.Reviewed, edits []edit) bool {
	return edits[0].key && slices.ContainsFunc(was.Lines(), func(f finding.Finding) bool { return f.Named && f.Path == edits[0].at })
}

// text is what --fix prints.
func (f *fixer) text() string {
	var b strings.Builder
	if len(f.cured) == 0 && f.found+len(f.passed)+f.untried == 0 {
		return "\nnothing was found, so there is nothing to mend\n"
	}
	if len(f.cured) == 0 {
		b.WriteString("\nno remedy is exact: nothing can be mended by a changed word or number that a review proves\n")
		f.not(&b)
		return b.String()
	}
	b.WriteString("\nexact remedies, each proven by a review of the changed job, which finds nothing new:\n")
	for _, c := range f.cured {
		fmt.Fprintf(&b, "  %s\n", words.VisibleLine(c))
	}
	f.not(&b)
	b.WriteString("\n")
	for _, command := range f.commands {
		b.WriteString(command + "\n")
	}
	var names []string
	for name := range f.changed {
		if f.isFile(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
			A: difflib.SplitLines(string(f.texts[name])), B: difflib.SplitLines(string(f.changed[name])), FromFile: name, ToFile: name, Context: 3,
		})
		if err == nil {
			b.WriteString(diff)
		}
	}
	return b.String()
}

// not says what is not among the remedies, and why.
func (f *fixer) not(b *strings.Builder) {
	for _, p := range f.passed {
		fmt.Fprintf(b, "  not changed: %s\n", words.VisibleLine(p))
	}
	if f.untried > 0 {
		fmt.Fprintf(b, "  not all were tried: more than %d changes of one job\n", mostFixTries)
	}
}

// Write prints remedies as they are: a diff is not folded.
func Write(sh *shell.Shell, text string) error {
	if text == "" {
		return nil
	}
	_, err := io.WriteString(sh.Out, text)
	return err
}
