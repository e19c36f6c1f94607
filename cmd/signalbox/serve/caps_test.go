package serve

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
)

// A metric shows itself with as many labels as ours have; one with more is an error, and not left out.
func TestMetricsOfManyLabelsAreAnError(t *testing.T) {
	names := strings.Fields("a b c d e f g h i")
	for n, want := range map[int]string{0: "", 7: "", 8: "has more than 7 labels", 9: "has more than 7 labels"} {
		err := countOnce(prometheus.NewCounterVec(prometheus.CounterOpts{Name: "x"}, names[:n]))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d labels: %v; want %q", n, err, want)
		}
	}
}

// What ends at once is started again after twice the time, up to half a minute, and after the least again once it has run for longer.
func TestWhatEndsAtOnceIsStartedAgainAfterHalfAMinuteAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var waits []time.Duration
		ended := time.Now()
		again(ctx, logr.Discard(), 10*time.Second, func(context.Context) error {
			waits = append(waits, time.Since(ended))
			switch len(waits) {
			case 6:
				time.Sleep(30*time.Second + 1) //nolint:forbidigo // the clock is the test's
			case 7:
				stop()
			}
			ended = time.Now()
			return errors.New("it broke")
		})
		want := []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second, 30 * time.Second, 30 * time.Second, 10 * time.Second}
		for i := range want {
			if i >= len(waits) || waits[i] != want[i] {
				t.Fatalf("it is started after %v, want %v", waits, want)
			}
		}
	})
}
