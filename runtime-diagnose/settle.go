package diagnose

import (
	"maps"
	"slices"
	"time"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/control"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/gang"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/rank"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/reduce"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

// settle looks back from the end of the log.
func (r *logReader) settle(d reduce.Digest) {
	r.series = r.steps.Series()
	r.onlySpokenOf(r.prose.settle())
	r.explainAway()
	r.survive()
	r.cutShort()
	r.onlyLast()
	r.lastResort(d.Last.Number)
	for i := range r.sightings {
		s := &r.sightings[i]
		s.Item.Times = max(1, (r.perSignature[s.Signature.ID]+r.ear.Again(s.Signature))/max(1, count(r.sightings, s.Signature.ID)))
		if r.refuted(i) || r.outlived(i, d) {
			s.Over = true
		}
	}
}

// A run that goes on to the end of its log has survived what it said long before: so many steps before the
// end, which is no more than so many lines below the last of them.
const (
	stepsSurvived = 12
	linesToEnd    = 3
)

// outlived says that training went on after a sighting to the end of the log. Where ranks write into one
// log the others go on without the one that failed, but they wait for it at the next step: lines that count
// the same step are no progress.
func (r *logReader) outlived(i int, d reduce.Digest) bool {
	if r.failed || r.log.Pasted || neverSurvived(r.sightings[i].Signature.Category) ||
		d.Last.Number-r.series.Last.Line > linesToEnd || d.InTraceback || endsBadly.MatchString(d.Last.Text) {
		return false
	}
	steps, number := 0, int64(-1)
	for k, s := range r.series.Recent {
		if s.Line < r.sightings[i].Item.Source.Line {
			continue
		}
		if s.Number != number || s.Number < 0 && k > 0 {
			steps++
		}
		number = s.Number
	}
	return steps >= stepsSurvived
}

// refuted says that the process which said it says later that the run ended well. A success line speaks
// for its own process, and for what was before it: what comes after counts, unless its program calls it
// less than an error, because teardown is noisy. Not finite losses are never survived. Where the
// container ended badly and lines do not tell processes apart, nobody knows whose word it is.
func (r *logReader) refuted(i int) bool {
	s := &r.sightings[i]
	ended, said := r.success[r.lanes[i]]
	switch {
	case neverSurvived(s.Signature.Category), r.failed && r.lanes[i] == "":
		return false
	case said && s.Item.Source.Line < ended:
		return true
	case r.failed || len(r.success) == 0:
		return false
	case !said: // a daemon that misses the processes of a run which has ended
		return s.Signature.Role == signature.Cascade && s.Item.Source.Rank < 0 && s.Item.Source.Line > slices.Max(slices.Collect(maps.Values(r.success)))
	}
	return s.Mild || s.Signature.Role == signature.Confirmation
}

// endedWell says that the log says so, and does not go on to a bad end. What a daemon says of others in the
// end is none.
func (r *logReader) endedWell(d reduce.Digest) bool {
	if len(r.success) == 0 || !endsBadly.MatchString(d.Last.Text) {
		return len(r.success) > 0
	}
	return slices.ContainsFunc(r.sightings, func(s rank.Sighting) bool { return s.Over && s.Item.Source.Line == d.Last.Number })
}

// heed ends what the platform's last word refutes: of a container that ended with 0 all but what exit
// codes do not show.
func (r *logReader) heed(word control.Word) {
	for i := range r.sightings {
		s := &r.sightings[i]
		s.Over = s.Over || word == control.Past || word == control.EndedWell && !neverSurvived(s.Signature.Category)
	}
}

// cutShort makes what little is known of failures after the batch system gave its reason for
// ending the job effects of that: ranks that lose each other, and exceptions of clean-up. A step
// that is cancelled without a reason may itself follow from a task that failed.
func (r *logReader) cutShort() {
	at := -1
	for i := range r.sightings {
		s := &r.sightings[i]
		switch {
		case at < 0 && s.Signature.ID == "slurm-cancelled" && s.Facts["reason"] != "" && !s.Over:
			at = i
		case at >= 0 && s.Item.Source.Line > r.sightings[at].Item.Source.Line && s.Signature.DepthOf() <= signature.General && s.Signature.ID != "slurm-cancelled":
			s.Explained = true
		}
	}
}

// explainAway ends what a context signature says is harmless where it stands close before.
func (r *logReader) explainAway() {
	for _, context := range r.sightings {
		if context.Signature.Role != signature.Context {
			continue
		}
		for i := range r.sightings {
			s := &r.sightings[i]
			if d := s.Item.Source.Line - context.Item.Source.Line; d >= 0 && d <= 10 && slices.Contains(context.Signature.Hides, s.Signature.ID) {
				s.Over = true
			}
		}
	}
}

// survive ends what training left behind. Numbers that are not finite are left behind only
// where each of them was skipped, and not so many that nothing else happens.
func (r *logReader) survive() {
	skipped := map[string]int{}
	passed := slices.DeleteFunc(r.passing.passed, func(i int) bool { return i >= len(r.sightings) })
	for _, i := range passed {
		skipped[r.sightings[i].Signature.ID]++
	}
	for _, i := range passed {
		s := &r.sightings[i]
		s.Over = s.Over || slices.Contains(r.passing.texts, i)
		n := r.perSignature[s.Signature.ID]
		s.Over = s.Over || !neverSurvived(s.Signature.Category) ||
			(skips.MatchString(s.Line) && n == skipped[s.Signature.ID] && n < mostPerSignature)
	}
}

// neverSurvived are causes that a run which goes on, or ends, does not refute.
func neverSurvived(category string) bool {
	return category == "nan-loss" || category == "no-convergence"
}

func count(all []rank.Sighting, id string) int {
	n := 0
	for i := range all {
		if all[i].Signature.ID == id {
			n++
		}
	}
	return n
}

// utcWithin is how close to its container's end the last stamp of a program is that writes UTC by
// a clock that is right: local times are off by a quarter of an hour at least.
const utcWithin = 2 * time.Minute

// anchor gives lines the time their container ended where they have none of their own, or
// one that cannot be: programs write local times. Where the last stamp agrees with that end, the
// program's clock is the node's.
func (r *logReader) anchor(ended time.Time) {
	if ended.IsZero() {
		return
	}
	var last time.Time
	for i := range r.sightings {
		if at := r.sightings[i].Item.At; at.After(last) {
			last = at
		}
	}
	early := ended.Sub(last)
	agrees := early < utcWithin && early > -rank.Skew
	for i := range r.sightings {
		item := &r.sightings[i].Item
		impossible := item.At.IsZero() || item.At.After(ended.Add(rank.Skew)) || item.At.Before(ended.Add(-7*24*time.Hour))
		if impossible {
			item.At = ended
		}
		if impossible || agrees {
			item.Clock = gang.ClockOf(r.log.Source)
		}
	}
}
