package webhook

import (
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/signalbox-dev/signalbox/preflight"
)

// An answer that was given when the API server had long gone on is no review: the sweep looks at the job.
func TestWhatWasReviewedAfterAStallIsNotKnown(t *testing.T) {
	now := time.Now()
	r := NewReviewed(nil, "ns", logr.Discard())
	r.now = func() time.Time { return now }
	known := func(s state) bool { r.add(s, nil); return r.has(s) }
	if !known(1) {
		t.Error("nobody watches the process: a review is not known")
	}
	r.stall.note(now)
	now = now.Add(stalledAfter)
	if !known(2) {
		t.Error("as long as it may take: a review is not known")
	}
	now = now.Add(time.Millisecond)
	if known(3) {
		t.Error("the process stood still, and nobody has noted it yet: a review is known")
	}
	r.add(3, &preflight.Report{})
	if r.has(3) || !found(r, 3) {
		t.Error("what a review of a process that stood still came to is not kept, or the review is known")
	}
	r.stall.note(now)
	now = now.Add(stalledAfter - time.Millisecond)
	r.stall.note(now)
	if known(4) {
		t.Error("just after: a review is known")
	}
	now = now.Add(time.Millisecond)
	r.stall.note(now)
	if !known(5) {
		t.Error("a while after: a review is not known")
	}
}

func found(r *Reviewed, s state) bool {
	_, there := r.said[s]
	return there
}

// What reviews came to is kept of so many, and of one more the oldest goes, also where the process stood still all the time.
func TestOfReviewsTheNewestAreFound(t *testing.T) {
	now := time.Now()
	for name, stalled := range map[string]bool{"heard": false, "after a stall": true} {
		r := NewReviewed(nil, "ns", logr.Discard())
		r.now = func() time.Time { return now }
		if stalled {
			r.stall.note(now.Add(-2 * stalledAfter))
		}
		for s := state(1); s <= mostSaid+1; s++ {
			r.add(s, &preflight.Report{})
			r.add(s, &preflight.Report{})
			if s == mostSaid && !found(r, 1) {
				t.Errorf("%s: of %d reviews the first is not found", name, mostSaid)
			}
		}
		if found(r, 1) || !found(r, 2) || !found(r, mostSaid+1) || len(r.said) != mostSaid || r.has(2) == stalled {
			t.Errorf("%s: %d of %d reviews are found; want the newest %d", name, len(r.said), mostSaid+1, mostSaid)
		}
	}
}
