package main

import (
	"bytes"
	"context"

	"github.com/signalbox-dev/signalbox/preflight/fit"
)

// cureEach looks, for every finding by itself, for an exact remedy that a review proves: an editor applies one at a
// time, to the file as it is. It sets the cures of the jobs.
func (w *world) cureEach(ctx context.Context, jobs []reviewed) error {
	f, err := newFixer(w)
	if err != nil {
		return err
	}
	for i := range jobs {
		if jobs[i].cures, err = f.cures(ctx, jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixer) cures(ctx context.Context, j reviewed) (out []cure, err error) {
	text, ok := f.w.quotes.Text(j.from.Source)
	if !ok || !f.isFile(j.from.Source) {
		return nil, nil // nothing that an editor could change
	}
	f.tries = 0
	for _, found := range j.Lines() {
		remedies, cured := f.remedies(j, found), without(found)
		if saysBusy(found) {
			remedies = append(remedies, f.numbers(j)...)
			cured = func(r *reviewed) bool {
				return without(found)(r) && r.Fit != nil && r.Fit.Verdict == fit.Fits && !r.Fit.Held()
			}
		}
		for _, edits := range remedies {
			if f.tries == mostFixTries {
				return out, nil
			}
			f.tries++
			_, now, err := f.try(ctx, text, j.from, edits)
			if err != nil {
				return nil, err
			}
			if now == nil || !cured(now) || bringsNew(j, *now) != "" && !reveals(j, edits) {
				continue
			}
			out = append(out, cure{found, replacements(text, j, edits)})
			break
		}
	}
	return out, nil
}

// replacements are edits that are known to be possible.
func replacements(text []byte, j reviewed, edits []edit) (out []replacement) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, e := range edits {
		if r, ok := replace(lines, j.from, e); ok {
			out = append(out, r)
		}
	}
	return out
}
