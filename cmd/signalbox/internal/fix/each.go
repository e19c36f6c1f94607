package fix

import (
	"bytes"
	"context"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/preflight/fit"
)

// Each looks, for every finding by itself, for an exact remedy that a review proves: an editor applies one at a
// time, to the file as it is. It sets the cures of the jobs.
func Each(ctx context.Context, w *review.World, jobs []review.Reviewed) error {
	f, err := newFixer(w)
	if err != nil {
		return err
	}
	for i := range jobs {
		if jobs[i].Cures, err = f.cures(ctx, jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixer) cures(ctx context.Context, j review.Reviewed) (out []review.Cure, err error) {
	text, ok := f.w.Quotes.Text(j.From.Source)
	if !ok || !f.isFile(j.From.Source) {
		return nil, nil // nothing that an editor could change
	}
	f.tries = 0
	for _, found := range j.Lines() {
		remedies, cured := f.remedies(j, found), without(found)
		if review.SaysBusy(found) {
			remedies = append(remedies, f.numbers(j)...)
			cured = func(r *review.Reviewed) bool {
				return without(found)(r) && r.Fit != nil && r.Fit.Verdict == fit.Fits && !r.Fit.Held()
			}
		}
		for _, edits := range remedies {
			if f.tries == mostFixTries {
				return out, nil
			}
			f.tries++
			_, now, err := f.try(ctx, text, j.From, edits)
			if err != nil {
				return nil, err
			}
			if now == nil || !cured(now) || bringsNew(j, *now) != "" && !reveals(j, edits) {
				continue
			}
			out = append(out, review.Cure{Of: found, Words: replacements(text, j, edits)})
			break
		}
	}
	return out, nil
}

// replacements are edits that are known to be possible.
func replacements(text []byte, j review.Reviewed, edits []edit) (out []review.Replacement) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	for _, e := range edits {
		if r, ok := replace(lines, j.From, e); ok {
			out = append(out, r)
		}
	}
	return out
}
