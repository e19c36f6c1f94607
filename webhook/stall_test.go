package webhook

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
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
