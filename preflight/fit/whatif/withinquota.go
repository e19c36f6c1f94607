package whatif

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/cluster"
	"github.com/signalbox-dev/signalbox/preflight/fit"
	"github.com/signalbox-dev/signalbox/preflight/fit/internal/assign"
	"github.com/signalbox-dev/signalbox/preflight/gang"
	"github.com/signalbox-dev/signalbox/preflight/quota"
)

// withinQuota is the largest gang that the quotas leave room for, where they are all that is
// asked too much of: one role with fewer pods, the one that has to give up fewest. It is
// proven twice, by what lies before the nodes and by a fit. Empty: there is none, or what a
// quota counts is not certain.
func withinQuota(s *cluster.Snapshot, g gang.Gang, r *fit.Result, cycle *assign.Cycle) string {
	about := func(l quota.Violation) bool { return l.Rule == quota.RuleQuota || l.Rule == quota.RuleQueueQuota }
	if cycle == nil || len(r.Violations) == 0 || r.Verdict == fit.Unknown || slices.ContainsFunc(r.Violations, func(l quota.Violation) bool { return !about(l) }) {
		return ""
	}
	q := newSuggester(s, g, r, cycle)
	exist := quota.Existing(s, g.Whole())
	kept := func(g gang.Gang) bool {
		limits, notes := quota.CheckWith(s, g.Whole(), exist)
		return len(limits) == 0 && len(notes.Told) == len(notes.Plain)
	}
	fewer, ok := q.fewest(func(g gang.Gang) bool { return kept(g) && q.fits(g) })
	if !ok {
		return ""
	}
	var owners []string
	for _, l := range r.Violations {
		if !slices.Contains(owners, l.Owner()) {
			owners = append(owners, l.Owner())
		}
	}
	text := "fits with " + q.fewer(fewer) + ", which is within " + strings.Join(owners, " and ")
	if !kept(fewer) || !q.keep(fewer, "%s", text) {
		return ""
	}
	return q.found[0]
}
