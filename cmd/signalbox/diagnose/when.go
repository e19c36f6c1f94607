package diagnose

import (
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/report"
)

// whenOf is when the first cause showed: with its date, in UTC as the logs have it, on the reader's clock where that is
// another, and how long before the evidence was taken. Files tell nothing of that; empty: unknown.
func whenOf(r diagnose.Result, zone *time.Location) string {
	if r.Root == nil || r.Root.At.IsZero() {
		return ""
	}
	const clock = "2006-01-02 15:04:05"
	at := r.Root.At
	text := report.After(r.Root.Carried) + at.UTC().Format(clock) + " UTC"
	if here := at.In(zone); here.Format(clock) != at.UTC().Format(clock) {
		form := "15:04:05 MST"
		if here.Format(time.DateOnly) != at.UTC().Format(time.DateOnly) {
			form = clock + " MST"
		}
		text += " (" + here.Format(form) + " here)"
	}
	if age := r.Observed.Sub(at); r.Job.Name != "" && !r.Observed.IsZero() && age > 0 {
		text += ", " + duration.HumanDuration(age) + " before the evidence was taken"
	}
	return text
}
