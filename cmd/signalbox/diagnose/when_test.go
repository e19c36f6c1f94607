package diagnose

import (
	"testing"
	"time"

	"github.com/signalbox-dev/signalbox/preflight/job"
	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

func TestATimeIsToldOnBothClocksWithDateAndAge(t *testing.T) {
	at := time.Date(2026, 11, 22, 22, 10, 0, 0, time.UTC)
	of := func(name string, observed time.Time) diagnose.Result {
		return diagnose.Result{Job: job.Ref{Name: name}, Observed: observed, Root: &diagnose.Cause{At: at}}
	}
	cases := map[string]struct {
		of   diagnose.Result
		zone *time.Location
		want string
	}{
		"a job, in UTC":            {of("llama", at.Add(50*time.Minute)), time.UTC, "2026-11-22 22:10:00 UTC, 50m before the evidence was taken"},
		"the same day elsewhere":   {of("llama", at.Add(3*time.Hour)), time.FixedZone("CET", 3600), "2026-11-22 22:10:00 UTC (23:10:00 CET here), 3h before the evidence was taken"},
		"another day elsewhere":    {of("llama", at), time.FixedZone("CST", 8*3600), "2026-11-22 22:10:00 UTC (2026-11-23 06:10:00 CST here)"},
		"a file, of any age":       {of("", at.Add(time.Hour)), time.UTC, "2026-11-22 22:10:00 UTC"},
		"a zone that is UTC's":     {of("", at), time.FixedZone("GMT", 0), "2026-11-22 22:10:00 UTC"},
		"nobody knows when it was": {diagnose.Result{Root: &diagnose.Cause{}}, time.UTC, ""},
		"nothing is wrong":         {diagnose.Result{}, time.UTC, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := whenOf(tc.of, tc.zone); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
