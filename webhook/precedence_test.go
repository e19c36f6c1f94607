package webhook

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/signalbox-dev/signalbox/preflight"
)

// What no caller waits for begins when no review runs, and soon all the same where one never ends.
func TestTheRestGivesWayToReviews(t *testing.T) {
	for name, tc := range map[string]struct{ takes, want time.Duration }{
		"no review runs":      {0, 0},
		"a review runs":       {120 * time.Millisecond, 120 * time.Millisecond},
		"a review never ends": {time.Hour, mostGivenWay},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first := &Precedence{}
				h := NewHandler(HandlerOptions{View: world{}, Precedence: first, Deadline: 2 * time.Hour, Reviewer: reviewFunc(func(context.Context, preflight.Request) (preflight.Report, error) {
					time.Sleep(tc.takes) //nolint:forbidigo // the clock is the test's
					return preflight.Report{Decision: preflight.Allowed, Ran: 1}, nil
				})})
				var running sync.WaitGroup
				if tc.takes > 0 {
					running.Go(func() { h.Handle(t.Context(), admission.Request{AdmissionRequest: *request()}) })
				}
				synctest.Wait()
				begun := time.Now()
				first.GiveWay(t.Context())
				if waited := time.Since(begun); waited != tc.want {
					t.Errorf("it began after %s; want %s", waited, tc.want)
				}
				begun = time.Now()
				first.giveWay(t.Context(), lateGivesWay)
				if waited := time.Since(begun); waited > lateGivesWay {
					t.Errorf("a late review began after %s; want %s at most", waited, lateGivesWay)
				}
				running.Wait()
				begun = time.Now()
				if first.GiveWay(t.Context()); time.Since(begun) != 0 {
					t.Error("it waits for reviews that have ended")
				}
				comeToRest(tc.takes)
			})
		})
	}
	var nobody *Precedence
	nobody.begin()()
	nobody.GiveWay(t.Context())
}
