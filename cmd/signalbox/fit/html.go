package fit

import (
	"strings"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/browser"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/render"
	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/review"
	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/nodemap"
)

// fitSection is an answer of the fit for a browser, with the map of the cluster where there is one.
func fitSection(j review.Reviewed, view *cluster.Snapshot) browser.Section {
	s := browser.Section{Title: j.Job.String(), Word: "not asked", State: browser.Dim, Notes: render.Unchecked(j)}
	if j.Fit == nil {
		for _, skip := range j.Skipped {
			s.Notes = append(s.Notes, skip.Reason)
		}
		return s
	}
	s.Word, s.Lead = j.Fit.Answer(), j.Fit.Headline()
	switch {
	case j.Fit.Verdict == fit.Unknown && !j.Fit.Blocked():
	case j.Fit.Verdict == fit.Fits && !j.Fit.Blocked():
		s.State = browser.Good
	case review.Waits(j.Report):
		s.State = browser.Busy
	default:
		s.State = browser.Bad
	}
	for _, line := range j.Fit.Lines()[1:] {
		name, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		s.Facts = append(s.Facts, [2]string{name, strings.TrimSpace(text)})
	}
	if view == nil || j.Gang == nil {
		return s
	}
	pools, notes := browser.Pools(nodemap.Pools(nodemap.Question{Cluster: view, Gang: *j.Gang, Fit: *j.Fit}, browser.MostRowsShown))
	s.Pools, s.Notes = pools, append(s.Notes, notes...)
	return s
}
