package webhook

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
)

// inBurst has one user create so many jobs at once, whose checks take a while each, and is what is said of those that were not
// checked, and how long all took.
func inBurst(t *testing.T, n int, takes time.Duration, changes ...change) (notChecked []string, took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHandler(HandlerOptions{View: world{}, Concurrent: 4, Reviewer: reviewFunc(func(ctx context.Context, _ preflight.Request) (preflight.Report, error) {
			time.Sleep(takes) //nolint:forbidigo // the clock is the test's
			return preflight.Report{Decision: preflight.Allowed, Ran: 1}, nil
		})})
		begun := time.Now()
		var all sync.WaitGroup
		var mu sync.Mutex
		for range n {
			all.Go(func() {
				got := h.Handle(t.Context(), admission.Request{AdmissionRequest: *request(changes...)})
				mu.Lock()
				defer mu.Unlock()
				if why := got.AuditAnnotations["not-checked"]; why != "" {
					notChecked = append(notChecked, why)
				}
			})
		}
		all.Wait()
		took = time.Since(begun)
		comeToRest(takes)
	})
	return notChecked, took
}

// comeToRest lets reviews that were abandoned end, and those who worked on them.
func comeToRest(takes time.Duration) {
	time.Sleep(takes + idleFor) //nolint:forbidigo // the clock is the test's
	synctest.Wait()
}

// Who creates a thousand jobs at once waits for all of them to be reviewed, and none is let in without: that others had their
// turn before is no fault of the job.
func TestABurstIsReviewedWhole(t *testing.T) {
	if not, took := inBurst(t, 1000, 5*time.Millisecond); len(not) > 0 {
		t.Errorf("%d of 1000 were not checked, the first: %s; all took %s", len(not), not[0], took)
	}
}

// An answer is due all the same.
func TestNobodyWaitsLongerThanPatience(t *testing.T) {
	not, took := inBurst(t, 200, 100*time.Millisecond)
	if len(not) == 0 || took > patience+DefaultDeadline {
		t.Errorf("%d of 200 were not checked, and all took %s", len(not), took)
	}
}

// Behind reviews that do not end none waits for more than a review takes; and what is heavy holds up others while it waits.
func TestWaitingIsForWhatMoves(t *testing.T) {
	for name, tc := range map[string]struct {
		takes   time.Duration
		changes []change
	}{
		"reviews that do not end": {time.Minute, nil},
		"heavy ones": {150 * time.Millisecond, []change{func(r *admissionv1.AdmissionRequest) {
			r.Object.Raw = []byte(strings.Replace(train, `"image":"train:1"`, `"image":"train:1","args":["`+strings.Repeat("x", light)+`"]`, 1))
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			not, took := inBurst(t, 20, tc.takes, tc.changes...)
			if most := 2 * time.Second; len(not) < 10 || took > most {
				t.Errorf("%d of 20 were not checked; all took %s, want %s at most", len(not), took, most)
			}
		})
	}
}

// countsBegun counts the reviews that have begun and are not answered.
type countsBegun struct {
	Reviewer
	now, most atomic.Int32
}

func (c *countsBegun) Begin(ctx context.Context, req preflight.Request) (Review, error) {
	if n := c.now.Add(1); n > c.most.Load() {
		c.most.Store(n)
	}
	return c.Reviewer.Begin(ctx, req)
}

// What was begun is ended before more begins: a burst is not decoded all at once.
func TestWhatWasBegunIsEndedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counted := &countsBegun{}
		counted.Reviewer = reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
			time.Sleep(5 * time.Millisecond) //nolint:forbidigo // the clock is the test's
			counted.now.Add(-1)
			return preflight.Report{Decision: preflight.Allowed, Ran: 1}, nil
		})
		h := NewHandler(HandlerOptions{View: world{}, Concurrent: 4, Reviewer: counted})
		var all sync.WaitGroup
		for range 200 {
			all.Go(func() { h.Handle(t.Context(), admission.Request{AdmissionRequest: *request()}) })
		}
		all.Wait()
		comeToRest(0)
		if most := counted.most.Load(); most > begunEach*4 {
			t.Errorf("%d reviews had begun at the same time; want %d at most", most, begunEach*4)
		}
	})
}
