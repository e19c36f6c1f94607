package cluster

import (
	"testing"
	"time"
)

func TestMaxDurationOfT9k(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"3w": 21 * 24 * time.Hour, "2h45m": 2*time.Hour + 45*time.Minute, "1y2d3s4ms": 367*24*time.Hour + 3*time.Second + 4*time.Millisecond, "100y": maxAge,
		"0": 0, "": 0, "45m2h": 0, "1.5h": 0, "-1h": 0, "101y": 0, "99999999999999999999h": 0,
	} {
		if got, ok := ParseMaxDuration(text); got != want && ok || ok != (want > 0) {
			t.Errorf("%q is %s (%v), want %s", text, got, ok, want)
		}
	}
}
