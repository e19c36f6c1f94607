package launch

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
	"github.com/signalbox-dev/signalbox/preflight/job"
)

var rayStartReturns = &check.Check{
	Name:     "ray-start-returns",
	Title:    "ray start goes to the background, and the container ends",
	Remedy:   "Write --block after ray start, or let the program that uses Ray follow it.",
	Severity: finding.Error, Since: "0.1",
	Run: check.EachRole(func(p *check.Pass, r *job.Role) {
		if !startsRay(r) {
			return
		}
		all := facts.CommandsOf(p.Job, r)
		if len(all) == 0 || r.Replicas.Max == 0 || choosesByItself(r) {
			return
		}
		last := all[len(all)-1]
		if len(last.Words) < 2 || last.Words[0] != "ray" || last.Words[1] != "start" ||
			slices.ContainsFunc(last.Words, func(w string) bool { return strings.HasPrefix(w, "--block") }) {
			return
		}
		c, _ := r.Trainer()
		p.Reportf(last.At[0], "container %s ends with \"ray start\" without --block: the command returns, and %s", c.Name, ends(facts.PodsOf(r), r.Replicas.Max))
	}),
}

// ends is "2 pods of worker end".
func ends(pods string, n int) string {
	if n == 1 {
		return pods + " exits"
	}
	return pods + " exit"
}
