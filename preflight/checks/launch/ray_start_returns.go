package launch

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks/internal/facts"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

var rayStartReturns = &check.Check{
	Name:     "ray-start-returns",
	Title:    "ray start goes to the background, and the container ends",
	Remedy:   "Write --block after ray start, or let the program that uses Ray follow it.",
	Severity: finding.Error, Since: "0.1",
	Run: func(p *check.Pass) error {
		for i := range p.Job.Roles {
			r := &p.Job.Roles[i]
			if !startsRay(r) {
				continue
			}
			all := facts.CommandsOf(p.Job, r)
			if len(all) == 0 || r.Replicas.Max == 0 || choosesByItself(r) {
				continue
			}
			last := all[len(all)-1]
			if len(last.Words) < 2 || last.Words[0] != "ray" || last.Words[1] != "start" ||
				slices.ContainsFunc(last.Words, func(w string) bool { return strings.HasPrefix(w, "--block") }) {
				continue
			}
			c, _ := r.Trainer()
			p.Reportf(last.At[0], "container %s ends with \"ray start\" without --block: the command returns, and %s", c.Name, ends(facts.PodsOf(r), r.Replicas.Max))
		}
		return nil
	},
}

// ends is "2 pods of worker end".
func ends(pods string, n int) string {
	if n == 1 {
		return pods + " exits"
	}
	return pods + " exit"
}
